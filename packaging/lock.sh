#!/bin/sh
# Writes requirements.lock: exact versions and hashes of every package that running, testing and building needs.
#   lock.sh PYTHON
# Make it with the oldest Python that GPU Desk supports: newer ones have wheels of the same versions.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check pip-tools
CUSTOM_COMPILE_COMMAND="make lock" "$work/venv/bin/python" -m piptools compile --quiet --upgrade \
    --extra dev --generate-hashes --strip-extras --no-annotate \
    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
    --output-file "$work/requirements.lock" pyproject.toml
if grep -n '://' "$work/requirements.lock"; then
    echo "the lock file would name an address" >&2
    exit 1
fi
mv "$work/requirements.lock" requirements.lock
