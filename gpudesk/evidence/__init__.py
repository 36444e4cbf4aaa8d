"""Published measurements, the runs nearest to a request, held-out predictions and the calibration file."""
