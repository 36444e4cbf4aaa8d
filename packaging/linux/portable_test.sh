#!/bin/sh
# Proves the portable archive where it is meant to run: on a stick, as an ordinary user whose home is empty and closed.
#   portable_test.sh ARCHIVE.tar.xz     as root
# The stick is an exFAT file system without links and without marks of what is a program, in a namespace of mounts of
# its own and without a network. Where this machine cannot mount one, a folder stands in for it, and that is said.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
[ "${1:-}" ] || { echo "usage: portable_test.sh ARCHIVE.tar.xz" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || fail "the portable test mounts a stick, which only root may do"
if [ -z "${PORTABLE_TEST_APART:-}" ]; then
    PORTABLE_TEST_APART=1 exec unshare --mount --net --propagation private sh "$0" "$1"
fi

archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
user=65534
work=$(mktemp -d)
chmod 755 "$work"
stick="$work/stick"
loop=""
mkdir "$stick" "$work/home" "$work/results" "$work/passing"
chown "$user" "$work/results" "$work/passing"
clean_up() {
    cd /
    if [ -n "$loop" ]; then
        umount "$stick" 2>/dev/null || true
        losetup --detach "$loop"
    fi
    umount "$work/home" 2>/dev/null || true
    if grep -q " $work/" /proc/self/mountinfo; then
        # Removing would reach into whatever is mounted there.
        say "something is mounted below $work; it is left as it is" >&2
    else
        rm -rf --one-file-system "$work"
    fi
}
trap clean_up EXIT

# Plugs the stick in; `ro` for one that cannot be written to.
plug_in() {
    mount.exfat-fuse -o "$1,allow_other,uid=$user,gid=$user,fmask=0133,dmask=0022" "$loop" "$stick" >/dev/null
}

if command -v mkfs.exfat >/dev/null && command -v mount.exfat-fuse >/dev/null &&
    truncate -s 600M "$work/image" && mkfs.exfat "$work/image" >/dev/null &&
    loop=$(losetup --find --show "$work/image" 2>/dev/null) && plug_in rw; then
    say "the stick: exFAT"
else
    [ -z "$loop" ] || losetup --detach "$loop"
    loop=""
    say "no exFAT can be mounted here: a folder without links and marks of programs stands in for the stick"
fi
tar -C "$stick" -xf "$archive" --no-same-owner --no-same-permissions
set -- "$stick"/gpudesk-*
folder=$1
if [ -z "$loop" ]; then
    find "$folder" -type f -exec chmod a-x {} +
    chown -R "$user" "$folder"
fi
[ -z "$(find "$folder" -type l)" ] || fail "there are links in it"
[ ! -x "$folder/gpudesk" ] || fail "this stick marks programs after all"
mount -t tmpfs -o ro,mode=755 none "$work/home"

# Runs the program from the stick as the ordinary user.
run() {
    (cd "$work/results" && exec setpriv --reuid "$user" --regid "$user" --clear-groups env -i HOME="$work/home" \
        PATH=/usr/bin:/bin LANG=C.UTF-8 TMPDIR="$work/passing" QT_QPA_PLATFORM=offscreen ${GPUDESK_TIMING:+GPUDESK_TIMING=1} \
        ${TRACE:+strace -f -qq -e trace=%file -e signal=none -o "$TRACE"} sh "$folder/gpudesk.sh" "$@")
}
opens() { GPUDESK_TIMING=1 run "$@" | grep -q '^memory '; }
own_prices() { run catalog export prices -o - --format csv | grep -c Ours; }

say "use it"
run --version
run --self-test
run sheet --template 70b-chat-on-four -o "$work/results/sheet.pdf"
run sheet --template 70b-chat-on-four -o "$folder/offer.gpudesk"
printf 'accelerator,usd_per_accelerator_hour,provider,date\nh200-sxm,2.5,Ours,2026-01-02\n' > "$work/results/ours.csv"
run import ours.csv
opens "$folder/offer.gpudesk" || fail "the window does not open"
[ "$(own_prices)" -ge 1 ] || fail "the user's own price is not in the catalog"
for file in catalog.sqlite settings.json; do
    [ -s "$folder/gpudesk-data/$file" ] || fail "the user's files are not beside the program"
done
[ -z "$(ls -A "$work/home")" ] || fail "it wrote into the home folder"

if command -v strace >/dev/null; then
    say "follow what it writes"
    TRACE="$work/results/trace" opens "$folder/offer.gpudesk" || fail "the window does not open while it is watched"
    # Opened for writing, made, renamed or removed, and done: anywhere but on the stick and among the files that
    # pass with the program. Devices are no files.
    elsewhere=$(grep -E 'O_(WRONLY|RDWR|CREAT)|^[0-9]+ +(mkdir|rename|unlink|rmdir|symlink|link|truncate)' \
        "$work/results/trace" | grep -v ' = -1 ' | grep -vF -e "\"$folder/" -e "\"$work/passing/" | grep -vE '"/(dev|proc)/' || true)
    [ -z "$elsewhere" ] || fail "it writes elsewhere: $elsewhere"
fi

say "move the folder"
mkdir "$stick/another place"
mv "$folder" "$stick/another place/desk"
folder="$stick/another place/desk"
opens || fail "the window does not open at another place"
opens "$folder/offer.gpudesk" || fail "a scenario does not open at another place"
[ "$(own_prices)" -ge 1 ] || fail "the user's own price is gone"

say "a stick that can only be read"
if [ -n "$loop" ]; then
    umount "$stick"
    plug_in ro
else
    chmod -R a-w "$folder"
fi
opens "$folder/offer.gpudesk" || fail "the window does not open"
[ "$(own_prices)" -ge 1 ] || fail "the user's own facts cannot be read"
run sheet --scenario "$folder/offer.gpudesk" -o "$work/results/read-only.pdf"
[ -z "$(ls -A "$work/home")" ] || fail "it wrote into the home folder"
[ -z "$(ls -A "$work/passing")" ] || fail "temporary files stayed: $(ls -A "$work/passing")"
say "portable test passed"
