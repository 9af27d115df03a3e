"""The systems that schedproof models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .hived import AS_WRITTEN, REPAIRED
from .lang import Model


@dataclass(frozen=True)
class System:
    """A system, its variants in the order of their making, and the one that the oracle judges by."""

    name: str
    title: str
    variants: Mapping[str, Model]
    judged_by: str

    @property
    def base(self) -> Model:
        """The first variant: what the others are compared with."""
        return next(iter(self.variants.values()))


HIVED = System(
    "hived",
    "HiveD: pod groups and cells",
    {model.variant: model for model in (AS_WRITTEN, REPAIRED)},
    judged_by="as-written",
)

SYSTEMS: Mapping[str, System] = {system.name: system for system in (HIVED,)}
