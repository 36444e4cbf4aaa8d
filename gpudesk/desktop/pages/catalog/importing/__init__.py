"""Bringing facts in: from files to a preview, to one step that can be undone."""
