"""List the files of a bundle, so that the program can verify it: bundle_manifest.py FOLDER.

FOLDER is `gpudesk/_bundled` of an unpacked wheel or a frozen program. Run it once the bundle is complete. For a frozen
program the surrounding files are listed too.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from gpudesk.bundle_manifest import MANIFEST, PROGRAM_FILES, compute_file_digest, list_files_below


def make_manifest_text(files: Mapping[str, Path]) -> str:
    """Return the list of files, given by their names in the bundle with forward slashes."""
    return "".join(f"{compute_file_digest(files[name])}  {name}\n" for name in sorted(files))


def list_included_files(included: Mapping[str, str], bundle: str) -> dict[str, Path]:
    """Return the files that a wheel includes, by their names in the bundle.

    `included` has the paths of files and folders, each with its name in the wheel.
    """
    files: dict[str, Path] = {}
    for source, target in included.items():
        path, name = Path(source), target.removeprefix(f"{bundle}/")
        if path.is_dir():
            files.update({f"{name}/{inner}": file for inner, file in list_files_below(path).items()})
        else:
            files[name] = path
    return files


def write_manifest(folder: Path) -> int:
    """List a bundle, replacing any former list; return how many files it has."""
    files = list_files_below(folder)
    (folder / MANIFEST).write_text(make_manifest_text(files), encoding="utf-8", newline="\n")
    return len(files)


def write_program_files(folder: Path) -> int:
    """Record which files surround the bundle of a frozen program; return how many there are."""
    program, bundle = folder.parents[1], folder.relative_to(folder.parents[1]).as_posix()
    names = sorted(name for name in list_files_below(program) if not name.startswith(f"{bundle}/"))
    text = "".join(f"{name}\n" for name in names)
    (folder / PROGRAM_FILES).write_text(text, encoding="utf-8", newline="\n")
    return len(names)


def main() -> int:
    """List a folder, and say how many files it has."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    if folder.parents[1].name == "_internal":
        print(f"{folder.parents[1]}: {write_program_files(folder)} files")
    count = write_manifest(folder)
    print(f"{folder / MANIFEST}: {count} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
