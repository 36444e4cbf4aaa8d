"""The manual without a window: its pages, their search, the glossary, and its text for terminals and browsers."""
