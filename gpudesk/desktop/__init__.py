"""The window: everything that needs Qt is here.

Qt's bindings read the source of each module that is imported after them, to see whether it uses their `__feature__`
switches. Here none does. Reading takes a tenth of the start and 20 MB, and asks modules for `__wrapped__`; pydantic
answers by importing more of itself, which fails now and then while two threads import it.
"""

import PySide6.QtCore  # noqa: F401 - brings shibokensupport
from shibokensupport import feature

feature._mod_uses_pyside = lambda _module: False  # noqa: SLF001 - the bindings have no other switch
