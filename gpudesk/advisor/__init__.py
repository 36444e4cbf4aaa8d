"""What to choose and why: conditions of rules, tested on what a scenario gives."""
