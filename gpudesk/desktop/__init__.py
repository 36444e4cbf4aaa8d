"""The window: everything that needs Qt, and only here."""
