"""The sentences of guided decisions.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DECIDE_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "decide.flipping": "Looking for what would change it",
        "rules.twice": "rule {rule} is there twice; restore the file",
        "rules.none": "holds no rules; restore the files",
        "rules.condition": "has a condition that cannot be read: {reason}",
        "rules.entry": "is no rule: {reason}; restore the file",
        "rules.question": "asks {name}, which is no question",
        "decide.number": "{given} is neither a number nor {allowed}",
        "decide.too_many": "has more than {most} entries; leave some out",
        "decide.unknown_rule": "{given} is no rule; the closest: {near}",
        "decide.weight": "{given} states no weight; write it as D000-03=2",
        "decide.no_answers": "is no JSON object of answers to the questions of `decide --list-questions`",
        "decide.too_large": "is larger than {most}, so it holds no answers",
        "decide.answer": "{given} states no answer; write it as priority=cost",
    }
)

DECIDE_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

DECIDE_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
