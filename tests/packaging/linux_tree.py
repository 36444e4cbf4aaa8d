"""A frozen tree in small, enough to be packed: a program of this system, a link, and the records."""

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINUX = ROOT / "packaging" / "linux"
COMMITTED = "2026-11-22T12:00:00Z"


def make_tree(folder: Path, version: str = "1.2.0") -> Path:
    bundle = folder / "_internal" / "gpudesk" / "_bundled"
    bundle.mkdir(parents=True)
    # What it does does not matter: packing looks at its libraries alone.
    shutil.copy("/bin/true", folder / "gpudesk")
    (folder / "_internal" / "data.txt").write_text("data\n", encoding="utf-8")
    (folder / "_internal" / "other-name.txt").symlink_to("data.txt")
    (folder / "THIRD_PARTY_NOTICES.txt").write_text("Notices\n", encoding="utf-8")
    (bundle / "build.json").write_text(
        json.dumps({"version": version, "commit": "0" * 40, "committed": COMMITTED}), encoding="utf-8"
    )
    parts = [
        {"name": "GPU Desk", "version": version, "license": "Apache-2.0"},
        {"name": "Desk Lamp", "version": "7", "license": "MIT OR Zlib", "copyright": ["2001 Lamp makers"]},
        {"name": "Starter", "version": "6", "license": "GPL-2.0-or-later WITH Bootloader-exception"},
    ]
    (bundle / "parts.json").write_text(json.dumps(parts), encoding="utf-8")
    return folder


def make_icons(folder: Path) -> Path:
    folder.mkdir()
    for name in ("gpudesk", "gpudesk-scenario", "gpudesk-pack"):
        (folder / f"{name}.svg").write_text("<svg/>", encoding="utf-8")
        for size in (16, 22, 24, 32, 48, 64, 128, 256, 512):
            (folder / f"{name}-{size}.png").write_bytes(b"png")
    return folder


def pack(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINUX / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
