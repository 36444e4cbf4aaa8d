"""What a command loads: no library that it has no use for."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpudesk.domain.user_facts import FactEdit
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import message
from tests.unit.domain.user_samples import ALL

HEAVY = ("PySide6", "numpy", "pydantic", "importlib.metadata", "nacl", "xlsxwriter")
FIGURES = (
    *("--accelerators", "h200-sxm:1", "--model", "llama-3.1-8b", "--weights", "fp8"),
    *("--input-tokens", "1000", "--output-tokens", "100", "--concurrency", "8"),
)


@pytest.mark.parametrize(
    ("arguments", "used"),
    [
        (("--version",), ()),
        (("catalog", "list"), ()),
        (("catalog", "show", "mi325x"), ()),
        (("catalog", "backups"), ()),
        (("estimate", *FIGURES), ("numpy",)),
        # Its verdict rests on the rules, which pydantic reads.
        (("compare", *FIGURES), ("numpy", "pydantic")),
    ],
)
def test_command_loads_what_it_uses(
    arguments: tuple[str, ...], used: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path))
    with GpuDeskService.open() as service:
        # Facts of the user's take no more than those of the catalog.
        service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="x"), after=tuple(ALL)))
    report_line = f"print('LOADED', *(name for name in {HEAVY!r} if name in sys.modules))"
    code = f"import sys\nfrom gpudesk.cli.main import main\nassert main({list(arguments)!r}) == 0\n{report_line}"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout.splitlines()[-1].split() == ["LOADED", *used]
