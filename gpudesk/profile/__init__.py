"""The profile of one accelerator: capabilities, standing, ranked models, limits, upgrades and advice."""
