#!/bin/sh
# Does what a new user does, on a new machine: in a minimal Debian 12 with Python 3.11 and a compiler it clones the
# committed state of this checkout and runs `make test` and `make run`.
#   bare_test.sh             as root; takes some minutes and about 2 GB of the temporary folder
# The system lives in a folder of its own and is removed afterwards; KEEP=1 keeps it and says where.
# This machine's package source, proxies and pip settings serve the new one too.
set -eu
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "the bare test makes a system in a folder, which only root may do" >&2
    exit 1
fi
# In a mount namespace of its own everything mounted below is gone when this script ends, however it ends.
if [ -z "${GPUDESK_BARE_NAMESPACE:-}" ]; then
    GPUDESK_BARE_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi

say() { printf '== %s\n' "$*"; }

if ! command -v debootstrap >/dev/null 2>&1; then
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends debootstrap
fi
mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "bookworm" { print $2; exit }')
if [ -z "$mirror" ]; then
    echo "no source of Debian 12 packages is configured here" >&2
    exit 1
fi

work=$(mktemp -d)
bare="$work/debian"
clean_up() {
    umount --recursive --lazy "$bare/proc" "$bare/dev" 2>/dev/null || true
    for folder in ${local_folders:-}; do umount --lazy "$bare$folder" 2>/dev/null || true; done
    if [ -n "${KEEP:-}" ]; then say "kept $bare"; else rm -rf --one-file-system "$work"; fi
}
trap clean_up EXIT

say "make a minimal Debian 12"
debootstrap --variant=minbase --include=python3,build-essential,git bookworm "$bare" "$mirror" > "$work/debootstrap.log" ||
    { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }

# What reaching the packages needs here: names, certificates, apt's transport settings, pip's configuration.
carry() {
    for file in "$@"; do
        if [ -e "$file" ]; then
            mkdir -p "$bare$(dirname "$file")"
            cp -L "$file" "$bare$file"
        fi
    done
}
carry /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt /etc/pip.conf "$HOME/.config/pip/pip.conf"
apt-config dump | grep -E '^Acquire::(http|https|Check)' > "$bare/etc/apt/apt.conf.d/99transport" || true
# Folders of packages that pip's configuration or environment names.
local_folders=$( { cat /etc/pip.conf "$HOME/.config/pip/pip.conf" 2>/dev/null; env | grep '^PIP_'; } |
    grep -oE '(^|[ =]|file://)/[^ ]+' | sed -E 's/^([ =]|file:\/\/)//' | sort -u |
    while read -r path; do if [ -d "$path" ]; then echo "$path"; fi; done)
for folder in $local_folders; do
    # The index lies beside the files that it links to.
    folder=$(dirname "$folder")
    [ "$folder" = / ] && continue
    mkdir -p "$bare$folder"
    mountpoint -q "$bare$folder" || mount --bind -o ro "$folder" "$bare$folder"
done
mount -t proc proc "$bare/proc"
mount --rbind /dev "$bare/dev"

say "clone"
git clone --quiet . "$bare/root/gpudesk"

inside() {
    # Nothing of this machine's environment but what reaches the packages.
    settings=$(env | grep -iE '^(https?_proxy|no_proxy|all_proxy|pip_[a-z_]*|ssl_cert_(file|dir)|requests_ca_bundle)=' || true)
    (
        IFS='
'
        # shellcheck disable=SC2086  # one setting a line
        exec chroot "$bare" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $settings \
            sh -c "cd /root/gpudesk && $1"
    )
}

for target in test run run; do
    say "make $target"
    start=$(date +%s)
    inside "make $target"
    say "make $target took $(($(date +%s) - start)) s"
done
say "bare test passed"
