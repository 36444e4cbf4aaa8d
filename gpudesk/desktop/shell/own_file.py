"""What a window says where the file of the user's own facts cannot be used, and what it offers then."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gpudesk.desktop.shell.opening import show_folder
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow


def say_own_problem(window: MainWindow) -> None:
    """Say why the user's facts are not there, what was kept, and what can be done; nothing where they are."""
    own = window.desk.workbench.own
    if own.problem is None:
        return
    said = problem(own.problem, window.desk.formatter).rstrip(".")
    window.note.show_note(
        tr("Your own facts are not used: {problem}. Their file was not touched.", problem=said),
        [
            (tr("Show backups"), partial(show_backups, window)),
            (tr("Set the file aside and begin anew"), partial(set_file_aside, window)),
            (tr("Open folder"), partial(_open_folder, window)),
        ],
    )


def show_backups(window: MainWindow) -> None:
    """Show the backups of the user's facts."""
    from gpudesk.desktop.shell.dialogs.backups import BackupsDialog

    dialog = BackupsDialog(window.theme, window.desk.workbench.own, window.desk.formatter, window)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def set_file_aside(window: MainWindow) -> None:
    """Move a file that cannot be used out of the way, and begin with none."""
    own = window.desk.workbench.own
    try:
        place = own.set_aside()
    except InputError as error:
        said = problem(error, window.desk.formatter).rstrip(".")
        window.note.show_note(tr("Not set aside: {problem}.", problem=said))
        return
    name = "" if place is None else place.name
    text = tr("You begin with no facts of your own. The former file is kept as {name}.", name=name)
    window.note.show_note(text, [(tr("Open folder"), partial(_open_folder, window))], fault=False)


def _open_folder(window: MainWindow) -> None:
    path = window.desk.workbench.own.path
    if path is not None:
        show_folder(path.parent, window.note.show_note)
