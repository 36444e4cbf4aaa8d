"""The use cases, without a window: resolve a scenario against catalog and calibration into one answer."""
