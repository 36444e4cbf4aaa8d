#!/bin/sh
# Makes the Debian package of a frozen tree; it serves Debian 12 and later, and what derives from it.
#   make_deb.sh TREE ICONS OUT_FOLDER
# The program lies in /usr/lib/gpudesk: /opt is for what comes past the package manager or wants a place of its own,
# and this is neither; it is private to one program, read-only, and found by /usr/bin/gpudesk. There are no scripts
# of the maintainer: what knows icons, entries and types of files hears of them by dpkg's triggers.
# Whoever publishes packages puts the own name and address in GPUDESK_MAINTAINER; until then it is an address that
# by RFC 2606 leads nowhere.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/linux/common.sh
. "$here/common.sh"

[ $# -eq 3 ] || fail "usage: make_deb.sh TREE ICONS OUT_FOLDER"
begin_package "$@"
: "${tree:?}" "${icons:?}" "${out:?}" "${work:?}" "${epoch:?}" "${debian_version:?}"
maintainer=${GPUDESK_MAINTAINER:-GPU Desk maintainers <maintainers@gpudesk.invalid>}
parts="$tree/_internal/gpudesk/_bundled/parts.json"
[ -f "$parts" ] || fail "$parts is missing: the package has to say what it carries"

root="$work/root"
doc="$root/usr/share/doc/gpudesk"

copy_tree "$tree" "$root/usr/lib/gpudesk"
mkdir -p "$root/usr/bin" "$doc"
ln -s ../lib/gpudesk/gpudesk "$root/usr/bin/gpudesk"
install_share "$icons" "$root/usr/share"
put "$here/deb/lintian-overrides" "$root/usr/share/lintian/overrides/gpudesk"
python "$here/copyright.py" "$parts" "$epoch" > "$doc/copyright"
python "$here/changelog.py" debian "$version" "$epoch" "$maintainer" < "$here/../../CHANGELOG.md" |
    gzip -9n > "$doc/changelog.gz"
for notices in "$tree"/THIRD_PARTY_NOTICES*; do
    if [ -f "$notices" ]; then gzip -9nc "$notices" > "$doc/${notices##*/}.gz"; fi
done
find "$root/usr" -type f -exec chmod go-w,a+r {} +

mkdir "$root/DEBIAN"
(cd "$root" && find usr -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
# As dpkg counts it: every file in whole kilobytes, and one for everything else.
size=$(find "$root/usr" \( -type f -printf '%s\n' -o -printf '1\n' \) |
    awk '{ kilobytes += int(($1 + 1023) / 1024) } END { print kilobytes }')
dependencies=$(python "$here/needs.py" depends "$tree")
cat > "$root/DEBIAN/control" <<END
Package: gpudesk
Version: $debian_version
Architecture: amd64
Maintainer: $maintainer
Installed-Size: $size
$dependencies
Section: science
Priority: optional
Description: compare AI accelerators for LLM inference, offline
 GPU Desk answers which accelerators can serve a language model, how many of
 them, how fast, how sure that is, and on whose word. Every value of its
 catalog has a source and a date, and every estimate a band.
 .
 It puts up to six accelerators side by side, shows throughput, latency and
 memory while the load changes, and writes the comparison on a sheet that
 carries its scenario. It needs no network and never uses one.
END

find "$root" -exec touch --no-dereference --date="@$epoch" {} +
package="$out/gpudesk_${debian_version}_amd64.deb"
# xz makes it a tenth smaller than zstd at its best; level 9 saves another hundredth for half as much time again.
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
say "$package: $(du -k --apparent-size "$package" | cut -f1) kB, $size kB installed"
