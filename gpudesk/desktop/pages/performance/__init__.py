"""The page Performance: how fast, at how many requests in flight, and what limits it."""
