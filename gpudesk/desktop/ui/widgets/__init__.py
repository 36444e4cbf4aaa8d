"""Controls for all pages. Each takes the theme and follows its changes."""
