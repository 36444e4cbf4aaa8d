"""List the files of a bundle, so that the program can verify it: bundle_manifest.py FOLDER.

FOLDER is `gpudesk/_bundled` of an unpacked wheel or a frozen program. Run it once the bundle is complete. For a frozen
program the surrounding files are listed too.
"""

import sys
from pathlib import Path

from gpudesk.bundle_manifest import MANIFEST, write_manifest, write_program_files


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
