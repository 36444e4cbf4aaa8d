"""The sentences of what stands beside a recommendation: exports, software, references, steps, the watch list.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BESIDE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Their data files
        "beside.twice": "has {id} twice; keep one",
        "beside.no_files": "has no data files; restore the folder",
        "beside.no_rule": "names {id}, which it does not have",
        "beside.unread": "does not say where {name} was read; name the place",
        "beside.condition": "has a condition that cannot be read: {reason}",
        "beside.form": "has a value that is not of the form of {signal}",
        # Export control
        "export.above": "{kind} {value} is at or above {limit}",
        "export.below": "{kind} {value} is below {limit}",
        "export.unknown": "{kind} is not known; the limit is {limit}",
        "export.met": "{rule}: the figures are those that it describes ({lines})",
        "export.not_met": "{rule}: the figures are not those that it describes",
        "export.unsettled": "{rule}: it cannot be told, since a figure is missing ({lines})",
        "export.no_figure": "{rule}: no score is held against it",
        "export.no_peak": "No dense peak of {accelerator} is known, so it has no score",
        "export.left_out": "Not in the score, as it is not settled how many of their bits count: {formats}",
        "export.announced": "{accelerator} is announced: its peaks are what the vendor says beforehand",
        "export.no_density": "Performance density takes the area of the dies, which the catalog does not "
        "have; it is not guessed",
        "export.refused": "Statement {statement} puts {accelerator} below the threshold; refused in "
        "{dispute}: {peak} TFLOPS × {bits} bits = {score}, and the threshold is {limit}",
        "export.destination": "What {destination} means for a licence depends on country groups, on who "
        "receives and uses the part and for what; none of that is judged here",
        "export.read": "Rules as they were read on {date}; what came later is not among them",
        "export.verify": "This is arithmetic with published peaks, and no legal advice: check the rule that "
        "is in force, and ask counsel, before anything is shipped",
        # The watch list
        "watch.step.note": "Note on the watch list: {signal}",
        "watch.step.remove": "Remove from the watch list: {signal}",
        "watch.no_note": "there is no note of yours on {signal}",
        "watch.no_source": "a note needs a source; say where you found it",
        "watch.no_date": "a note needs a date; say of when it is",
    }
)

BESIDE_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "export.tpp": "Total processing performance",
        "export.density": "Performance density",
        "export.memory_bandwidth": "Memory bandwidth",
        "support.none": "not supported",
        "support.community": "by the community",
        "support.lags": "behind",
        "support.works": "works",
        "support.validated": "validated",
        "support.first-class": "first-class",
        "support.full": "full",
    }
)

BESIDE_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
