"""What each package may import: only those below it, and each heavy library has one home."""

from typing import Final

from tests.architecture.checks import Rule, names

RULES: Final = {
    # One file each: what every part may need.
    "__init__": Rule(names("")),
    "__main__": Rule(names("cli")),
    "paths": Rule(names("")),
    "release": Rule(names("paths __init__")),
    "parts": Rule(names("paths text")),
    "text": Rule(names("paths")),
    "sentences": Rule(
        names(
            "domain text sentences_beside sentences_buying sentences_catalog sentences_costs "
            "sentences_decide sentences_dialogue sentences_fit sentences_launch sentences_sizing "
            "sentences_topology sentences_worked"
        )
    ),
    "sentences_beside": Rule(names("")),
    "sentences_buying": Rule(names("")),
    "sentences_catalog": Rule(names("sentences_configs sentences_imports sentences_packs")),
    "sentences_configs": Rule(names("")),
    "sentences_costs": Rule(names("")),
    "sentences_decide": Rule(names("")),
    "sentences_dialogue": Rule(names("")),
    "sentences_fit": Rule(names("")),
    "sentences_imports": Rule(names("")),
    "sentences_launch": Rule(names("")),
    "sentences_packs": Rule(names("")),
    "sentences_sizing": Rule(names("")),
    "sentences_topology": Rule(names("")),
    "sentences_worked": Rule(names("")),
    # From the bottom up.
    "domain": Rule(names("")),
    "engine": Rule(names("domain"), names("numpy")),
    "economics": Rule(names("domain"), names("numpy")),
    "advisor": Rule(names("domain engine economics"), names("numpy")),
    "evidence": Rule(names("domain engine paths text"), names("numpy")),
    "catalog": Rule(names("domain paths text"), names("sqlmodel sqlalchemy pydantic")),
    "workbench": Rule(
        names("domain engine economics advisor evidence catalog paths text sentences"),
        names("numpy orjson nacl"),
    ),
    "sheets": Rule(names("domain paths text sentences"), names("xlsxwriter")),
    "cli": Rule(
        names("domain workbench sheets paths parts release text sentences __init__"),
        names("orjson"),
        # The window, paper, and what the check of an installation asks of Qt.
        lazily=names(
            "gpudesk.desktop.app gpudesk.desktop.faults gpudesk.desktop.printing gpudesk.desktop.self_check"
        ),
    ),
    "desktop": Rule(
        names("domain workbench sheets paths parts release text sentences __init__"),
        names("PySide6 shiboken6 pyqtgraph numpy"),
    ),
}
