"""The page Decide: a guided dialogue, what it comes to, and what would change that."""
