"""The window: everything that needs Qt is here.

Modules for the first page that do not need Qt are imported before it: once loaded, Qt's bindings read the source of
every further module.
"""

import gpudesk.documents.scenario_file  # noqa: F401
