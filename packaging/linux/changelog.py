"""The changelog in other formats: Debian's, and the releases of AppStream data.

    changelog.py debian VERSION SECONDS MAINTAINER < CHANGELOG.md
    changelog.py appstream VERSION SECONDS < CHANGELOG.md
    changelog.py version VERSION    as Debian writes it

Unreleased changes count as VERSION, made at SECONDS of Unix time, until the changelog has a heading of that version.
"""

import re
import sys
import textwrap
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from xml.sax.saxutils import escape

_RELEASE = re.compile(r"## \[(?P<version>[^]]+)\](?: - (?P<day>\d{4}-\d{2}-\d{2}))?")
_CHANGES = re.compile(r"### (?P<kind>.+)")
_LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
_CODE = re.compile(r"`([^`]+)`")
_UNRELEASED = "Unreleased"
_USAGE = "usage: changelog.py debian|appstream|version VERSION [SECONDS [MAINTAINER]]"


@dataclass
class Release:
    """A version, its time, and its changes by kind: Added, Changed, Fixed."""

    version: str
    time: datetime
    changes: dict[str, list[str]] = field(default_factory=dict)


def releases(text: str, version: str, release_time: datetime) -> list[Release]:
    """Read a changelog, the newest release first."""
    release_list: list[Release] = []
    items: list[str] = []
    continued = False
    for line in text.splitlines():
        heading = _RELEASE.match(line)
        kind = _CHANGES.match(line)
        if heading is not None:
            day = heading["day"]
            moment = datetime.combine(date.fromisoformat(day), time(12), UTC) if day else release_time
            name = version if heading["version"] == _UNRELEASED else heading["version"]
            release_list.append(Release(name, moment))
        elif kind is not None and release_list:
            items = release_list[-1].changes.setdefault(kind["kind"].strip(), [])
        elif line.startswith("- "):
            items.append(line[2:].strip())
        elif continued and line.startswith("  "):
            items[-1] += " " + line.strip()
        continued = line.startswith(("- ", "  ")) and bool(items)
    return _once(release_list)


def _once(release_list: list[Release]) -> list[Release]:
    """Drop the unreleased section if it is empty, or if the version has its own heading."""
    versions = [release.version for release in release_list]
    return [
        release
        for at, release in enumerate(release_list)
        if release.changes and release.version not in versions[at + 1 :]
    ]


def debian(release_list: list[Release], maintainer: str) -> str:
    """Return the changelog of the package."""
    entries = []
    for release in release_list:
        lines = [f"gpudesk ({debian_version(release.version)}) unstable; urgency=medium"]
        for kind, items in release.changes.items():
            lines += ["", f"  [ {kind} ]"]
            for item in items:
                plain = _CODE.sub(r"\1", _LINK.sub(r"\1", item))
                lines += textwrap.wrap(plain, 78, initial_indent="  * ", subsequent_indent="    ")
        lines += ["", f" -- {maintainer}  {format_datetime(release.time)}"]
        entries.append("\n".join(lines))
    return "\n\n".join(entries)


def debian_version(version: str) -> str:
    """Return a version that Debian sorts correctly before its release."""
    return re.sub(r"[._-]?(a|b|rc|dev)\.?(\d+)", r"~\1\2", version)


def appstream(release_list: list[Release]) -> str:
    """Return the element `releases` of AppStream data."""
    lines = ["  <releases>"]
    for release in release_list:
        kind = "development" if "~" in debian_version(release.version) else "stable"
        version = debian_version(release.version)
        lines += [
            f'    <release version="{version}" date="{release.time:%Y-%m-%d}" type="{kind}">',
            "      <description>",
        ]
        for heading, items in release.changes.items():
            lines += [f"        <p>{escape(heading)}</p>", "        <ul>"]
            lines += [f"          <li>{_marked_up(item)}</li>" for item in items]
            lines += ["        </ul>"]
        lines += ["      </description>", "    </release>"]
    return "\n".join([*lines, "  </releases>"])


def _marked_up(item: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(_LINK.sub(r"\1", item)))


def main(arguments: list[str]) -> int:
    """Write the requested format."""
    match arguments:
        case ["debian", version, seconds, maintainer]:
            print(debian(_read(version, seconds), maintainer))
        case ["appstream", version, seconds]:
            print(appstream(_read(version, seconds)))
        case ["version", version]:
            print(debian_version(version))
        case _:
            print("usage: changelog.py debian|appstream|version VERSION [SECONDS [MAINTAINER]]", file=sys.stderr)
            return 2
    return 0


def _read(version: str, seconds: str) -> list[Release]:
    return releases(sys.stdin.read(), version, datetime.fromtimestamp(int(seconds), UTC))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
