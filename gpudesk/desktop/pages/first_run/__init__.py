"""The page that a window opens with: a sample, questions to begin from, recent and recovered scenarios."""
