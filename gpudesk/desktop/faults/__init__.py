"""What goes wrong unexpectedly: written to the log, told once, and looked into at the next start."""
