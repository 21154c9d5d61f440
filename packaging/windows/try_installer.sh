#!/bin/sh
# Tries launcher and installer on Linux, as far as Wine goes: both are compiled for x86-64, around a Python that only
# notes what it was asked for. Installs, upgrades, goes back, uninstalls; data must stay, the old version's files not.
#
#   sh packaging/windows/try_installer.sh ISCC.exe [SCRATCH]
#
# Needs wine with its 32-bit half, gcc-mingw-w64-x86-64, a screen (Xvfb), and Inno Setup's compiler unpacked.
set -eu
iscc=$1
scratch=${2:-$(mktemp -d)}
here=$(cd "$(dirname "$0")" && pwd)
export WINEPREFIX="$scratch/prefix" WINEDEBUG=-all LC_ALL=C.UTF-8

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
windows() { printf 'Z:%s' "$1" | tr / '\134'; } # a backslash

mkdir -p "$scratch/bundle/python" "$scratch/bundle/site-packages" "$scratch/out"
cat >"$scratch/python.c" <<'END'
#include <windows.h>
#include <stdio.h>
int main(void)
{
    static char place[1024], line[65536];
    FILE *notes;
    GetEnvironmentVariableA("NOTES", place, sizeof place);
    WideCharToMultiByte(CP_UTF8, 0, GetCommandLineW(), -1, line, sizeof line, NULL, NULL);
    notes = fopen(place, "a");
    fprintf(notes, "%s\n", line);
    fclose(notes);
    return 7;
}
END
gcc=x86_64-w64-mingw32-gcc
$gcc -o "$scratch/bundle/python/python.exe" "$scratch/python.c"
cp "$scratch/bundle/python/python.exe" "$scratch/bundle/python/pythonw.exe"
$gcc -municode -mwindows -o "$scratch/bundle/slipstream.exe" "$here/launcher.c"
$gcc -municode -DCONSOLE -o "$scratch/bundle/slipstream-cli.exe" "$here/launcher.c"
cp "$here/../../LICENSE" "$scratch/bundle/LICENSE.txt"
# an icon of one pixel
printf '\0\0\1\0\1\0\1\1\0\0\1\0\40\0\60\0\0\0\26\0\0\0\50\0\0\0\1\0\0\0\2\0\0\0\1\0\40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\0\0\0\0' \
    >"$scratch/bundle/slipstream.ico"
# Wine has neither an ARM64 machine nor this folder, and is Windows 10
sed -e 's/^\(Architectures.*=\)arm64/\1x64/' -e 's/^MinVersion=.*/MinVersion=6.1/' -e 's/{autopf}/{localappdata}\\Programs/' \
    "$here/slipstream.iss" >"$scratch/x64.iss"

compile() { # version
    : >"$scratch/bundle/site-packages/of $1"
    wine "$iscc" /Qp "/DAppVersion=$1" "/DBundle=$(windows "$scratch/bundle")" "/DOutput=$(windows "$scratch/out")" \
        "$(windows "$2")" >"$scratch/iscc.log" 2>&1 || { cat "$scratch/iscc.log"; fail "$2 does not compile"; }
    rm "$scratch/bundle/site-packages/of $1"
}
compile 0.0.1 "$here/slipstream.iss" # as it is, for ARM64
compile 1.0 "$scratch/x64.iss"
compile 2.0 "$scratch/x64.iss"

local_windows=$(wine cmd /c 'echo %LOCALAPPDATA%' | tr -d '\r')
data=$(winepath -u "$local_windows")/Slipstream
place=$(winepath -u "$local_windows")/Programs/"Slip stream ü"
install() { # version
    wine "$scratch/out/slipstream-$1-windows-arm64-setup.exe" /VERYSILENT /SUPPRESSMSGBOXES /MERGETASKS=associate \
        "/DIR=$local_windows\\Programs\\Slip stream ü" || fail "$1 was not installed"
    [ "$(ls "$place/site-packages")" = "of $1" ] || fail "after installing $1: $(ls "$place/site-packages")"
}
stays() {
    for file in "$data/chats.db" "$data/models/m.gguf" "$data/models/m.gguf.part" "$place/Slipstream data/chats.db"; do
        [ -f "$file" ] || fail "$file is gone after $1"
    done
}
install 1.0
mkdir -p "$data/models" "$place/Slipstream data"
for file in "$data/chats.db" "$data/models/m.gguf" "$data/models/m.gguf.part" "$place/Slipstream data/chats.db"; do
    : >"$file"
done
NOTES=$(windows "$scratch/notes")
export NOTES
code=0
wine "$place/slipstream-cli.exe" infer 'a b' || code=$?
[ "$code" = 7 ] || fail "the launcher ended with $code, its Python with 7"
wine "$place/slipstream.exe" 'C:\mö dels\x.gguf' || fail "the window's launcher failed"
wineserver -w
grep -q 'ü\\python\\python.exe" -m app infer "a b"' "$scratch/notes" || fail "asked for: $(cat "$scratch/notes")"
grep -q 'ü\\python\\pythonw.exe" -m app .*mö dels.x.gguf' "$scratch/notes" || fail "asked for: $(cat "$scratch/notes")"
wine reg query 'HKCU\Software\Classes\Slipstream.gguf\shell\open\command' | grep -q 'slipstream.exe" "%1"' ||
    fail "files are not associated"
install 2.0
stays "an upgrade"
install 1.0
stays "going back"
rm "$place/python/python.exe"
if wine "$place/slipstream-cli.exe" 2>"$scratch/said"; then fail "a launcher without its Python is content"; fi
grep -q "not complete" "$scratch/said" || fail "a launcher without its Python says: $(cat "$scratch/said")"
wine "$place/unins000.exe" /VERYSILENT /SUPPRESSMSGBOXES || fail "it was not uninstalled"
wineserver -w
stays "uninstalling"
for name in slipstream.exe python site-packages; do
    [ ! -e "$place/$name" ] || fail "$name is left"
done
! wine reg query 'HKCU\Software\Classes\Slipstream.gguf' >/dev/null 2>&1 || fail "the association is left"
printf 'installer: all is well\n'
