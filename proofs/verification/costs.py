"""What a change costs: what it adds, replaces, drops and weakens, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schedproof.model.lang import Action, Change, Model, Property, Row, Rule

MOST_NAMES = 4
"""How many of the elements that a repair drops are named, unless all are asked for."""


def cost(base: Model, change: Change, *, most: int | None = None) -> str:
    """What a change adds, replaces, drops and weakens, in words.

    Args:
        base: the variant that the change amends.
        change: the change.
        most: how many of the names that it drops are listed; None means all.
    """
    kinds = {Row: "row", Action: "action", Rule: "rule"}
    known = {(type(each), each.name) for each in base.elements}
    new: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    for element in change.adds:
        if isinstance(element, Property):
            continue
        (replaced if (type(element), element.name) in known else new)[kinds[type(element)]] += 1
    elements = {each.name for each in base.elements if not isinstance(each, Property)}
    dropped = [name for name in change.drops if name in elements]
    parts = [
        *(f"{_many(number, kind)} more" for kind, number in new.items()),
        *(f"{_many(number, kind)} changed" for kind, number in replaced.items()),
        *([f"without {_names(dropped, most)}"] if dropped else []),
        *(f"property {name} is dropped" for name in change.drops if name not in elements and _is_property(base, name)),
        *(
            f"{name} is weakened to {', '.join(names)}" if names else f"{name} is given up"
            for name, names in change.weakens.items()
        ),
    ]
    return "; ".join(parts) or "no change of behaviour"


def _names(names: Sequence[str], most: int | None) -> str:
    """Names of elements; those of several words in quotation marks, since names of rules read like sentences."""
    shown = names if most is None or len(names) <= most + 1 else names[:most]
    listed = ", ".join(f'"{name}"' if " " in name else name for name in shown)
    return listed if len(shown) == len(names) else f"{listed} and {len(names) - len(shown)} more"


def _is_property(model: Model, name: str) -> bool:
    return any(each.name == name for each in model.properties)


def _many(number: int, kind: str) -> str:
    return f"{number} {kind}{'' if number == 1 else 's'}"
