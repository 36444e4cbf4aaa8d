#!/bin/sh
# Makes the archive of a frozen tree that runs from where it is unpacked, also from a stick, with its data beside it.
#   make_portable.sh TREE ICONS OUT_FOLDER
# A stick has no links, and names on it differ by more than case: links that the loader follows become files, and
# the others, which repeat a library under a second name, are left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/linux/common.sh
. "$here/common.sh"

[ $# -eq 3 ] || fail "usage: make_portable.sh TREE ICONS OUT_FOLDER"
begin_package "$@"
: "${tree:?}" "${icons:?}" "${out:?}" "${work:?}" "${version:?}" "${epoch:?}"
name="gpudesk-$version"
top="$work/$name"

copy_tree "$tree" "$top"
find "$top" -type l -delete
tab=$(printf '\t')
python "$here/needs.py" links "$tree" | while IFS="$tab" read -r link file; do
    put "$tree/$file" "$top/$link"
done
clash=$(cd "$top" && find . | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sort | uniq -d)
[ -z "$clash" ] || fail "a stick cannot hold names that differ by case only: $clash"
# Nor signs that FAT keeps for itself, nor names that end with a dot or a blank.
refused=$(cd "$top" && find . -mindepth 1 \( -name '*[\\:*?"<>|]*' -o -name '*[. ]' \))
[ -z "$refused" ] || fail "a stick cannot hold these names: $refused"

put "$icons/gpudesk-256.png" "$top/gpudesk.png"
put "$here/portable/gpudesk.sh" "$top/gpudesk.sh"
chmod 755 "$top/gpudesk.sh"
for notices in "$tree"/THIRD_PARTY_NOTICES*; do
    if [ -f "$notices" ]; then put "$notices" "$top/${notices##*/}"; fi
done
packages=$(python "$here/needs.py" packages "$tree")
glibc=$(python "$here/needs.py" glibc "$tree")
sed "s/@VERSION@/$version/g;s/@GLIBC@/$glibc/;s/@PACKAGES@/$packages/" "$here/portable/README.txt" |
    fold -s -w 78 > "$top/README.txt"
mkdir "$top/gpudesk-data"
cat > "$top/gpudesk-data/README.txt" <<'END'
The portable GPU Desk saves your data in this folder: your values and their
backups, settings and recovered scenarios.
END

archive="$out/gpudesk-$version-linux-x86_64.tar.xz"
# Two threads: one alone writes blocks of another kind, so that the number shows in what comes out.
tar -C "$work" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf - "$name" |
    xz -6 --threads=2 > "$archive"
say "$archive: $(du -k --apparent-size "$archive" | cut -f1) kB, $(du -sk --apparent-size "$top" | cut -f1) kB unpacked"
