"""Make the installer for Windows of a frozen tree, with makensis; runs on Windows and on Linux.

    make_installer.py TREE ICONS OUT_FOLDER [--staged] [--sign COMMAND]

TREE is what was frozen on Windows, ICONS what make_icons.py wrote. With --staged the tree is a stand-in that
was made elsewhere (stage_tree.py): the installer then says that it must not be published, in its name too.
COMMAND signs the file whose name is put at its end; without it installer and uninstaller are not signed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath, PureWindowsPath

from version_info import four_numbers

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_SCRIPT = _HERE / "gpudesk.nsi"
_PROGRAMS = ("gpudesk.exe", "gpudesk-gui.exe")
#: Windows allows 260 characters for a path; this is what is left below the folder of a long user name.
_LONGEST_PATH = 170
_STAGED = "Made to check the installer; the program in it does not run. Not for release."


def main() -> int:
    """Make the installer and print its path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("icons", type=Path)
    parser.add_argument("out_folder", type=Path)
    parser.add_argument("--staged", action="store_true")
    parser.add_argument("--sign", metavar="COMMAND")
    options = parser.parse_args()
    version = version_of(options.tree)
    options.out_folder.mkdir(parents=True, exist_ok=True)
    target = options.out_folder / installer_name(version, staged=options.staged)
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder)
        size = write_parts(options.tree.resolve(), parts)
        defines = {
            "VERSION": version,
            "NUMBERS": ".".join(map(str, four_numbers(version))),
            "OUT": target.resolve(),
            "PARTS": parts,
            "ICONS": options.icons.resolve(),
            "SIZE_KB": -(-size // 1024),
            **({"SIGN": options.sign} if options.sign else {}),
            **({"NOT_FOR_RELEASE": _STAGED} if options.staged else {}),
        }
        command = ["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8"]
        command += [f"-D{name}={value}" for name, value in defines.items()]
        ended = subprocess.run([*command, str(_SCRIPT)], check=False)
    if ended.returncode != 0:
        print(f"makensis ended with status {ended.returncode}", file=sys.stderr)
        return 1
    signed = "signed" if options.sign else "not signed"
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB, {size / 1e6:.0f} MB installed, {signed}")
    return 0


def installer_name(version: str, *, staged: bool) -> str:
    """Return the file name of the installer."""
    return f"gpudesk-{version}-windows-x86_64-setup{'-staged-not-for-release' if staged else ''}.exe"


def version_of(tree: Path) -> str:
    """Return the version stated by a frozen tree."""
    for name in _PROGRAMS:
        if not (tree / name).is_file():
            raise SystemExit(f"{tree} has no {name}: it is not a tree that was frozen on Windows")
    record = tree / "_internal" / "gpudesk" / "_bundled" / "build.json"
    version: str = json.loads(record.read_text(encoding="utf-8"))["version"]
    return version


def write_parts(tree: Path, parts: Path) -> int:
    """Write the script's includes: files to install and to remove, the terms; return the files' size."""
    files = files_of(tree)
    (parts / "install.nsh").write_text(installing(tree, files), encoding="utf-8")
    (parts / "remove.nsh").write_text(removing(files), encoding="utf-8")
    # With the byte order mark that tells makensis the encoding, and line ends for the text field of Windows.
    (parts / "license.txt").write_text(terms(tree), encoding="utf-8-sig", newline="\r\n")
    return sum((tree / file).stat().st_size for file in files)


def files_of(tree: Path) -> list[PurePosixPath]:
    """Return all files of a tree, relative to it; names that Windows forbids are refused."""
    paths = [path for path in sorted(tree.rglob("*")) if not path.is_dir() or path.is_symlink()]
    files = [PurePosixPath(path.relative_to(tree).as_posix()) for path in paths]
    links = [str(file) for file, path in zip(files, paths, strict=True) if path.is_symlink()]
    too_long = [str(file) for file in files if len(str(file)) > _LONGEST_PATH]
    reserved = [str(file) for file in files if set(str(file)) & set('<>:"|?*\\')]
    folded = Counter(str(file).casefold() for file in files)
    twice = [name for name, times in folded.items() if times > 1]
    for names, fault in (
        (links, "links, which an installer does not carry"),
        (too_long, f"names of more than {_LONGEST_PATH} characters"),
        (reserved, "names with characters that Windows does not take"),
        (twice, "names that differ in capitals alone"),
    ):
        if names:
            raise SystemExit(f"{tree} has {fault}: {', '.join(names[:5])}")
    return files


def installing(tree: Path, files: list[PurePosixPath]) -> str:
    """Return the lines that install the files."""
    lines = []
    folder: PurePosixPath | None = None
    for file in sorted(files, key=lambda file: (file.parent, file)):
        if file.parent != folder:
            folder = file.parent
            lines.append(f"SetOutPath {_installed(folder)}")
        lines.append(f'File "{tree / file}"')
    return "\n".join(lines) + "\n"


def removing(files: list[PurePosixPath]) -> str:
    """Return the lines that remove the files, and their empty folders."""
    lines = [f"Delete {_installed(file)}" for file in sorted(files)]
    folders = {parent for file in files for parent in file.parents if parent != PurePosixPath()}
    lines += [f"RMDir {_installed(folder)}" for folder in sorted(folders, reverse=True)]
    return "\n".join(lines) + "\n"


def terms(tree: Path) -> str:
    """Return the license of the program and the notices of its components."""
    notices = [path for path in sorted(tree.glob("THIRD_PARTY_NOTICES.*")) if path.suffix in (".txt", ".md")]
    texts = [_ROOT / "LICENSE", *(notices[:1] or [_ROOT / "THIRD_PARTY_NOTICES.md"])]
    return "\n\n\n".join(path.read_text(encoding="utf-8") for path in texts)


def _installed(path: PurePosixPath) -> str:
    """Return the installed path of a file or folder of the tree, in the script's syntax."""
    return f'"{PureWindowsPath("$INSTDIR", *map(_escaped, path.parts))}"'


def _escaped(text: str) -> str:
    """Return a text escaped against the script's variables."""
    return text.replace("$", "$$")


if __name__ == "__main__":
    if shutil.which("makensis") is None:
        raise SystemExit("makensis is missing: install NSIS 3.08 or newer (on Debian the package nsis)")
    sys.exit(main())
