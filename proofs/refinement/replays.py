"""Which implementations a run can be replayed on.

The generated machines take every run of every variant. A reference scheduler takes the runs of the variant that it implements,
where its model's steps are its own: HiveD's, Beaker's, YuniKorn's merged one. YuniKorn's core takes the runs of a coarser graph
(:mod:`.yunikorn.replay`). Jobmon's server and agents, and YuniKorn's core and shim together, refine their model in one direction: they
go about things in an order of their own, so a run that the model chose need not be one that they can be made to take.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.model.lang import Model
from schedproof.proofs.systems.beaker.refinement.replay import replay as on_beaker
from schedproof.proofs.systems.hived.refinement.replay import replay as on_hived
from schedproof.proofs.systems.yunikorn_merge.refinement.replay import replay as on_merged

from .replay import Replay, on_machines

SCHEDULERS: Mapping[tuple[str, str], Replay] = {
    ("hived", "repaired"): on_hived,
    ("beaker", "repaired"): on_beaker,
    ("yunikorn-merge", "merged"): on_merged,
}
"""The reference schedulers, by system and variant."""


def replays_of(model: Model) -> dict[str, Replay]:
    """The implementations that take a model's runs, each with how it is called."""
    found: dict[str, Replay] = {"the generated machines": on_machines}
    if (scheduler := SCHEDULERS.get((model.system, model.variant))) is not None:
        found["the reference scheduler"] = scheduler
    return found
