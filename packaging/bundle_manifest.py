"""List what a bundle holds, so that the program can tell whether it is whole: bundle_manifest.py FOLDER.

FOLDER is `gpudesk/_bundled` of an unpacked wheel or a frozen program. Run it once all is in there.
"""

import sys
from pathlib import Path

from gpudesk.workbench.bundle_manifest import MANIFEST, write_manifest


def main() -> int:
    """List a folder, and say how many files it has."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    count = write_manifest(folder)
    print(f"{folder / MANIFEST}: {count} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
