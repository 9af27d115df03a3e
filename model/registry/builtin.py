"""The systems that schedproof models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import Chart, Contradiction, Flow, Model, Reading
from schedproof.model.lang.waiting import Waiting
from schedproof.model.systems import beaker, hived, jobmon, yunikorn, yunikorn_merge
from schedproof.model.systems.beaker.waits import WAITS
from schedproof.model.systems.jobmon.as_written.contradictions import CONTRADICTIONS as JOBMON_CONTRADICTIONS
from schedproof.model.systems.jobmon.as_written.readings import READINGS as JOBMON_READINGS
from schedproof.model.systems.jobmon.charts import CHARTS as JOBMON_CHARTS
from schedproof.model.systems.yunikorn_merge.contradictions import CONTRADICTIONS
from schedproof.model.systems.yunikorn_merge.flows import FLOWS, MERGED_FLOWS
from schedproof.model.systems.yunikorn_merge.readings import READINGS


@dataclass(frozen=True)
class System:
    """A system, its variants in the order of their making, and the one that the oracle judges by.

    ``waits`` has, by variant, what "holds" and "waits for" mean in wait-for graphs; ``tables``, by sort, the events
    of machines of which text, figures and what runs (``judged_by``) are compared row by row; ``flows``, by variant,
    which party sends which events to which; ``charts``, by variant, the pictures of documents; ``contradictions`` are those of its document that are in words only;
    ``readings`` are of the first variant.
    """

    name: str
    title: str
    variants: Mapping[str, Model]
    judged_by: str
    waits: Mapping[str, Waiting] = field(default_factory=dict)
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    flows: Mapping[str, Sequence[Flow]] = field(default_factory=dict)
    charts: Mapping[str, Sequence[Chart]] = field(default_factory=dict)
    contradictions: Sequence[Contradiction] = ()
    readings: Sequence[Reading] = ()

    @property
    def base(self) -> Model:
        """The first variant of all."""
        return next(iter(self.variants.values()))

    def line(self, model: Model) -> list[Model]:
        """``model``, the variant that it amends, the one that this amends, and so on."""
        return [model, *(self.line(self.variants[model.amends]) if model.amends else ())]

    def first(self, model: Model) -> Model:
        """The first variant of the line of ``model``, which amends none: what the others of that line are compared with."""
        return self.line(model)[-1]


HIVED = System(
    "hived",
    "HiveD: pod groups and cells",
    {model.variant: model for model in (hived.AS_WRITTEN, hived.REPAIRED)},
    judged_by="as-written",
)

BEAKER = System(
    "beaker",
    "Beaker: event-driven scheduling of recipe sets",
    {
        model.variant: model
        for model in (
            beaker.AS_WRITTEN,
            beaker.INTERLEAVED,
            beaker.REPAIRED,
            beaker.BY_PRIORITY,
            beaker.STRICT,
            beaker.EAGER,
            beaker.BATCH,
            beaker.SHIPPED,
        )
    },
    judged_by="as-written",
    waits=WAITS,
)

YUNIKORN = System(
    "yunikorn",
    "YuniKorn: object states of core and k8shim",
    {
        model.variant: model
        for model in (
            yunikorn.AS_WRITTEN,
            yunikorn.V0_12_2,
            yunikorn.REPAIRED,
            yunikorn.PARTIES,
            yunikorn.PARTIES_REPAIRED,
        )
    },
    judged_by="v0.12.2",
    tables=yunikorn.TABLES,
)

YUNIKORN_MERGE = System(
    "yunikorn-merge",
    "YuniKorn: cache and scheduler as two copies, and merged",
    {
        model.variant: model
        for model in (yunikorn_merge.TWO_COPY, yunikorn_merge.TWO_COPY_REPAIRED, yunikorn_merge.MERGED)
    },
    judged_by="two-copy",
    flows={"two-copy": FLOWS, "merged": MERGED_FLOWS},
    contradictions=CONTRADICTIONS,
    readings=READINGS,
)

JOBMON = System(
    "jobmon",
    "Jobmon: task instances, tasks, workflow runs, workflows",
    {
        model.variant: model
        for model in (jobmon.AS_WRITTEN, jobmon.AS_WRITTEN_REPAIRED, jobmon.SHIPPED, jobmon.REPAIRED)
    },
    judged_by="shipped",
    charts=JOBMON_CHARTS,
    contradictions=JOBMON_CONTRADICTIONS,
    readings=JOBMON_READINGS,
)

SYSTEMS: Mapping[str, System] = {system.name: system for system in (HIVED, BEAKER, YUNIKORN, YUNIKORN_MERGE, JOBMON)}
