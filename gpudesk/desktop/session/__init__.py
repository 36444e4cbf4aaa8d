"""The open scenario: its edits, its answer, what is selected, and the document that it is kept in."""
