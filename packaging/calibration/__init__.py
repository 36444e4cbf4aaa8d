"""The calibration fit: priors, measured operators, whole runs and 80% intervals. For developers."""
