"""The single place that knows where files are: in a checkout, an installed wheel, or a frozen program.

A wheel and a frozen program carry `gpudesk/_bundled/` with the shipped catalog, the resources and the few data files
that are read at run time. A checkout has no such folder: resources and data are read in place, and the catalog and the
compiled translations are in `build/`, made by `make catalog`.
"""

import contextlib
import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CATALOG_NAME = "catalog.sqlite"
_HELD_OUT_NAME = "accuracy/held-out.csv"
_BUILD_NAME = "build.json"
_PARTS_NAME = "parts.json"
#: A folder of this name next to a frozen program, as in the portable archive, holds the user's files.
_PORTABLE_NAME = "gpudesk-data"


class MissingFileError(FileNotFoundError):
    """A file of the program is missing; the message says what to do."""


def get_catalog_path() -> Path:
    """Return the shipped catalog, which is never written."""
    bundle = _find_bundle()
    if bundle is not None:
        return _require_path(bundle / _CATALOG_NAME, "install GPU Desk again")
    return _require_path(get_built_catalog_path(), "run `make catalog`")


def get_built_catalog_path() -> Path:
    """Return the catalog that a checkout builds from its data; it need not exist yet."""
    return _get_checkout_dir() / "build" / _CATALOG_NAME


def get_data_path(name: str) -> Path:
    """Return a file or folder of `data/` that is read at run time and not only when the catalog is built."""
    root = _find_bundle() or _get_checkout_dir()
    return _require_path(root / "data" / name, "it is part of GPU Desk: restore it")


def find_held_out_path() -> Path | None:
    """Return the held-out predictions for published runs; None if they were not generated."""
    try:
        return get_data_path(_HELD_OUT_NAME)
    except MissingFileError:
        return None


def resource(name: str) -> Path:
    """Return a file or folder of `resources/`, named by its path inside it with forward slashes."""
    return _require_path(get_resources_dir() / name, "it is part of GPU Desk: restore it")


def find_bundle_dir() -> Path | None:
    """Return the data folder of a wheel or frozen program, None in a checkout."""
    return _find_bundle()


def get_resources_dir() -> Path:
    """Return the folder `resources/`; no error if it is missing, so that the error can still be shown."""
    bundle = _find_bundle()
    root = bundle if bundle is not None else _get_checkout_dir()
    return root / "resources"


def get_translations_dir() -> Path:
    """Return the folder of compiled translations, which need not exist."""
    bundle = _find_bundle()
    return _get_checkout_dir() / "build/translations" if bundle is None else bundle / "resources/translations"


def data_dir() -> Path | None:
    """Return the folder of editable facts, which exists only in a checkout."""
    if _find_bundle() is not None:
        return None
    folder = _get_checkout_dir() / "data"
    return folder if folder.is_dir() else None


def find_build_record_path() -> Path | None:
    """Return the record of the commit that a wheel was built from; None in a checkout, which asks git."""
    return _find_bundled_file(_BUILD_NAME)


def find_parts_path() -> Path | None:
    """Return the list of components of a frozen program; None if packages are installed side by side.

    The license texts that it names are files next to it.
    """
    return _find_bundled_file(_PARTS_NAME)


def get_user_dir() -> Path:
    """Return the folder for all files of the user; it need not exist yet.

    `GPUDESK_HOME` moves it. A portable program keeps it next to the program.
    """
    home = os.environ.get("GPUDESK_HOME")
    if home:
        with contextlib.suppress(RuntimeError):
            return Path(home).expanduser().absolute()
        # If the system does not know the user, `~` is an ordinary folder name, as in the shell.
        return Path(home).absolute()
    portable = _find_portable_dir()
    if portable is not None:
        return portable
    if sys.platform == "win32":
        return _read_folder_variable("APPDATA", get_home_dir() / "AppData" / "Roaming") / "GPU Desk"
    if sys.platform == "darwin":
        return get_home_dir() / "Library" / "Application Support" / "GPU Desk"
    return _read_folder_variable("XDG_DATA_HOME", get_home_dir() / ".local" / "share") / "gpudesk"


def is_portable() -> bool:
    """Whether the user's files are next to the program, so that they move to the next machine with it."""
    return not os.environ.get("GPUDESK_HOME") and _find_portable_dir() is not None


def get_home_dir() -> Path:
    """Return the user's home; the root of the system if it has none, as in a container."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)


def ensure_user_dir() -> Path:
    """Return the user's folder, created if necessary and private; raises OSError if that fails."""
    folder = get_user_dir()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def make_private_dir(folder: Path) -> Path:
    """Return a folder, created if necessary, that other users cannot read; raises OSError if that fails."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        with contextlib.suppress(OSError):
            folder.chmod(0o700)
    return folder


def can_write_user_dir() -> bool:
    """Whether the user's folder exists or can be created, and is writable."""
    try:
        return os.access(ensure_user_dir(), os.W_OK | os.X_OK)
    except OSError:
        return False


def get_user_catalog_path() -> Path:
    """Return the user's own catalog file. It need not exist yet."""
    return get_user_dir() / _CATALOG_NAME


def get_logs_dir() -> Path:
    """Return the folder of logs and crash reports. It need not exist yet."""
    return get_user_dir() / "logs"


def ensure_logs_dir() -> Path:
    """Return the folder of logs, created if necessary and private; raises OSError if that fails."""
    ensure_user_dir()
    return make_private_dir(get_logs_dir())


def _find_bundle() -> Path | None:
    """Return the folder that a wheel or a frozen program carries, or None in a checkout."""
    unpacked = getattr(sys, "_MEIPASS", None)
    if unpacked is not None:
        return Path(unpacked) / "gpudesk" / "_bundled"
    folder = _PACKAGE / "_bundled"
    return folder if folder.is_dir() else None


def _find_bundled_file(name: str) -> Path | None:
    bundle = _find_bundle()
    path = bundle / name if bundle is not None else None
    return path if path is not None and path.exists() else None


def _find_portable_dir() -> Path | None:
    if not getattr(sys, "frozen", False):
        return None
    # An AppImage sets this variable to its own path; so does any other image, such as a terminal, for its child
    # processes.
    programs = (sys.executable, os.environ.get("APPIMAGE"))
    folders = (Path(program).absolute().parent / _PORTABLE_NAME for program in programs if program)
    return next((folder for folder in folders if folder.is_dir()), None)


def _get_checkout_dir() -> Path:
    return _PACKAGE.parent


def _read_folder_variable(variable: str, default: Path) -> Path:
    """Return the folder an environment variable names; empty or relative values count as unset."""
    folder = Path(os.environ.get(variable, ""))
    return folder if folder.is_absolute() else default


def _require_path(path: Path, remedy: str) -> Path:
    if not path.exists():
        raise MissingFileError(f"{path} is missing; {remedy}")
    return path
