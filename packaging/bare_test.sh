#!/bin/sh
# Does what a new user does, on a new machine: in a minimal Debian 12 with Python 3.11 and a compiler it clones the
# committed state of this checkout and runs `make test` and `make run`.
#   bare_test.sh             as root; takes some minutes and about 2 GB of the temporary folder
# The system lives in a folder of its own and is removed afterwards; KEEP=1 keeps it and says where.
# This machine's package source, proxies and certificates serve the new one too.
set -eu
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "the bare test makes a system in a folder, which only root may do" >&2
    exit 1
fi
if ! command -v debootstrap >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends debootstrap >/dev/null
fi
# shellcheck disable=SC2016  # apt fills these in
mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "bookworm" { print $2; exit }')
if [ -z "$mirror" ]; then
    echo "no source of Debian 12 packages is configured here" >&2
    exit 1
fi

say() { printf '== %s\n' "$*"; }

work=$(mktemp -d)
bare="$work/debian"
clean_up() {
    if [ -n "${KEEP:-}" ]; then
        say "kept $bare"
    elif grep -q " $work/" /proc/self/mountinfo; then
        # Removing would reach into whatever is mounted there.
        say "something is mounted below $work; it is left as it is" >&2
    else
        rm -rf --one-file-system "$work"
    fi
}
trap clean_up EXIT

# debootstrap mounts /proc for its own use; in a namespace of its own that is gone when it ends.
say "make a minimal Debian 12"
unshare --mount --propagation private \
    debootstrap --variant=minbase --include=python3,build-essential,git bookworm "$bare" "$mirror" \
    > "$work/debootstrap.log" || { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }

# What reaching the packages needs here. Copies only: no folder of this machine is visible in the new one.
carry() {
    if [ -e "$1" ]; then cp -L "$1" "$bare$1"; fi
}
carry /etc/resolv.conf
carry /etc/hosts
carry /etc/pip.conf
certificates=/root/certificates.crt
cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$bare$certificates"
{
    apt-config dump | grep -E '^Acquire::(http|https|Check)' || true
    echo "Acquire::https::CaInfo \"$certificates\";"
} > "$bare/etc/apt/apt.conf.d/99transport"

say "clone"
git clone --quiet . "$bare/root/gpudesk"

# Runs a command in the clone with nothing of this environment but what reaches the packages.
inside() {
    settings=$(env | grep -iE '^(https?_proxy|no_proxy|all_proxy|pip_(index_url|trusted_host|default_timeout|retries))=' || true)
    (
        IFS='
'
        # shellcheck disable=SC2016,SC2086  # filled in by the inner shell; one setting a line
        exec unshare --mount --pid --fork --propagation private \
            sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$bare" \
            /usr/bin/env -i HOME=/root LANG=C.UTF-8 PIP_CERT="$certificates" $settings \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "cd /root/gpudesk && $1"
    )
}

for target in test run run; do
    say "make $target"
    start=$(date +%s)
    inside "make $target"
    say "make $target took $(($(date +%s) - start)) s"
done
# There is no display in there, so that the sheet is what `make run` makes.
inside "test -s build/sample-comparison.pdf"
say "bare test passed"
