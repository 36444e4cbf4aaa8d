"""Build the shipped catalog of a checkout: make_catalog.py TARGET."""

import sys
from pathlib import Path

from gpudesk.catalog.build import build_catalog


def main() -> None:
    """Build beside the target and move it there whole, so that a failure leaves the old catalog as it was."""
    target = Path(sys.argv[1])
    fresh = target.with_name(target.name + ".new")
    fresh.unlink(missing_ok=True)
    build_catalog(Path("data"), fresh)
    fresh.replace(target)


if __name__ == "__main__":
    main()
