"""The names of the model that the rules of a mapping contain: a wrong one is found before a line fits its rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.triggers import caused
from schedproof.model.registry.errors import unknown
from schedproof.proofs.traces.files.lines import Part
from schedproof.proofs.traces.files.yaml_file import YamlFile


@dataclass(frozen=True)
class _Name:
    """A name in a rule.

    Args:
        what: what it names, in words.
        name: the name.
        where: its place in the file.
        among: the names that a model has; None if they do not depend on it.
    """

    what: str
    name: str
    where: Part
    among: Callable[[Model], Collection[str] | None]

    def is_of(self, model: Model) -> bool:
        among = self.among(model)
        return among is None or self.name in among


def check_names(file: YamlFile, model: Model, others: Callable[[], Iterable[Model]]) -> None:
    """Checks the names in the rules of a mapping. A name of another variant is allowed: one mapping may serve several.

    Args:
        file: the mapping.
        model: the variant that checks the log.
        others: returns the system's variants; called only if ``model`` does not have a name.

    Raises:
        TraceError: no variant has a name.
    """
    for each in _names(file):
        if not each.is_of(model) and not any(each.is_of(other) for other in others()):
            problem = str(unknown(each.what, each.name, list(each.among(model) or ())))
            raise file.error(problem, *each.where, of_key=each.name == each.where[-1])


def _names(file: YamlFile) -> Iterator[_Name]:
    for i, rule in enumerate(file.data.get("lines", ())):
        if "records" in rule:
            for n, record in enumerate(rule["records"]):
                yield from _names_of(record, ("lines", i, "records", n))
        else:
            yield from _names_of(rule, ("lines", i))


def _names_of(record: Mapping[str, Any], where: Part) -> Iterator[_Name]:
    if isinstance(record.get("action"), str):
        yield _Name("action", record["action"], (*where, "action"), _actions)
    if isinstance(record.get("event"), str):
        yield _Name("event", record["event"], (*where, "event"), _events)
    for name in record.get("parameters", ()):
        yield _Name("parameter", name, (*where, "parameters", name), lambda model: _parameters(model, record))
    for key in ("state", "objects", "rigid"):
        for sort, content in record.get(key, {}).items():
            yield _Name("sort", sort, (*where, key, sort), _sorts)
            yield from _fields(key, sort, content, (*where, key, sort))


def _fields(key: str, sort: str, content: Any, where: Part) -> Iterator[_Name]:
    what = f"field of {sort}"
    if key == "state":
        for i, entry in enumerate(content):
            for name in entry.keys() - {"object", "each"}:
                yield _Name(what, name, (*where, i, name), lambda model: _attributes(model, sort, rigid=False))
    if key == "rigid":
        for name in content:
            yield _Name(what, name, (*where, name), lambda model: _attributes(model, sort, rigid=True))


def _actions(model: Model) -> list[str]:
    return [action.name for action in model.actions]


def _sorts(model: Model) -> list[str]:
    return [sort.name for sort in model.sorts]


def _events(model: Model) -> list[str]:
    crashes = [action.name for action in model.actions if action.crash]
    return list(dict.fromkeys([*(f"{row.sort.name}.{row.event}" for row in model.rows), *crashes]))


def _parameters(model: Model, record: Mapping[str, Any]) -> list[str] | None:
    """The parameters of the actions that a record may mean; None if a line decides which, or the model has none."""
    action, event = record.get("action"), record.get("event")
    if isinstance(action, str):
        actions = [a for a in model.actions if a.name == action]
    elif isinstance(event, str):
        sort, _, happens = event.partition(".")
        actions = [a for a in model.actions if (sort, happens) in caused(model, a.name) or a.name == event]
    else:
        actions = [a for a in model.actions if a.crash] if record.get("crash") else []
    return list(dict.fromkeys(v.name for a in actions for v in a.parameters)) if actions else None


def _attributes(model: Model, sort: str, *, rigid: bool) -> list[str] | None:
    machine = next((m for m in model.machines if m.sort.name == sort), None)
    if machine is None:
        return None
    names = [a.name for a in machine.attributes if a.rigid == rigid and not a.history]
    return names if rigid or not machine.states else ["state", *names]
