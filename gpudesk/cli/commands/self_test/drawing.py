"""Whether Qt draws: icons, fonts, the window with its pages, and the plug-ins for a real screen."""

from __future__ import annotations

from gpudesk import paths
from gpudesk.cli.commands.self_test.found import FailedError, Found, fail_for, listed, opened
from gpudesk.text import tr, trn

#: What the names of Wayland's libraries begin with.
_WAYLANDS = "libwayland-"


def begin() -> str | None:
    """Begin Qt without a screen, before anything else does otherwise; return why it cannot be, or None."""
    try:
        from gpudesk.desktop.self_check import begin
    except ImportError as error:
        return tr("Qt cannot be loaded ({reason})", reason=error)
    except OSError as error:
        # Of a library that is gone, another may miss its folder.
        return tr("the program cannot be loaded ({reason})", reason=error)
    try:
        return begin()
    except paths.MissingFileError as error:
        return str(error)


def _need_qt() -> None:
    problem = begin()
    if problem is not None:
        raise FailedError(problem)


def check_icons() -> Found:
    """Something can be seen of every icon."""
    _need_qt()
    from gpudesk.desktop.self_check import check_icons

    count, faults = check_icons()
    fail_for(faults)
    return Found(trn("{n} icon drawn", "{n} icons drawn", count))


def check_fonts() -> Found:
    """The program's own font is the one that letters are set in."""
    _need_qt()
    from gpudesk.desktop.self_check import check_fonts

    fail_for(check_fonts())
    return Found(tr("three weights, digits of one width, all signs"))


def check_window() -> Found:
    """The main window shows the sample on every page."""
    _need_qt()
    from gpudesk.desktop.self_check import check_window
    from gpudesk.workbench.templates import SAMPLE

    with opened() as workbench:
        drawn, faults = check_window(workbench, SAMPLE)
    fail_for(faults)
    return Found(trn("{n} page drawn", "{n} pages drawn", len(drawn)))


def check_display() -> Found:
    """What Qt needs to draw on a real screen can be loaded; of several ways one is enough."""
    _need_qt()
    from gpudesk.desktop.self_check import check_display

    usable, faults = check_display()
    if not usable:
        fail_for(faults)
    said = ", ".join(usable)
    if not faults:
        return Found(said)
    # The libraries of Wayland are the system's, and a system without Wayland is in order.
    doubt = not all(_WAYLANDS in fault for fault in faults)
    return Found(tr("{usable}; not usable: {faults}", usable=said, faults=listed(faults, "; ")), doubt=doubt)
