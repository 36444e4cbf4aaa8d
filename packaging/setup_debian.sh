#!/bin/sh
# Installs the Debian packages that GPU Desk needs, or names them in one line when it may not.
#   setup_debian.sh python   what makes a virtual environment
#   setup_debian.sh run      what Qt needs to import, to draw without a screen and to open a window
#   setup_debian.sh test     the same, and what the tests need
#   setup_debian.sh freeze   the same, and what collects the program into a folder that needs no Python
#   setup_debian.sh package  the same, and what makes and proves packages for others
# Quick and silent when everything is there. Does nothing on systems without dpkg.
set -eu

QT_IMPORT="libgl1 libegl1 libfontconfig1 libdbus-1-3 libxkbcommon0"
QT_WINDOW="libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
TEST_ONLY="xvfb xauth poppler-utils at-spi2-core dbus-daemon python3-pyatspi strace appstream desktop-file-utils
mandoc shared-mime-info shellcheck squashfs-tools"

# strip and objdump, and what else works on libraries; the library of Debian's Python, which its interpreter does
# without; what Qt's plug-ins use where it is there, so that the package can name it.
FREEZE="binutils patchelf LIBPYTHON libcups2 libwayland-client0 libwayland-cursor0 libwayland-egl1"
PACKAGE="debootstrap exfat-fuse exfatprogs lintian nsis p7zip-full xz-utils"

installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

case "${1:-run}" in
    python) wanted="python3-venv" ;;
    run) wanted="GLIB $QT_IMPORT $QT_WINDOW" ;;
    test) wanted="GLIB $QT_IMPORT $QT_WINDOW $TEST_ONLY" ;;
    freeze) wanted="GLIB $QT_IMPORT $QT_WINDOW $TEST_ONLY $FREEZE" ;;
    package) wanted="GLIB $QT_IMPORT $QT_WINDOW $TEST_ONLY $FREEZE $PACKAGE" ;;
    *) echo "usage: setup_debian.sh python|run|test|freeze|package" >&2; exit 2 ;;
esac

command -v dpkg-query >/dev/null 2>&1 || exit 0

missing=""
for package in $wanted; do
    if [ "$package" = GLIB ]; then
        # Renamed in Debian 13; either will do.
        if installed libglib2.0-0 || installed libglib2.0-0t64; then continue; fi
        . /etc/os-release
        if [ "${VERSION_ID:-13}" = 12 ]; then package=libglib2.0-0; else package=libglib2.0-0t64; fi
    fi
    if [ "$package" = LIBPYTHON ]; then
        for number in 3.11 3.12 3.13; do
            if installed "python$number-minimal" && ! installed "libpython$number" &&
                ! installed "libpython${number}t64"; then
                missing="$missing libpython$number"
            fi
        done
        continue
    fi
    installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "Debian packages are missing; install them with: sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # one word a package is meant
apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends $missing >/dev/null
