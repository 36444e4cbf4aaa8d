"""The window: everything that needs Qt, and only here.

What the first page needs and what does not need Qt is imported ahead of Qt: once Qt's bindings are loaded, they read
the source of every module that follows."""

import gpudesk.documents.scenario_file  # noqa: F401
