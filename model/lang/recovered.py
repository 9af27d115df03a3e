"""Derived attributes: that a property says how recovery computes each of them.

A row of a crash need not set a derived attribute, so it keeps its value. That is a claim about recovery, and a
:class:`~schedproof.model.lang.properties.Recovery` checks it. Without one, a proof rests on what nobody checks.
"""

from __future__ import annotations

from . import terms as t
from .errors import ModelError
from .infer import sort_of
from .model import Model
from .properties import Recovery


def check_recovered(model: Model) -> None:
    """Refuses a derived attribute that no Recovery of the variant computes from durable data.

    This is asked of the variants of a system. A variant that asks other properties for a while may lack its Recovery.

    Args:
        model: a checked model.

    Raises:
        ModelError: names the attribute.
    """
    computed = {
        (sort_of(model, term.of, {}), term.name)
        for prop in model.properties
        if isinstance(prop, Recovery)
        for restored in prop.restores
        for term in t.subterms(restored.what)
        if isinstance(term, t.Attr)
    }
    for machine in model.machines:
        for attribute in machine.attributes:
            if attribute.derived and (machine.sort.name, attribute.name) not in computed:
                raise ModelError(
                    f"attribute {machine.sort}.{attribute.name}",
                    attribute.place,
                    f"derived=True, and no Recovery of variant {model.variant} computes it from durable data",
                    "add it to the restores of a Recovery, or leave derived out",
                )
