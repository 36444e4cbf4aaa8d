"""Build the shipped catalog of a checkout: make_catalog.py TARGET."""

import sys
from pathlib import Path

from catalog_build.files import DataError
from catalog_build.writer import build_catalog


def main() -> int:
    """Build completely or not at all; print every problem of the data, one per line."""
    try:
        revision = build_catalog(Path("data"), Path(sys.argv[1]))
    except DataError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{sys.argv[1]}: revision {revision}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
