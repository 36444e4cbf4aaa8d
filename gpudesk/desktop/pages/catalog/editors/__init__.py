"""Forms that write the user's own facts."""
