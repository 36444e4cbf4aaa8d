"""The open scenario: its edits, answer, selection, document and settings."""
