#!/bin/sh
# Makes the disk image for macOS of the application that was frozen there.
#   make_dmg.sh APP ICONS OUT_FOLDER     APP is "GPU Desk.app", ICONS what make_icons.py wrote; only on macOS
# Of the environment:
#   GPUDESK_CODESIGN_IDENTITY   signs the image; the application is signed with it as it is frozen
#   GPUDESK_NOTARY_PROFILE      a profile of `xcrun notarytool store-credentials`: notarises the image and staples it
#   GPUDESK_NOTICES             a file of third-party notices to lie beside the application
# Without an identity nothing is signed but for this machine, and macOS asks the user before the first start.
set -eu

if [ "$(uname -s)" != Darwin ]; then
    echo "a disk image for macOS can only be made on macOS: hdiutil and codesign are part of the system" >&2
    exit 1
fi
if [ $# -ne 3 ] || [ ! -d "$1/Contents" ]; then
    sed -n '2,4s/^# *//p' "$0" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
app=$1 icons=$2 out=$3
if [ -n "${GPUDESK_NOTARY_PROFILE:-}" ] && [ -z "${GPUDESK_CODESIGN_IDENTITY:-}" ]; then
    echo "only what is signed can be notarised: set GPUDESK_CODESIGN_IDENTITY too" >&2
    exit 2
fi

version=$(/usr/libexec/PlistBuddy -c 'Print CFBundleShortVersionString' "$app/Contents/Info.plist")
mkdir -p "$out"
image="$out/gpudesk-$version-macos-$(uname -m).dmg"
work=$(mktemp -d)
mounted=""
clean_up() {
    if [ -n "$mounted" ]; then hdiutil detach -quiet -force "$mounted" || true; fi
    rm -rf "$work"
}
trap clean_up EXIT

codesign --verify --deep --strict "$app"

# What the image shows: the application, where to drag it, and the terms.
volume="$work/volume"
mkdir "$volume"
ditto "$app" "$volume/GPU Desk.app"
ln -s /Applications "$volume/Applications"
mkdir "$volume/Licenses"
cp "$root/LICENSE" "$volume/Licenses/LICENSE.txt"
cp "${GPUDESK_NOTICES:-$root/THIRD_PARTY_NOTICES.md}" "$volume/Licenses/THIRD_PARTY_NOTICES.txt"

# The icon of the volume is an attribute of a mounted one, so the image is first made to be written to.
hdiutil create -quiet -volname "GPU Desk $version" -srcfolder "$volume" -fs HFS+ -format UDRW "$work/draft.dmg"
if command -v SetFile >/dev/null 2>&1; then
    mounted="$work/mounted"
    mkdir "$mounted"
    hdiutil attach -quiet -nobrowse -noautoopen -mountpoint "$mounted" "$work/draft.dmg"
    cp "$icons/gpudesk.icns" "$mounted/.VolumeIcon.icns"
    SetFile -a C "$mounted"
    sync
    tries=0
    # The system may still be looking through a volume that has just appeared.
    until hdiutil detach -quiet "$mounted"; do
        tries=$((tries + 1))
        [ "$tries" -lt 10 ] || exit 1
        sleep 2
    done
    mounted=""
fi
rm -f "$image"
hdiutil convert -quiet "$work/draft.dmg" -format ULMO -o "$image"
hdiutil verify -quiet "$image"

if [ -n "${GPUDESK_CODESIGN_IDENTITY:-}" ]; then
    codesign --sign "$GPUDESK_CODESIGN_IDENTITY" --timestamp "$image"
    if [ -n "${GPUDESK_NOTARY_PROFILE:-}" ]; then
        xcrun notarytool submit "$image" --keychain-profile "$GPUDESK_NOTARY_PROFILE" --wait
        xcrun stapler staple "$image"
        echo "$image: signed and notarised"
    else
        echo "$image: signed, not notarised"
    fi
else
    echo "$image: not signed, not notarised"
fi
