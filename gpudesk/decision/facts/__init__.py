"""The facts that conditions of rules name."""
