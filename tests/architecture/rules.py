"""What each package may import: only those above it in this table, and each heavy library has one home."""

from typing import Final

from tests.architecture.checks import Rule, names

_TYPES: Final = "frozen_dataclass text domain"
_FACTS: Final = f"{_TYPES} engine catalog evidence paths files input_records bundle_manifest"
_ALL_BUT_SURFACES: Final = f"{_FACTS} estimation costing fleet decision profile documents"

RULES: Final = {
    # One file each: what every part may need.
    "__init__": Rule(names("")),
    "__main__": Rule(names("cli")),
    "frozen_dataclass": Rule(names("")),
    "paths": Rule(names("")),
    "release": Rule(names("frozen_dataclass paths __init__")),
    # From the bottom up.
    "text": Rule(names("frozen_dataclass paths")),
    "third_party": Rule(names("frozen_dataclass paths text")),
    "domain": Rule(names("frozen_dataclass text")),
    "bundle_manifest": Rule(names(_TYPES)),
    "files": Rule(names(_TYPES)),
    "input_records": Rule(names(_TYPES), names("pydantic")),
    "engine": Rule(names(_TYPES), names("numpy")),
    "catalog": Rule(names(f"{_TYPES} engine paths files input_records bundle_manifest"), names("pydantic")),
    "evidence": Rule(names(f"{_TYPES} engine paths files input_records")),
    "estimation": Rule(names(_FACTS), names("numpy orjson")),
    "costing": Rule(names(f"{_FACTS} estimation"), names("numpy")),
    "fleet": Rule(names(f"{_FACTS} estimation costing"), names("numpy")),
    "decision": Rule(names(f"{_FACTS} estimation costing fleet"), names("numpy")),
    "profile": Rule(names(f"{_FACTS} estimation costing decision")),
    "documents": Rule(names(f"{_FACTS} estimation costing fleet decision"), names("nacl")),
    "service": Rule(names(_ALL_BUT_SURFACES)),
    "report": Rule(names(f"{_TYPES} paths files"), names("xlsxwriter")),
    "cli": Rule(
        names(f"{_ALL_BUT_SURFACES} service report third_party release __init__"),
        # The window, paper, and what the check of an installation asks of Qt.
        lazily=names(
            "gpudesk.desktop.window.app gpudesk.desktop.window.faults gpudesk.desktop.ui.printing "
            "gpudesk.desktop.window.self_check"
        ),
    ),
    "desktop": Rule(
        names(f"{_ALL_BUT_SURFACES} service report third_party release __init__"),
        names("PySide6 shiboken6 shibokensupport pyqtgraph numpy"),
    ),
}
