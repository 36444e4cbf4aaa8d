"""The page Memory and fit: does it fit, what fills the memory, how many are needed."""
