"""The wish for separate pools as JSON states it: true, or an object with what is fixed of each pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpudesk.domain.deployments import Disaggregation, PoolWish
from gpudesk.workbench.fields import Check, boolean, unknown_field, wrong_type

_POOLS: Final = ("prefill", "decode")
_FIELDS: Final = ("count", "tp", "pp", "ep", "dp", "attention_dp")


def pools_check(degree: Check) -> Check:
    """Return the check of `disaggregated`, of which counts and degrees are checked by `degree`.

    True leaves split and plans to the program; false is the same as nothing.
    """
    checks: dict[str, Check] = {**dict.fromkeys(_FIELDS, degree), "attention_dp": boolean}

    def pool(where: str, value: object) -> PoolWish:
        return PoolWish(**_checked(where, value, checks))

    def check(where: str, value: object) -> Disaggregation | None:
        if type(value) is bool:
            return Disaggregation() if value else None
        if type(value) is not dict:
            raise wrong_type(where, value, "boolean_or_object")
        return Disaggregation(**_checked(where, value, dict.fromkeys(_POOLS, pool)))

    return check


def _checked(where: str, value: object, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the checked values of an object; null equals omitted."""
    if not isinstance(value, dict):
        raise wrong_type(where, value, "object")
    stated: dict[str, Any] = {}
    for name, given in value.items():
        if name not in checks:
            raise unknown_field(where, name, checks)
        if given is not None:
            stated[name] = checks[name](f"{where}.{name}", given)
    return stated


def pools_field(wish: Disaggregation | None) -> bool | dict[str, dict[str, int | bool]] | None:
    """Return the wish as JSON states it; None where there is none."""
    if wish is None:
        return None
    pools = {name: _stated(getattr(wish, name)) for name in _POOLS}
    return {name: fields for name, fields in pools.items() if fields} or True


def _stated(wish: PoolWish) -> dict[str, int | bool]:
    return {name: value for name in _FIELDS if (value := getattr(wish, name)) is not None}
