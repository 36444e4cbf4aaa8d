"""Where a frozen program begins."""

import sys

from gpudesk.cli.main import main

sys.exit(main())
