"""Decision rules: conditions, scoring, and the data files that state them."""
