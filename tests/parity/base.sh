#!/bin/sh
# Put the state of a revision into a folder and build its catalog there: base.sh REVISION FOLDER PYTHON
set -eu
revision=$(git rev-parse --verify "$1^{commit}")
folder=$2
python=$3
if [ "$(git -C "$folder" rev-parse HEAD 2>/dev/null || true)" != "$revision" ] || [ ! -e "$folder/.git" ]; then
    rm -rf "$folder"
    git clone --quiet --shared --no-checkout . "$folder"
    git -C "$folder" checkout --quiet --detach "$revision"
fi
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
cd "$folder"
if [ ! -e build/catalog.sqlite ]; then
    mkdir -p build
    PYTHONPATH=. "$python" packaging/make_catalog.py build/catalog.sqlite
fi
