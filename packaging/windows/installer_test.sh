#!/bin/sh
# Tries the installer's script under wine: installs, upgrades, downgrades, moves and removes a stand-in for the
# program, and looks at files, registry and shortcuts each time.
#   installer_test.sh        in a minimal Debian of its own, as root; takes some minutes
#   installer_test.sh --here on this system, with wine for 32-bit and 64-bit programs, makensis, Python and 7z
# It proves the script and what it leaves behind. It does not prove that the program runs on Windows.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
if [ "${1:-}" != --here ]; then
    # shellcheck source=packaging/bare_debian.sh
    . "$here/../bare_debian.sh"
    bare_make bookworm
    say "install wine"
    bare_run 'dpkg --add-architecture i386 && apt-get update -qq && apt-get install -qq -y --no-install-recommends \
        wine wine64 wine32:i386 nsis python3 p7zip-full >/dev/null'
    mkdir "$bare/root/gpudesk"
    cp -r "$here/.." "$bare/root/gpudesk/packaging"
    cp "$here/../../LICENSE" "$here/../../THIRD_PARTY_NOTICES.md" "$bare/root/gpudesk"
    bare_run_offline 'exec /root/gpudesk/packaging/windows/installer_test.sh --here'
    exit
fi

work=$(mktemp -d)
trap 'wineserver -k 2>/dev/null || true; rm -rf "$work"' EXIT
export WINEPREFIX="$work/prefix" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" HOME="$work/home"
unset GPUDESK_HOME DISPLAY || true
mkdir -p "$HOME"
failed=0

check() { # what, command…
    what=$1
    shift
    if "$@"; then
        printf 'ok    %s\n' "$what"
    else
        printf 'FAIL  %s\n' "$what"
        failed=1
    fi
}
ends_with() { # status, program, arguments…
    wanted=$1
    shift
    status=0
    wine "$@" >"$work/output" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || { printf 'ended with %s, not %s\n' "$status" "$wanted" >&2; return 1; }
}
reg_value() { # key, name ("" for the default)
    if [ -n "$2" ]; then wine reg query "$1" /v "$2"; else wine reg query "$1" /ve; fi 2>/dev/null |
        tr -d '\r' | sed -n 's/.*REG_[A-Z_]*  *//p'
}
has_value() { # key, name, wanted
    found=$(reg_value "$1" "$2")
    [ "$found" = "$3" ] || { printf "%s %s is '%s', not '%s'\n" "$1" "$2" "$found" "$3" >&2; return 1; }
}
no_key() { ! wine reg query "$1" >/dev/null 2>&1; }
gone() { [ ! -e "$1" ]; }
here_is() { [ -e "$1" ]; }
same_list() { # folder, list of files
    (cd "$1" && find . -type f | sort) >"$work/found"
    diff "$2" "$work/found" >&2
}
until_gone() { # file; the uninstaller goes on in a copy of its own
    tries=0
    while [ -e "$1" ] && [ "$tries" -lt 60 ]; do
        sleep 1
        tries=$((tries + 1))
    done
    gone "$1"
}

tree() { # version, folder, files besides…
    version=$1 folder=$2
    shift 2
    mkdir -p "$folder/_internal/gpudesk/_bundled"
    for program in gpudesk gpudesk-gui; do
        makensis -V2 -WX "-DOUT=$folder/$program.exe" "$here/stand_in.nsi"
    done
    printf '{"version": "%s"}\n' "$version" >"$folder/_internal/gpudesk/_bundled/build.json"
    for file in "$@"; do
        mkdir -p "$(dirname "$folder/$file")"
        echo "$version" >"$folder/$file"
    done
}
installer() { # version, folder
    python3 "$here/make_installer.py" "$2" "$work/icons" "$work/out" --staged >&2
    echo "$work/out/gpudesk-$1-windows-x86_64-setup-staged-not-for-release.exe"
}
expected() { # folder: what is installed of it
    (cd "$1" && find . -type f
        printf './icons/%s\n' gpudesk.ico gpudesk-pack.ico gpudesk-scenario.ico
        echo ./uninstall.exe) | sort
}

say "make two versions of a stand-in, and their installers"
mkdir -p "$work/icons"
# Any icon will do here.
python3 - "$work/icons" <<'END'
import struct, sys, pathlib
bitmap = struct.pack("<IiiHHIIiiII", 40, 16, 32, 1, 32, 0, 0, 0, 0, 0, 0) + bytes(16 * 16 * 4 + 16 * 4)
icon = struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(bitmap), 22) + bitmap
for name in ("gpudesk", "gpudesk-scenario", "gpudesk-pack"):
    (pathlib.Path(sys.argv[1]) / f"{name}.ico").write_bytes(icon)
END
# shellcheck disable=SC2016  # a dollar sign in a name is meant
tree 0.9.0 "$work/old" '_internal/old module.pyd' _internal/old/only/here.pyd _internal/both.pyd '_internal/a$b.txt'
tree 0.10.0 "$work/new" _internal/both.pyd _internal/new/module.pyd
old=$(installer 0.9.0 "$work/old")
new=$(installer 0.10.0 "$work/new")
expected "$work/old" >"$work/old.list"
expected "$work/new" >"$work/new.list"
# $PLUGINSDIR and the uninstaller are the installer's own.
7z l -ba -slt "$new" | sed -n 's/^Path = //p' | tr '\134' '/' |
    sed -e '/^[$]PLUGINSDIR/d' -e '/^uninstall/d' -e 's/^/.\//' | sort >"$work/inside"
grep -v -e uninstall.exe "$work/new.list" >"$work/wanted"
check "the installer carries the files of the tree and no other" diff "$work/wanted" "$work/inside"

say "make a Windows"
wineboot --init >/dev/null 2>&1
version_of_windows() { wine winecfg -v "$1" >/dev/null 2>&1; wineserver -w; }
user=$(wine cmd /c 'echo %USERNAME%' 2>/dev/null | tr -d '\r')
profile="$WINEPREFIX/drive_c/users/$user"
place="$profile/AppData/Local/Programs/GPU Desk"
data="$profile/AppData/Roaming/GPU Desk"
menu="$profile/AppData/Roaming/Microsoft/Windows/Start Menu/Programs"
here_windows="C:\\users\\$user\\AppData\\Local\\Programs\\GPU Desk"
key='HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\GPU Desk'
classes='HKCU\Software\Classes'

say "a Windows that is too old"
version_of_windows win7
check "is refused with status 3" ends_with 3 "$old" /S
check "nothing was installed" gone "$place"
version_of_windows win10

say "install"
check "ends with 0" ends_with 0 "$old" /S
check "all files are there and no other" same_list "$place" "$work/old.list"
check "version" has_value "$key" DisplayVersion 0.9.0
check "quiet removal" has_value "$key" QuietUninstallString "\"$here_windows\\uninstall.exe\" /S"
check "size" has_value "$key" EstimatedSize "$(printf '0x%x' "$(find "$work/old" -type f -printf '%s\n' | awk '{ s += $1 } END { print int((s + 1023) / 1024) }')")"
check "start menu" here_is "$menu/GPU Desk.lnk"
check "command prompt" here_is "$menu/GPU Desk command prompt.lnk"
check "no icon on the desktop" gone "$profile/Desktop/GPU Desk.lnk"
check "application path" has_value 'HKCU\Software\Microsoft\Windows\CurrentVersion\App Paths\gpudesk.exe' '' "$here_windows\\gpudesk.exe"
check "scenario type" has_value "$classes\\.gpudesk" '' GPUDesk.Scenario
check "pack type" has_value "$classes\\.gpudeskpack" '' GPUDesk.Pack
check "command of the type" has_value "$classes\\GPUDesk.Scenario\\shell\\open\\command" '' "\"$here_windows\\gpudesk-gui.exe\" \"%1\""
check "icon of the type" has_value "$classes\\GPUDesk.Scenario\\DefaultIcon" '' "$here_windows\\icons\\gpudesk-scenario.ico"

say "upgrade while the program is open"
wine "$place/gpudesk-gui.exe" --wait=15000 >/dev/null 2>&1 &
sleep 5
check "is refused with status 4" ends_with 4 "$new" /S
check "nothing was changed" same_list "$place" "$work/old.list"
wait

say "upgrade"
mkdir -p "$data"
echo facts >"$data/catalog.sqlite"
echo mine >"$place/notes of the user.txt"
check "ends with 0" ends_with 0 "$new" /S
{ cat "$work/new.list"; echo './notes of the user.txt'; } | sort >"$work/new-and-mine.list"
check "files of the old version are gone, the user's own stays" same_list "$place" "$work/new-and-mine.list"
check "no folder of the old version is left" gone "$place/_internal/old"
check "version" has_value "$key" DisplayVersion 0.10.0
check "data are kept" here_is "$data/catalog.sqlite"

say "downgrade"
check "is refused with status 5" ends_with 5 "$old" /S
check "nothing was changed" same_list "$place" "$work/new-and-mine.list"
check "is done where asked for" ends_with 0 "$old" /S /DOWNGRADE
check "version" has_value "$key" DisplayVersion 0.9.0
check "upgrade again" ends_with 0 "$new" /S

say "what was chosen is kept at the next installation"
wine reg add "$key" /v Types /t REG_DWORD /d 0 /f >/dev/null 2>&1
wine reg add "$key" /v Desktop /t REG_DWORD /d 1 /f >/dev/null 2>&1
check "ends with 0" ends_with 0 "$new" /S
check "types are not registered" no_key "$classes\\GPUDesk.Scenario"
check "nor the suffix" no_key "$classes\\.gpudesk"
check "icon on the desktop" here_is "$profile/Desktop/GPU Desk.lnk"

say "move to another folder"
elsewhere="$WINEPREFIX/drive_c/Übung mit Leerzeichen"
# In words, since wine puts what has blanks in quotation marks, which the installer does not take there.
check "ends with 0" ends_with 0 "$new" /S '/D=C:\Übung' mit Leerzeichen
check "all files are there and no other" same_list "$elsewhere" "$work/new.list"
echo './notes of the user.txt' >"$work/mine.list"
check "the folder before has only what is the user's" same_list "$place" "$work/mine.list"
# Less the first letter, which wine prints in a code page of its own.
check "place" sh -c "wine reg query '$key' /v InstallLocation 2>/dev/null | LC_ALL=C grep -aq 'bung mit Leerzeichen'"

say "remove"
check "ends with 0" ends_with 0 "$elsewhere/uninstall.exe" /S
check "no file is left" until_gone "$elsewhere"
check "no entry among the programs" no_key "$key"
check "no application path" no_key 'HKCU\Software\Microsoft\Windows\CurrentVersion\App Paths\gpudesk.exe'
check "no shortcut in the menu" gone "$menu/GPU Desk.lnk"
check "no command prompt" gone "$menu/GPU Desk command prompt.lnk"
check "no icon on the desktop" gone "$profile/Desktop/GPU Desk.lnk"
check "data are kept" here_is "$data/catalog.sqlite"

say "another program's type"
wine reg add "$classes\\.gpudesk" /ve /d Another.Program /f >/dev/null 2>&1
check "ends with 0" ends_with 0 "$new" /S
check "stays that program's" has_value "$classes\\.gpudesk" '' Another.Program
check "ours is offered beside it" sh -c "wine reg query '$classes\\.gpudesk\\OpenWithProgids' 2>/dev/null | grep -q GPUDesk.Scenario"
check "remove" ends_with 0 "$place/uninstall.exe" /S
until_gone "$place/uninstall.exe" || true
check "still that program's" has_value "$classes\\.gpudesk" '' Another.Program
check "our type is gone" no_key "$classes\\GPUDesk.Scenario"

say "remove with what the user entered"
check "ends with 0" ends_with 0 "$new" /S
check "remove" ends_with 0 "$place/uninstall.exe" /S /REMOVEDATA
check "data are gone" until_gone "$data"

[ "$failed" = 0 ] || { echo "the installer does not do what it should" >&2; exit 1; }
say "all of it holds, under $(wine --version)"
