"""Where a term of a working comes from, in words: a claim of the catalog, a constant, a setting, the user.

The sources of terms are written `catalog:THING/ATTRIBUTE`, `calibration:CONSTANT`,
`setting:SERVING_ENGINE/FIELD`, `link:KIND`, or `scenario`.
"""

from __future__ import annotations

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Attribute
from gpudesk.domain.messages import InputError
from gpudesk.engine.constants import Calibration
from gpudesk.text import tr

#: The attribute whose source stands for all dimensions of a model.
_DIMENSION = "hidden_size"


def source_text(source: str, catalog: Catalog, calibration: Calibration) -> str:
    """Return the source in words."""
    kind, _, rest = source.partition(":")
    if kind == "catalog":
        return _claim_text(rest, catalog)
    if kind == "calibration":
        constant = calibration.constants.get(rest)
        meaning = rest.replace("_", " ") if constant is None else constant.meaning
        return tr("calibration: {meaning}", meaning=meaning)
    if kind == "setting":
        engine, _, field = rest.partition("/")
        name = catalog.serving_engine(engine).name
        return tr("setting of {engine}: {field}", engine=name, field=field.replace("_", " "))
    if kind == "link":
        return tr("link: {kind}", kind=rest)
    return tr("scenario") if kind == "scenario" else source


def _claim_text(path: str, catalog: Catalog) -> str:
    """Return publisher and date of the preferred claim of `THING/ATTRIBUTE`, or of a model's dimensions."""
    thing, _, name = path.partition("/")
    attribute = _attribute(thing, name or _DIMENSION, catalog)
    claim = None if attribute is None else attribute.preferred
    if claim is None:
        return path
    words = (claim.source.publisher, claim.source.title, claim.source.date)
    return ", ".join(word for word in words if word)


def _attribute(thing: str, name: str, catalog: Catalog) -> Attribute | None:
    """Return the attribute, or the first of a family: `peak_dense` stands for that of any precision."""
    try:
        attributes = catalog.attributes(thing)
    except InputError:
        return None
    same = (attribute for attribute in attributes if attribute.name == name)
    family = (attribute for attribute in attributes if attribute.name.startswith(f"{name}_"))
    return next(same, None) or next(family, None)
