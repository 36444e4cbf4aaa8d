"""Published measurements, the nearest runs to a question, the fit and its accuracy."""
