"""The commands, one module each: options and output."""
