"""Record what a state of the program produces: `python -m tests.parity.record OUT [--tree DIR] [--quick]`.

Each case becomes a JSON file of what was said and written, `index.json` holds their hashes, and `desk/` the
pictures and texts of the window. `python -m tests.parity.compare` puts two recordings side by side.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.parity.case import Case
from tests.parity.cases import all_cases
from tests.parity.environment import DATA, ROOT, Places, run_command, surround
from tests.parity.readers import as_text, read_back

_Task = tuple[Case, Path, Path]


def main(arguments: Sequence[str] | None = None) -> int:
    """Record a tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder, emptied first")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout; this one if omitted")
    parser.add_argument("--quick", action="store_true", help="some of the cases, and no pictures")
    parser.add_argument("--no-desk", action="store_true", help="nothing of the window")
    parser.add_argument("--only", default="", help="cases whose names begin with this")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    out, tree = options.out.resolve(), options.tree.resolve()
    if not (tree / "build" / "catalog.sqlite").exists():
        raise SystemExit(f"{tree} has no build/catalog.sqlite; make it there first")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    began = time.monotonic()
    cases = [case for case in all_cases() if case.name.startswith(options.only) and (case.quick or not options.quick)]
    hashes = _record_cases(cases, tree, out, options.workers)
    if not (options.quick or options.no_desk or options.only):
        _record_desk(tree, out / "desk")
    kind = "quick" if options.quick else "without the window" if options.no_desk else "whole"
    (out / "index.json").write_text(as_text({"kind": kind, "only": options.only, "cases": hashes}))
    print(f"{out}: {len(hashes)} cases in {time.monotonic() - began:.0f} s")
    return 0


def _record_cases(cases: Sequence[Case], tree: Path, out: Path, workers: int) -> dict[str, str]:
    context = multiprocessing.get_context("spawn")
    # The program's own modules and Qt are loaded once a worker.
    with ProcessPoolExecutor(workers, context, surround, (tree,)) as pool:
        tasks = [(case, tree, out) for case in cases]
        recorded_cases = pool.map(_record_case, tasks, chunksize=4)
        return dict(sorted(zip((case.name for case in cases), recorded_cases, strict=True)))


def _record_case(task: _Task) -> str:
    """Run one case, write what came of it, and return its hash."""
    case, tree, out = task
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        work.mkdir()
        _lay_files(case, home, work)
        places = Places(home=home, work=work, tree=tree, data=DATA, python=Path(sys.executable).parent)
        os.environ["GPUDESK_HOME"] = str(home)
        pictures = out / "pages" / case.name
        # Commands name files next to them, and the tree must not get any.
        os.chdir(work)
        steps = [_record_step(step, case, work, places, pictures) for step in case.steps]
        os.chdir(out)
    text = as_text({"case": case.name, "steps": steps})
    target = out / "cases" / f"{case.name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def _lay_files(case: Case, home: Path, work: Path) -> None:
    for name, content in case.files.items():
        target = work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        elif content.startswith("@"):
            shutil.copyfile(DATA / content[1:], target)
        else:
            target.write_text(content, encoding="utf-8")
    for name, source in case.user_files.items():
        home.mkdir(exist_ok=True)
        shutil.copyfile(DATA / source, home / name)


def _record_step(step: Sequence[str], case: Case, work: Path, places: Places, pictures: Path) -> dict[str, Any]:
    before = _state(work)
    output = run_command([part.format(work=work, data=DATA) if "{" in part else part for part in step], case.stdin)
    after = _state(work)
    changed_paths = [path for path in after if after[path] != before.get(path)]
    return {
        "arguments": list(step),
        "code": output.code,
        "stdout": places.plain(output.out).split("\n"),
        "stderr": places.plain(output.err).split("\n"),
        "files": {
            str(path.relative_to(work)): places.plain_value(read_back(path, pictures)) for path in sorted(changed_paths)
        },
    }


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()}


def _record_desk(tree: Path, out: Path) -> None:
    """Record the window, and its start page, in processes of their own, whose loops they are."""
    command = [sys.executable, "-m", "tests.parity.desk", str(out), "--tree", str(tree)]
    for more in ([], ["--start"]):
        subprocess.run([*command, *more], cwd=ROOT, check=True)


def read_index(folder: Path) -> dict[str, Any]:
    """Return what a recording holds."""
    index: dict[str, Any] = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return index


if __name__ == "__main__":
    sys.exit(main())
