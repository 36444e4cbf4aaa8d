"""The terms behind a step and behind memory: formulas with their numbers and sources."""
