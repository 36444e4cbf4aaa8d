"""Whether the engine computes what it was tested with, and what nobody needs this program to know."""

from __future__ import annotations

from typing import Any, Final

from gpudesk import paths
from gpudesk.cli.commands.self_test.found import FailedError, Found, opened
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr, trn

#: Llama 3.1 70B in 16 bits: 70,553,706,496 parameters of 2 bytes.
_WEIGHTS_70B: Final = 141_107_412_992
#: H200 reads those weights at 4.8 TB/s for each token, so one stream cannot be faster than this.
_CEILING_H200: Final = 34.3
_CEILING_MI325X: Final = 42.9


def check_golden() -> Found:
    """Known questions get the answers that they got when the program was made."""
    from gpudesk.workbench.golden import GOLDEN, differences, read_golden

    golden = read_golden(paths.resource(GOLDEN))
    with opened() as workbench:
        found = [(case, each) for case in golden.cases for each in differences(case, workbench.estimate)]
    if found:
        case, first = found[0]
        raise FailedError(
            tr(
                "{n} of {total} questions have other answers; {question}: {field} is {found}, not {expected}",
                n=len({case.name for case, _ in found}),
                total=len(golden.cases),
                question=case.name,
                field=first.field,
                found=first.found,
                expected=first.expected,
            )
        )
    return Found(
        trn("{n} question answered as expected", "{n} questions answered as expected", len(golden.cases))
    )


def check_memory() -> Found:
    """The weights of a model whose size is published, on a part that holds them."""
    from gpudesk.workbench.requests import parse_request

    with opened() as workbench:
        small = workbench.estimate(parse_request(_request("h200-sxm", "llama-3.1-70b")))
        large = workbench.estimate(parse_request(_request("h200-sxm", "llama-3.1-405b")))
    if small.memory.weights_bytes != _WEIGHTS_70B:
        raise FailedError(tr("70B takes {n} bytes", n=Formatter().count(small.memory.weights_bytes)))
    if not small.fits or large.fits:
        raise FailedError(tr("70B must fit one H200 and 405B must not"))
    return Found(tr("70B takes {n} bytes", n=Formatter().count(_WEIGHTS_70B)))


def check_speed() -> Found:
    """One stream cannot be faster than its weights are read."""
    from gpudesk.workbench.requests import parse_request

    found = []
    with opened() as workbench:
        for accelerator, ceiling in (("h200-sxm", _CEILING_H200), ("mi325x", _CEILING_MI325X)):
            estimate = workbench.estimate(parse_request(_request(accelerator, "llama-3.1-70b")))
            rate = estimate.output_tokens_per_s
            if rate is None or not 0 < rate.low <= rate.value < ceiling:
                raise FailedError(
                    tr("{accelerator}: no rate below {n} tok/s", accelerator=accelerator, n=ceiling)
                )
            found.append(f"{accelerator} {rate.value:.1f} < {ceiling}")
    return Found(tr("{rates} tok/s", rates=", ".join(found)))


def _request(accelerator: str, model: str) -> dict[str, Any]:
    return {
        "accelerator": accelerator,
        "model": model,
        "weights": "fp16",
        "input_tokens": 128,
        "output_tokens": 128,
        "load": {"batch": 1},
        "count": 1,
    }
