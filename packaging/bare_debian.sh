# shellcheck shell=sh
# A minimal Debian in a folder of its own, for tests that begin on a new machine. Read after common.sh with `.`, as root:
#   bare_make SUITE [PACKAGES]   makes it, and sets `bare` to its folder
#   bare_run COMMAND             runs a command of its shell, with nothing of this environment but what reaches packages
#   bare_run_offline COMMAND     the same, in a network namespace without interfaces
# It is removed when the script ends; KEEP=1 keeps it and says where. This machine's package source, proxies and
# certificates serve the new system too.

bare_certificates=/root/certificates.crt

bare_make() {
    if [ "$(id -u)" -ne 0 ]; then
        fail "this test makes a system in a folder, which only root may do"
    fi
    if ! command -v debootstrap >/dev/null 2>&1; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends debootstrap >/dev/null
    fi
    # The suites of Debian lie side by side: the source of one serves the others.
    # shellcheck disable=SC2016  # apt fills these in
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "bookworm" || $1 == "trixie" { print $2; exit }')
    if [ -z "$mirror" ]; then
        fail "no source of Debian packages is configured here"
    fi
    bare_work=$(mktemp -d)
    bare="$bare_work/debian"
    trap bare_clean_up EXIT
    # debootstrap mounts /proc for its own use; in a namespace of its own that is gone when it ends.
    say "make a minimal Debian ($1)"
    unshare --mount --propagation private \
        debootstrap --variant=minbase ${2:+--include="$2"} "$1" "$bare" "$mirror" \
        > "$bare_work/debootstrap.log" || { tail -n 20 "$bare_work/debootstrap.log" >&2; exit 1; }
    bare_carry /etc/resolv.conf
    bare_carry /etc/hosts
    bare_carry /etc/pip.conf
    cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$bare$bare_certificates"
    {
        apt-config dump | grep -E '^Acquire::(http|https|Check)' || true
        echo "Acquire::https::CaInfo \"$bare_certificates\";"
    } > "$bare/etc/apt/apt.conf.d/99transport"
}

bare_clean_up() {
    if [ -n "${KEEP:-}" ]; then
        say "kept $bare"
    elif grep -q " $bare_work/" /proc/self/mountinfo; then
        # Removing would reach into whatever is mounted there.
        say "something is mounted below $bare_work; it is left as it is" >&2
    else
        rm -rf --one-file-system "$bare_work"
    fi
}

# What reaching the packages needs here. Copies only: no folder of this machine is visible in the new one.
bare_carry() {
    if [ -e "$1" ]; then cp -L "$1" "$bare$1"; fi
}

bare_run() { bare_unshared "$1"; }
bare_run_offline() { bare_unshared "$1" --net; }

bare_unshared() {
    bare_command=$1
    shift
    bare_settings=$(env |
        grep -iE '^(https?_proxy|no_proxy|all_proxy|pip_(index_url|trusted_host|default_timeout|retries))=' || true)
    (
        IFS='
'
        # shellcheck disable=SC2016,SC2086  # filled in by the inner shell; one setting a line
        exec unshare --mount --pid --fork --propagation private "$@" \
            sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$bare" \
            /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            PIP_CERT="$bare_certificates" $bare_settings \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "$bare_command"
    )
}
