"""The pages of the window. They do not know each other; each sees the session."""
