"""The objects in a log of Beaker's changes: recipes, sets, systems and labs with their rigid facts.

A fact is in the header, or in the first line that names the object. It may be repeated, but only with the same value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State
from schedproof.model.systems.beaker.configurations import seating_facts
from schedproof.proofs.traces.files.lines import Line

FACTS = {"recipe": ("recipe_set", "viable", "host"), "recipe_set": (), "system": ("lab",)}
"""The facts that never change, by the key that names the object."""

HEADER_KEYS = {"recipes": "recipe", "recipe_sets": "recipe_set", "systems": "system"}
SEATED_BY = (("Recipe", "viable"), ("Recipe", "recipe_set"), ("System", "lab"))
"""The seatings of a set follow from these attributes."""

ONE_LAB = "(lab)"
"""The lab of all systems whose lab the log does not name."""


@dataclass
class ChangedObjects:
    """The objects of a log, in the order in which they are named.

    Attributes:
        objects: kind -> name -> fact -> value.
        lines: (kind, name) -> the line that names the object first.
    """

    objects: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=lambda: {"recipe": {}, "recipe_set": {}, "system": {}, "lab": {}}
    )
    lines: dict[tuple[str, str], Line] = field(default_factory=dict)
    first: defaultdict[tuple[str, str], dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    """The initial values in the header: (kind, name) -> field -> value."""

    def name(self, kind: str, name: str, line: Line) -> dict[str, Any]:
        """Returns an object's facts so far; the object is new if no line named it before."""
        self.lines.setdefault((kind, name), line)
        return self.objects[kind].setdefault(name, {})

    def learn(self, kind: str, name: str, value: Mapping[str, Any], line: Line) -> None:
        """Adds the facts in ``value``.

        Raises:
            TraceError: a fact had another value before.
        """
        known = self.name(kind, name, line)
        for fact in FACTS[kind]:
            if fact not in value:
                continue
            fact_value = sorted(value[fact]) if fact == "viable" else value[fact]
            if known.setdefault(fact, fact_value) != fact_value:
                raise line.error(
                    f"{fact} of {name} is {fact_value!r:.60}, but {known[fact]!r:.60} before; it never changes"
                )
        if kind == "recipe":
            for other in value.get("viable", ()):
                self.name("system", other, line)
            if "recipe_set" in value:
                self.name("recipe_set", value["recipe_set"], line)
            if "host" in value:
                self.name("recipe", value["host"], line)
        elif kind == "system" and "lab" in value:
            self.name("lab", value["lab"], line)

    def header(self, line: Line) -> None:
        """Adds the facts and initial values in the header."""
        for key, kind in HEADER_KEYS.items():
            for name, value in line.value.get(key, {}).items():
                self.learn(kind, name, value, line)
                self.first[kind, name] = {f: v for f, v in value.items() if f not in FACTS[kind]}

    def complete(self) -> None:
        """Fills in the facts that a log may leave out.

        Raises:
            TraceError: a required fact is missing.
        """
        recipes = self.objects["recipe"]
        for name, facts in list(recipes.items()):
            host = facts.get("host")
            if host is None and "viable" not in facts:
                raise self.lines["recipe", name].error(
                    f"the viable systems of {name} are not known; say them in the header or where it is first named"
                )
            if host is not None and (host == name or recipes[host].get("host") is not None or facts.get("viable")):
                raise self.lines["recipe", name].error(
                    f"{name} is a guest of {host}; a host is another recipe and no guest, and a guest has no viable systems"
                )
        for name, facts in recipes.items():
            host = facts.get("host")
            its = facts.setdefault("recipe_set", recipes[host].get("recipe_set") if host else None)
            its = its or f"(the set of {host or name})"
            facts["recipe_set"] = its
            self.objects["recipe_set"].setdefault(its, {})
        for name, facts in recipes.items():
            host = facts.get("host")
            if host and recipes[host]["recipe_set"] != facts["recipe_set"]:
                raise self.lines["recipe", name].error(f"{name} is a guest of {host}, but of another recipe set")
        for facts in self.objects["system"].values():
            self.objects["lab"].setdefault(facts.setdefault("lab", ONE_LAB), {})

    def instance(self, model: Model) -> Instance:
        """Returns the model with these objects; users may change all of them in every way."""
        names = {
            "Lab": list(self.objects["lab"]) or [ONE_LAB],
            "RecipeSet": list(self.objects["recipe_set"]) or ["(no set)"],
            "Recipe": list(self.objects["recipe"]) or ["(no recipe)"],
            "System": list(self.objects["system"]) or ["(no system)"],
        }
        recipes = self.objects["recipe"] or {"(no recipe)": {"recipe_set": "(no set)"}}
        systems = self.objects["system"] or {"(no system)": {"lab": names["Lab"][0]}}
        values: dict[tuple[str, str], Sequence[Any]] = {
            ("Recipe", "recipe_set"): [names["RecipeSet"].index(f["recipe_set"]) for f in recipes.values()],
            ("Recipe", "viable"): [
                frozenset(names["System"].index(s) for s in f.get("viable", ())) for f in recipes.values()
            ],
            ("Recipe", "host"): [names["Recipe"].index(f["host"]) if f.get("host") else None for f in recipes.values()],
            ("System", "lab"): [names["Lab"].index(f["lab"]) for f in systems.values()],
            ("RecipeSet", "endable"): [True] * len(names["RecipeSet"]),
            ("RecipeSet", "rankable"): [True] * len(names["RecipeSet"]),
            ("System", "adjustable"): [True] * len(names["System"]),
        }
        rigid_attributes = {(m.sort.name, a.name) for m in model.machines for a in m.attributes if a.rigid}
        if ("Seat", "seating") in rigid_attributes:
            values |= seating_facts(*(values[key] for key in SEATED_BY))
        rigid = {key: value for key, value in values.items() if key in rigid_attributes}
        sizes = {sort: len(values) for (sort, _), values in rigid.items()} | {sort: len(n) for sort, n in names.items()}
        return Instance(model, sizes, rigid, names=names)

    def start(self, instance: Instance) -> State:
        """Returns the initial state, with the initial values in the header.

        Raises:
            TraceError: a system that is not Automated is pending.
        """
        state = list(instance.initial())
        systems, sets = list(instance.object_names("System")), list(instance.object_names("RecipeSet"))
        usages = [s.name for s in instance.model.machine("System").states]
        condition = instance.model.machine("System").attribute("condition")
        assert condition is not None
        for (kind, name), facts in self.first.items():
            if kind == "recipe_set" and "priority" in facts:
                state[instance.slot("RecipeSet", "priority") + sets.index(name)] = facts["priority"]
            if kind != "system":
                continue
            automated = facts.get("condition", "Automated") == "Automated"
            usage = facts.get("usage", "pending" if automated else "idle")
            if usage == "pending" and not automated:
                raise self.lines[kind, name].error(f"{name} is pending, but {facts['condition']}; it can only be idle")
            number = systems.index(name)
            state[instance.slot("System") + number] = usages.index(usage)
            if "condition" in facts:
                state[instance.slot("System", "condition") + number] = instance.read(condition.type, facts["condition"])
        return tuple(state)
