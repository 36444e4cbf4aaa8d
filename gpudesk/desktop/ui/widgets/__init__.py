"""Controls that every page may use. Each takes the theme and follows its changes."""
