"""Documents of the user: scenario file, settings file, packs, import and export."""
