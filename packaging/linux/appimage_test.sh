#!/bin/sh
# Proves an AppImage: it is unpacked and run by its own runtime, without FUSE, with its data beside it.
#   appimage_test.sh FILE.AppImage
set -eu
[ $# -eq 1 ] || { echo "usage: appimage_test.sh FILE.AppImage" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/gpudesk-data"
cp "$1" "$work/gpudesk.AppImage"
chmod 755 "$work/gpudesk.AppImage"
run() {
    env -u GPUDESK_HOME HOME="$work/home" TMPDIR="$work" "$work/gpudesk.AppImage" --appimage-extract-and-run "$@"
}
run --version
QT_QPA_PLATFORM=offscreen run --self-test
run sheet --template 70b-chat-on-four -o "$work/offer.gpudesk"
env -u GPUDESK_HOME HOME="$work/home" TMPDIR="$work" GPUDESK_TIMING=1 xvfb-run -a \
    "$work/gpudesk.AppImage" --appimage-extract-and-run "$work/offer.gpudesk" |
    grep -q '^memory ' || fail "the window does not open"
[ -s "$work/gpudesk-data/settings.json" ] || fail "the user's files are not beside the AppImage"
echo "AppImage test passed"
