"""Dialogs of the window that take data and callables: about, keyboard shortcuts, more settings."""
