"""Whether the catalog, the calibration and the user's own file are whole."""

from __future__ import annotations

import os

from gpudesk import paths
from gpudesk.cli.commands.self_test.found import FailedError, Found, opened
from gpudesk.text import tr, trn


def check_catalog() -> Found:
    """SQLite finds the file whole, and every row in it hangs together and is the one that was built."""
    from gpudesk.sentences import sentence

    with opened() as workbench:
        findings = workbench.verify()
        if findings:
            said = sentence(findings[0].problem)
            raise FailedError(f"{findings[0].where}: {said}" if findings[0].where else said)
        catalog = workbench.catalog
        return Found(
            tr(
                "{accelerators} accelerators, {models} models, of {date}, revision {revision}",
                accelerators=len(catalog.accelerators()),
                models=len(catalog.models()),
                date=catalog.data_date,
                revision=catalog.shipped_revision[:8],
            )
        )


def check_calibration() -> Found:
    """The fitted constants can be read."""
    with opened() as workbench:
        calibration = workbench.calibration
        return Found(
            tr(
                "{n} constants, to {month}, revision {revision}",
                n=len(calibration.constants),
                month=calibration.newest_month,
                revision=calibration.revision[:8],
            )
        )


def check_own_file() -> Found:
    """The user's file opens; where it does not, the program is none the worse, and it is said whose it is."""
    from gpudesk.sentences import problem
    from gpudesk.workbench.own_catalog import OwnCatalog

    path = paths.user_catalog_path()
    own = OwnCatalog(path, lambda *_: None)
    try:
        if own.problem is not None:
            said = problem(own.problem).rstrip(".")
            said = tr("your file cannot be used, which leaves the rest as it is: {problem}", problem=said)
            return Found(said, doubt=True)
        if not os.access(path, os.F_OK):
            return Found(tr("none yet"))
        return Found(trn("{n} fact in your file", "{n} facts in your file", len(own.facts)))
    finally:
        own.close()
