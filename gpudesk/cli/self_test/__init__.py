"""The self-test of an installation."""
