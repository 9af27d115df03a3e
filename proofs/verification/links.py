"""Which contradictions are defects: those whose sentences require what a run violates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Contradiction

from .ambiguities import Ambiguity
from .defect import Defect


def linked(some: Sequence[Ambiguity], all_defects: Sequence[Defect]) -> list[Ambiguity]:
    """Ambiguities of a system; a contradiction has the name of the defect that violates most of what it names.

    Args:
        some: the ambiguities.
        all_defects: the defects of the same system.
    """
    return [replace(each, defect=_name(each, all_defects)) for each in some]


def _name(ambiguity: Ambiguity, all_defects: Sequence[Defect]) -> str:
    """The name of the defect that a contradiction is; "" for none.

    Of equals that of its own variant, then that of which the run shows it most clearly, then the first.
    """
    if not isinstance(ambiguity.about, Contradiction):
        return ""
    of_each = []
    for each in all_defects:
        places = [n for n, finding in enumerate(each.findings) if finding.property in ambiguity.hangs]
        of_each.append((len(places), ambiguity.variant in each.variants, -min(places, default=0)))
    best = max(of_each, default=(0, False, 0))
    return all_defects[of_each.index(best)].name if best[0] else ""
