"""User facts: the SQLite file, edits and undo."""
