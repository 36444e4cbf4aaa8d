"""Names of fields that are written as JSON: renamed, inside other records, and of all records in a list."""

from gpudesk.domain.estimate_json import encode_fields
from gpudesk.frozen_dataclass import frozen_dataclass


@frozen_dataclass
class Part:
    """One of several."""

    name: str
    size: int


@frozen_dataclass
class Whole:
    """Something with parts."""

    title: str
    first: Part | None
    parts: tuple[Part, ...] = ()


WHOLE = Whole("a whole", Part("one", 1), (Part("one", 1), Part("two", 2)))


def test_fields_can_be_renamed_and_be_those_of_records_inside() -> None:
    names = "name=title size=first.size first(called=name) parts(name size)"
    assert encode_fields(WHOLE, names) == {
        "name": "a whole",
        "size": 1,
        "first": {"called": "one"},
        "parts": [{"name": "one", "size": 1}, {"name": "two", "size": 2}],
    }


def test_a_missing_record_and_what_is_inside_it_are_null() -> None:
    expected: dict[str, object] = {"size": None, "first": None, "parts": []}
    assert encode_fields(Whole("empty", None), "size=first.size first(name) parts(name)") == expected
