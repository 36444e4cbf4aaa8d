"""Which questions of the dialogue are asked, by what is decided so far."""

from __future__ import annotations

from gpudesk.advisor import relevance
from gpudesk.domain.decisions import Decision
from gpudesk.domain.messages import Message


def why_not_asked(question: str, decision: Decision) -> Message | None:
    """Return why a question need not be asked under the answers of a decision; None where it matters."""
    return relevance.why_not_asked(question, decision.answers, decision.facts, decision.parts)
