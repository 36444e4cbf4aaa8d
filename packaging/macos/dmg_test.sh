#!/bin/sh
# Tries a disk image: mounts it, copies the application out of it as a user does, looks at its signature, checks it
# by itself, opens a window without a screen, and takes it away.
#   dmg_test.sh IMAGE        only on macOS
set -eu

if [ "$(uname -s)" != Darwin ]; then
    echo "a disk image for macOS can only be tried on macOS" >&2
    exit 1
fi
image=$1
work=$(mktemp -d)
mounted="$work/mounted"
clean_up() {
    hdiutil detach -quiet -force "$mounted" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
mkdir "$mounted"
hdiutil attach -quiet -readonly -nobrowse -noautoopen -mountpoint "$mounted" "$image"
test -L "$mounted/Applications"
ditto "$mounted/GPU Desk.app" "$work/GPU Desk.app"
hdiutil detach -quiet "$mounted"

app="$work/GPU Desk.app"
program="$app/Contents/MacOS/gpudesk"
codesign --verify --deep --strict --verbose=2 "$app"
plutil -lint "$app/Contents/Info.plist"
# Refused without a notarisation, which is said and no fault here.
spctl --assess --type execute --verbose "$app" || echo "not accepted by Gatekeeper: not notarised"

export GPUDESK_HOME="$work/home"
"$program" --version
"$program" --self-test
QT_QPA_PLATFORM=offscreen GPUDESK_TIMING=1 "$program"
test -d "$GPUDESK_HOME"
rm -rf "$app"
echo "installed, checked by itself, opened and removed"
