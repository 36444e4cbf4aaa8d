#!/bin/sh
# Makes of a frozen tree everything that is published for Linux: both packages, what they are made of, and checksums.
#   make_packages.sh TREE ICONS OUT_FOLDER PYTHON
# PYTHON is the interpreter of the environment that the tree was frozen in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/linux/common.sh
. "$here/common.sh"

[ $# -eq 4 ] || fail "usage: make_packages.sh TREE ICONS OUT_FOLDER PYTHON"
PYTHON=$(cd "$(dirname "$4")" && pwd)/$(basename "$4")
export PYTHON
read_tree "$1"
: "${version:?}"
rm -rf "$3"
"$here/make_deb.sh" "$1" "$2" "$3"
"$here/make_portable.sh" "$1" "$2" "$3"
name="$3/gpudesk-$version-linux-x86_64"
python "$here/../inventory/sbom.py" "$1" "$name.cdx.json"
cp "$1/THIRD_PARTY_NOTICES.txt" "$name-notices.txt"
(cd "$3" && sha256sum -- gpudesk* > SHA256SUMS)
