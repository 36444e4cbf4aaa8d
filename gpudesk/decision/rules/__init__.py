"""Decision rules: conditions, scoring, and their data files."""
