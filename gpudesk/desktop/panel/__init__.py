"""The panel "Sources and working": what stands behind whatever is selected."""
