#!/bin/sh
# Makes a virtual environment with the first Python that GPU Desk runs on (3.11 to 3.13).
#   make_venv.sh FOLDER
# Debian's Python lacks what makes one until python3-venv is installed.
set -eu
for name in python3.11 python3 python3.12 python3.13; do
    if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
        "$name" -c 'import ensurepip' 2>/dev/null || "$(dirname "$0")/setup_debian.sh" python
        exec "$name" -m venv "$1"
    fi
done
echo "GPU Desk needs Python 3.11, 3.12 or 3.13, and none is on the PATH" >&2
exit 1
