# shellcheck shell=sh
# Shared by the scripts that make packages for Linux; they set `here` to this folder and read it with `.`.
: "${here:?}"
# shellcheck source=packaging/common.sh
. "$here/../common.sh"

# Runs one of the scripts beside this one.
python() { "${PYTHON:-python3}" "$@"; }

# Reads from a frozen tree what it is: sets `version`, `debian_version`, and `epoch`, the moment of the commit, which
# is the time of every file in a package, so that the same commit makes the same package.
read_tree() {
    record="$1/_internal/gpudesk/_bundled/build.json"
    if [ ! -x "$1/gpudesk" ] || [ ! -f "$record" ]; then
        fail "$1 holds no frozen program: make it with 'make freeze'"
    fi
    version=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$record")
    epoch=${SOURCE_DATE_EPOCH:-$(python -c '
import datetime, json, sys
print(int(datetime.datetime.fromisoformat(json.load(open(sys.argv[1]))["committed"]).timestamp()))' "$record")}
    # shellcheck disable=SC2034  # for whoever reads this file
    debian_version=$(python "$here/changelog.py" version "$version")
    export SOURCE_DATE_EPOCH="$epoch"
}

# Begins a package: sets `tree`, `icons` and `out` to the folders given, which may be relative, and `work` to one that
# goes when the script ends; reads the tree.
#   begin_package TREE ICONS OUT_FOLDER
# shellcheck disable=SC2034  # for whoever reads this file
begin_package() {
    umask 022
    tree=$(cd "$1" && pwd)
    icons=$(cd "$2" && pwd)
    mkdir -p "$3"
    out=$(cd "$3" && pwd)
    read_tree "$tree"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
}

# Copies a tree: without its notices, which each package has at a place of its own, open to all readers and
# writable by none but the owner. Libraries need not be executable.
copy_tree() {
    mkdir -p "$2"
    (cd "$1" && tar -cf - --exclude='./THIRD_PARTY_NOTICES*' .) | tar -C "$2" -xf - --no-same-owner
    find "$2" -type d -exec chmod 755 {} +
    find "$2" -type f -exec chmod 644 {} +
    chmod 755 "$2/gpudesk"
}

# Lays out what a desktop and shells know a program by: entry, icons, types of files, description, manual page,
# completion.
#   install_share ICONS SHARE_FOLDER
install_share() {
    put "$here/share/gpudesk.desktop" "$2/applications/gpudesk.desktop"
    put "$here/share/gpudesk.xml" "$2/mime/packages/gpudesk.xml"
    releases=$(python "$here/changelog.py" appstream "$version" "$epoch" < "$here/../../CHANGELOG.md")
    name=io.github.gpudesk.GPUDesk.metainfo.xml
    mkdir -p "$2/metainfo"
    awk -v releases="$releases" '$0 == "@RELEASES@" { print releases; next } { print }' \
        "$here/share/$name.in" > "$2/metainfo/$name"
    mkdir -p "$2/man/man1"
    python "$here/../command_reference.py" > "$2/man/man1/gpudesk.1"
    sed -i "s/@VERSION@/$version/;s/@DATE@/$(LC_ALL=C date -u -d "@$epoch" '+%B %-d, %Y')/" "$2/man/man1/gpudesk.1"
    gzip -9nf "$2/man/man1/gpudesk.1"
    python "$here/../completion.py" "$2"
    for size in 16 22 24 32 48 64 128 256 512; do
        put_icons "$1" "-$size.png" "$2/icons/hicolor/${size}x$size"
    done
    put_icons "$1" .svg "$2/icons/hicolor/scalable"
}

# The icons of one size: of the program, and of its types of files.
put_icons() {
    put "$1/gpudesk$2" "$3/apps/gpudesk.${2##*.}"
    put "$1/gpudesk-scenario$2" "$3/mimetypes/application-vnd.gpudesk.scenario+json.${2##*.}"
    put "$1/gpudesk-pack$2" "$3/mimetypes/application-vnd.gpudesk.pack.${2##*.}"
}

put() { install -D -m 644 "$1" "$2"; }
