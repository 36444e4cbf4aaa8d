#!/bin/sh
# Makes an AppImage of a frozen tree: one file that is marked as a program and starts.
#   make_appimage.sh TREE ICONS RUNTIME OUT_FOLDER
# RUNTIME is the start of every AppImage, a program that mounts what comes after it: runtime-x86_64 of the releases
# of AppImage/type2-runtime on GitHub (MIT). No package registry has it, so that whoever builds brings it along.
# A folder gpudesk-data beside the AppImage takes what the user keeps, as with the portable archive.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/linux/common.sh
. "$here/common.sh"

[ $# -eq 4 ] || fail "usage: make_appimage.sh TREE ICONS RUNTIME OUT_FOLDER"
runtime=$3
# The format's mark stands where ELF leaves room: AI and the type, 2.
[ "$(head -c 11 "$runtime" | od -An -tx1 | tr -d ' \n')" = 7f454c4602010100414902 ] ||
    fail "$runtime is no runtime of AppImages of type 2"
begin_package "$1" "$2" "$4"
: "${tree:?}" "${icons:?}" "${out:?}" "${work:?}" "${version:?}"
root="$work/AppDir"
copy_tree "$tree" "$root/usr/lib/gpudesk"
mkdir -p "$root/usr/bin"
ln -s ../lib/gpudesk/gpudesk "$root/usr/bin/gpudesk"
install_share "$icons" "$root/usr/share"
for notices in "$tree"/THIRD_PARTY_NOTICES*; do
    if [ -f "$notices" ]; then put "$notices" "$root/usr/share/doc/gpudesk/${notices##*/}"; fi
done
ln -s usr/lib/gpudesk/gpudesk "$root/AppRun"
put "$here/share/gpudesk.desktop" "$root/gpudesk.desktop"
put "$icons/gpudesk-256.png" "$root/gpudesk.png"
ln -s gpudesk.png "$root/.DirIcon"

# The times of all files are those of SOURCE_DATE_EPOCH. The runtime reads zstd.
mksquashfs "$root" "$work/files" -all-root -no-xattrs -noappend -comp zstd -Xcompression-level 19 -b 1M \
    -quiet -no-progress
image="$out/GPU_Desk-$version-x86_64.AppImage"
cat "$runtime" "$work/files" > "$image"
chmod 755 "$image"
say "$image: $(du -k --apparent-size "$image" | cut -f1) kB"
