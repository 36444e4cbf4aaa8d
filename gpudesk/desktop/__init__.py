"""The window: everything that needs Qt, and only here.

What the first page needs and what does not need Qt is loaded ahead of it: once Qt's bindings are there, they
read the source of every module that is loaded.
"""

import gpudesk.sheets.comparison_table
import gpudesk.workbench.answering
import gpudesk.workbench.calibration_file
import gpudesk.workbench.estimating
import gpudesk.workbench.scenario_file  # noqa: F401
