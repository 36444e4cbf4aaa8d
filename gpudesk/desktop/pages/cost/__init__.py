"""The page Cost."""
