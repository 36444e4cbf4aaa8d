"""The Fleet page."""
