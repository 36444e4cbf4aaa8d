"""The accuracy report of the calibration. For developers."""
