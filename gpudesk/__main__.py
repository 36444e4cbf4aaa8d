"""Run GPU Desk as `python -m gpudesk`."""

import sys

from gpudesk.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
