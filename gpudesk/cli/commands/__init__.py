"""One module a command: what it takes, and what it does with it."""
