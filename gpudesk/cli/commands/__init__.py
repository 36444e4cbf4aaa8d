"""The commands, one module each: options and what is written."""
