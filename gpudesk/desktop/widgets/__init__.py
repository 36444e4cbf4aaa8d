"""Small controls that every page may use; each takes the theme and follows its changes."""
