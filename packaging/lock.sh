#!/bin/sh
# Writes the lock files: exact versions and hashes, for every system that GPU Desk runs on, of the packages that
# running, testing and building need (requirements.lock) and that freezing needs (packaging/requirements.lock).
#   lock.sh PYTHON [--upgrade]
# Without --upgrade the versions in the files stay wherever pyproject.toml admits them.
set -eu
python=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv

# Resolves for Windows, macOS and Linux at once, with the oldest Python that is supported.
compile() {
    target=$1
    shift
    cp "$target" "$work/lock" 2>/dev/null || : > "$work/lock"
    UV_CUSTOM_COMPILE_COMMAND="make lock" "$work/venv/bin/uv" pip compile --quiet --no-progress --universal \
        --python-version 3.11 --generate-hashes --no-annotate \
        "$@" --output-file "$work/lock" pyproject.toml
    if grep -n '://' "$work/lock"; then
        echo "the lock file would name an address" >&2
        exit 1
    fi
    mv "$work/lock" "$target"
}
compile requirements.lock --extra dev "$@"
# What the frozen program holds is what was tested.
compile packaging/requirements.lock --extra package --constraint requirements.lock "$@"
