"""Makes a system of a manifest's entry. Models and other parts are imported at first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from schedproof.model.lang import Chart, Contradiction, Document, Flow, Model, ModelError, Property, Reading
from schedproof.model.lang.check import checked
from schedproof.model.lang.errors import Place
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.recovered import check_recovered
from schedproof.model.lang.waiting import Waiting

from .errors import UserError, unknown
from .importing import imported
from .manifest import Entry, VariantTable
from .system import Lazy, LockFile, System


@cache
def load(entry: Entry) -> System:
    """The system of an entry, with the expectations of the manifest about its variants.

    Raises:
        UserError: a model cannot be imported, is not a model, or contradicts the manifest. If variants name their own
            models, this is raised at the first use of the variant.
    """
    variants = _together(entry) if entry.models else Lazy(_each(entry))
    if entry.table.validated_by is not None and entry.table.validated_by not in variants:
        raise UserError(f"{entry.where('validated_by')}: {unknown('variant', entry.table.validated_by, variants)}")
    stated = {name: each.refuted for name, each in entry.variants.items() if each.refuted is not None}
    return System(
        entry.name,
        entry.title,
        variants,
        validated_by=entry.table.validated_by or next(iter(variants)),
        load=partial(_part, entry),
        locks={name: tuple(_locks(entry, name, each)) for name, each in entry.variants.items() if each.locks},
        document_name=entry.table.document,
        refuted={name: frozenset(refuted) for name, refuted in stated.items()},
        stated={name: entry.where("variants", name, "refuted") for name in stated},
        ledger=entry.path.parent / entry.table.ledger if entry.table.ledger else None,
        manifest=entry.path,
    )


def _locks(entry: Entry, name: str, variant: VariantTable) -> Iterator[LockFile]:
    for each in variant.locks:
        place = entry.where("variants", name, "locks")
        if each.refuted and not each.only:
            raise UserError(f"{place}: {each.name} has refuted, and not only; write only = CHECK, or leave refuted out")
        yield LockFile(each.name, entry.path.parent / each.file, each.only, each.refuted, place)


def _each(entry: Entry) -> Mapping[str, Callable[[], Model]]:
    """The loader of each variant."""
    return {name: partial(_variant, entry, name) for name in entry.variants}


def _variant(entry: Entry, name: str) -> Model:
    table = entry.variants[name]
    if table.model is None:
        return _only_locks(entry, name)
    keys = ("variants", name, "model")
    (model,) = _models(entry, table.model, keys, several=False)
    if model.variant != name:
        raise UserError(f"{entry.where(*keys)}: {table.model} is the variant {model.variant!r}; give both one name")
    if model.amends and model.amends not in entry.variants:
        raise UserError(
            f"{entry.where(*keys)}: {table.model} amends the variant {model.amends!r}, which the manifest does not name; name it as well"
        )
    return _expected(entry, model, name, table)


def _only_locks(entry: Entry, name: str) -> Model:
    """The model of a variant that has lock files only: it is empty."""
    return _expected(
        entry,
        Model(
            entry.name,
            name,
            entry.title,
            machines=(),
            rows=(),
            actions=(),
            rules=(),
            properties=(),
            default_scope={},
            document=Document(entry.table.document or entry.path.name, "no document but the lock files"),
            place=Place(str(entry.path), 1),
        ),
        name,
        entry.variants[name],
    )


def _together(entry: Entry) -> Mapping[str, Model]:
    """All variants of a manifest that names models, or lists of models, for the whole system."""
    models: dict[str, Model] = {}
    named = [(("variants", v, "model"), each.model) for v, each in entry.variants.items() if each.model is not None]
    for keys, text in [*((("model",), text) for text in entry.models), *named]:
        for model in _models(entry, text, keys):
            if model.variant in models:
                raise UserError(
                    f"{entry.where(*keys)}: two models are the variant {model.variant!r}; give each a name of its own"
                )
            models[model.variant] = model
    for name, table in entry.variants.items():
        if name not in models:
            raise UserError(f"{entry.where('variants')}: {unknown('variant', name, models)}")
        models[name] = _expected(entry, models[name], name, table)
    for model in models.values():
        if model.amends and model.amends not in models:
            raise UserError(
                f"{entry.where('model')}: the variant {model.variant!r} amends {model.amends!r}, which the manifest does not name; "
                "name it as well"
            )
    return models


def _models(entry: Entry, text: str, keys: tuple[str, ...], *, several: bool = True) -> Iterator[Model]:
    """The models that a reference names: one, or a list."""
    named = _object(entry, text, keys, lambda value: _is_models(value, several), "model")
    for model in [named] if isinstance(named, Model) else named:
        if model.system != entry.name:
            raise UserError(
                f"{entry.where(*keys)}: {text} is a model of the system {model.system!r}; "
                f"write [systems.{model.system}] here, or Model(system={entry.name!r}) there"
            )
        try:
            check_recovered(checked(model))
        except ModelError as error:
            problem = f"{entry.where(*keys)}: {text.partition(':')[0]} has an error: {error}"
            raise UserError(problem).with_excerpt(error.excerpt) from None
        yield model


def _is_models(value: object, several: bool = True) -> bool:
    """True for a model, or for a list of models."""
    some = isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Model) for each in value)
    return isinstance(value, Model) or (several and some)


def _object(entry: Entry, text: str, keys: tuple[str, ...], fits: Callable[[Any], bool], what: str) -> Any:
    """The object that a reference names.

    Raises:
        UserError: it does not exist, or ``fits`` refuses it.
    """
    module_name, _, name = text.partition(":")
    where = entry.where(*keys)
    module = imported(entry.folder, module_name, where)
    choices = [each for each, value in vars(module).items() if not each.startswith("_") and fits(value)]
    if not hasattr(module, name):
        listed = (
            unknown(f"object of {module_name}", name, choices)
            if choices
            else f"{module_name} does not have {name!r}; write the name of a {what} in it"
        )
        raise UserError(f"{where}: {listed}")
    named = getattr(module, name)
    if not fits(named):
        instead = f"name one of: {', '.join(choices)}" if choices else f"name a {KIND_OF_OBJECT[what]}"
        kind = "not a Model" if what == "model" else "and not what this key names"
        raise UserError(f"{where}: {text} is a {type(named).__name__}, {kind}; {instead}")
    return named


KIND_OF_OBJECT = {
    "model": "schedproof.model.lang.Model, or a list of them",
    "refinements": "list of schedproof.proofs.refinement.property.Refinement",
    "contradictions": "list of schedproof.model.lang.Contradiction",
    "interpretations": "list of schedproof.model.lang.Reading",
    "replays": "mapping: variant -> function",
    "wait_for": "mapping: variant -> schedproof.model.lang.waiting.Waiting",
    "flows": "mapping: variant -> list of schedproof.model.lang.Flow",
    "charts": "mapping: variant -> list of schedproof.model.lang.Chart",
    "tables": "mapping: sort -> set of events",
    "traces": "schedproof.proofs.traces.formats.format.Format",
}
"""The kind of object for each key, for messages."""


WORDS_OF_INTERPRETATION = {
    "question": "ask what the sentence leaves open",
    "read": "say how the model answers the question",
    "otherwise": "say the other answer",
    "why": "say why the model takes this answer",
}
"""The words that an interpretation needs, and what to write where they are missing."""


def _is_format(value: Any) -> bool:
    return all(callable(getattr(value, name, None)) for name in ("recognises", "read"))


def _all_of(kind: type) -> Callable[[Any], bool]:
    """A check: a list or tuple of objects of ``kind``."""
    return lambda value: isinstance(value, list | tuple) and all(isinstance(each, kind) for each in value)


def _by_name(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A check: a mapping from names to objects that ``fits`` accepts."""
    return lambda value: (
        isinstance(value, Mapping) and all(isinstance(name, str) and fits(each) for name, each in value.items())
    )


FITS: Mapping[str, Callable[[Any], bool]] = {
    "refinements": lambda value: _all_of(Property)(value) and all(hasattr(each, "variant") for each in value),
    "contradictions": _all_of(Contradiction),
    "interpretations": _all_of(Reading),
    "replays": _by_name(callable),
    "wait_for": _by_name(lambda each: isinstance(each, Waiting)),
    "flows": _by_name(_all_of(Flow)),
    "charts": _by_name(_all_of(Chart)),
    "tables": _by_name(lambda each: isinstance(each, set | frozenset)),
}
"""For each key the check of its object."""

OF_VARIANTS = ("replays", "wait_for", "flows", "charts")
"""The keys that name mappings from variants."""


@cache
def _cached_part(entry: Entry, key: str) -> Any:
    if key == "traces":
        return tuple(_object(entry, text, (key,), _is_format, key) for text in entry.table.traces)
    part = _object(entry, getattr(entry.table, key), (key,), FITS[key], key)
    listed = key in ("refinements", "interpretations")
    named = [each.variant for each in part] if listed else part if key in OF_VARIANTS else ()
    if key == "interpretations":
        for reading in part:
            _require_complete(reading)
    if key == "contradictions":
        for contradiction in part:
            _require_quotations(contradiction)
    variants = load(entry).variants
    for name in named:
        if name and name not in variants:
            raise UserError(f"{entry.where(key)}: {unknown('variant', name, variants)}")
    return part


def _require_complete(reading: Reading) -> None:
    """Refuses an interpretation without words, and one that names verdicts and has no change of the model with which to check that.

    Raises:
        ModelError: names the interpretation, and what to write instead.
    """
    element = f"interpretation {reading.name}"
    for key, instead in WORDS_OF_INTERPRETATION.items():
        if not getattr(reading, key).strip():
            raise ModelError(element, reading.place, f"{key} is empty", instead)
    if reading.read.strip() == reading.otherwise.strip():
        raise ModelError(
            element, reading.place, "read and otherwise are the same", "write another answer under otherwise"
        )
    for key, names in (("rests", reading.rests), ("breaks", reading.breaks)):
        if names and not reading.is_tried:
            raise ModelError(
                element,
                reading.place,
                f"{key} names {', '.join(names)}, but nothing is tried: adds and drops are empty",
                f"write what the other interpretation adds or drops, or leave {key} out",
            )
    if not reading.is_tried and not reading.untried.strip():
        raise ModelError(
            element,
            reading.place,
            "the other interpretation is not tried",
            "write what it adds or drops, or under untried why it cannot be tried",
        )


def _require_quotations(contradiction: Contradiction) -> None:
    """Refuses a contradiction that quotes nothing.

    Raises:
        ModelError: names the contradiction, and what to write instead.
    """
    if not any(words.strip() for _, words in contradiction.quotes):
        element = f"contradiction {contradiction.name}"
        raise ModelError(element, contradiction.place, "quotes nothing", "write (line, words) of each of its sentences")


def _part(entry: Entry, key: str, default: Any) -> Any:
    """The object that the manifest names for a key, imported; else the default."""
    return _cached_part(entry, key) if getattr(entry.table, key) else default


def _expected(entry: Entry, model: Model, variant: str, table: VariantTable) -> Model:
    """``model`` with the expectations of the manifest. Only a check finds out whether the properties exist and hold.

    Raises:
        UserError: the model contradicts them, or it has no such sorts.
    """
    if table.refuted is not None:
        refuted = frozenset(table.refuted)
        if model.refuted and model.refuted != refuted:
            raise UserError(
                f"{entry.where('variants', variant, 'refuted')}: {_listed(refuted)}, but the model ({model.place}) "
                f"has {_listed(model.refuted)}; leave one of the two out, or write the same"
            )
        # The model holds only expectations about its own properties, not those of checks beside the model.
        its_own = refuted & {WELL_FORMED, *(p.name for p in model.properties)}
        if its_own != model.refuted:
            model = replace(model, refuted=its_own)
    if table.scope is not None:
        from schedproof.model.semantics import ScopeError, check_scope  # few manifests have a scope

        try:
            model = replace(model, default_scope=check_scope(model, table.scope), verify_scope={})
        except ScopeError as error:
            raise UserError(f"{entry.where('variants', variant, 'scope')}: {error}") from None
    if table.bound is not None:
        from schedproof.model.lang.bounds import problem_of  # few manifests have a bound

        bound = dict(model.bound)
        for name, value in table.bound.items():
            sort, _, attribute = name.partition(".")
            if (wrong := problem_of(model, (sort, attribute), value)) is not None:
                raise UserError(f"{entry.where('variants', variant, 'bound')}: {wrong[0]}; {wrong[1]}")
            bound[sort, attribute] = value
        model = replace(model, bound=bound)
    return model


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
