"""Make of a tree that was frozen on Linux a stand-in with the names that a tree frozen on Windows has.

    stage_tree.py LINUX_TREE TARGET

The installer's script can then be compiled and tried where there is no Windows. The executables of the
stand-in only note how they were called; the program in it does not run, and nothing of it is to be published.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_PROGRAMS = ("gpudesk.exe", "gpudesk-gui.exe")


def main() -> int:
    """Make the stand-in."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    if not (source / "_internal").is_dir():
        raise SystemExit(f"{source} is not a frozen tree: it has no _internal")
    if target.exists():
        raise SystemExit(f"{target} is there already: remove it first, or name another folder")
    stage(source, target)
    return 0


def stage(source: Path, target: Path) -> None:
    """Copy the tree with Windows names; links are dropped, since their targets are there too."""
    for path in sorted(source.rglob("*")):
        if path.is_dir() or path.is_symlink():
            continue
        name = windows_name(path.relative_to(source))
        if name is not None:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / name)
    for program in _PROGRAMS:
        subprocess.run(
            ["makensis", "-V2", "-WX", f"-DOUT={(target / program).resolve()}", str(_HERE / "stand_in.nsi")], check=True
        )


def windows_name(path: Path) -> Path | None:
    """Return the Windows name of a file of the tree; None for the program itself."""
    if path == Path("gpudesk"):
        return None
    module = re.fullmatch(r"(.+?)\.(?:cpython-\d+[\w-]*|abi3)\.so", path.name)
    if module is not None:
        return path.with_name(f"{module[1]}.pyd")
    library = re.fullmatch(r"(?:lib)?(.+?)\.so(?:\.[\d.]+)?", path.name)
    return path.with_name(f"{library[1]}.dll") if library is not None else path


if __name__ == "__main__":
    sys.exit(main())
