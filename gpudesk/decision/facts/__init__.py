"""The facts that rule conditions name."""
