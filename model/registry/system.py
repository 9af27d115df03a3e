"""A system: its variants, and the other parts that its manifest names, each imported at first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedproof.model.errors import require
from schedproof.model.lang import Chart, Contradiction, Flow, Model, Reading
from schedproof.model.lang.waiting import Waiting


@dataclass(frozen=True)
class LockFile:
    """A description of locks that is checked with a variant.

    Args:
        name: the prefix of the names of its checks.
        file: the path of the lock file.
        only: the name of one check of the file, which is then the only one that runs; its verdict is listed as ``name``. If it
            is empty, all checks run, each listed as ``name`` and its own name.
        refuted: that check is expected to fail.
        place: in the manifest, for messages.
    """

    name: str
    file: Path
    only: str = ""
    refuted: bool = False
    place: str = ""


@dataclass(frozen=True)
class System:
    """A system, its variants in their order, and the variant that logs are checked against.

    Args:
        name: the name, as on the command line.
        title: one line about the system.
        variants: by name.
        validated_by: the name of the variant that logs are checked against.
        load: (key, default) -> the object that the manifest names for a key, such as ``traces``, else the default.
        locks: by variant, the descriptions of locks that are checked with it.
        document_name: the name of the first variant's document, if the manifest has it.
        refuted: by variant, the properties that the manifest expects to be violated.
        stated: by variant, the place of that expectation in the manifest.
        ledger: the file with the ledger of the document; None if there is none.
        manifest: the manifest that describes it; None if there is none.
    """

    name: str
    title: str
    variants: Mapping[str, Model]
    validated_by: str
    load: Callable[[str, Any], Any] = field(default=lambda key, default: default, compare=False, repr=False)
    locks: Mapping[str, Sequence[LockFile]] = field(default_factory=dict)
    document_name: str | None = None
    refuted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stated: Mapping[str, str] = field(default_factory=dict)
    ledger: Path | None = None
    manifest: Path | None = field(default=None, compare=False)

    @staticmethod
    def of(model: Model) -> System:
        """The system of a single model without a manifest.

        Raises:
            ArgumentError: ``model`` is not a model.
        """
        require("model", model, Model, "a model, for example system.variants['as-written']")
        return System(model.system, model.about, {model.variant: model}, validated_by=model.variant)

    @property
    def base(self) -> Model:
        """The first variant."""
        return next(iter(self.variants.values()))

    @property
    def document(self) -> str:
        """The name of the first variant's document; of a model without a document, the name of its file."""
        return self.document_name or self.base.document.name

    @property
    def refinements(self) -> Sequence[Any]:
        """The implementations that are explored beside a variant, as ``Refinement`` objects."""
        return self.load("refinements", ())  # type: ignore[no-any-return]

    @property
    def replays(self) -> Mapping[str, Any]:
        """By variant, the function that replays its runs on the reference implementation."""
        return self.load("replays", {})  # type: ignore[no-any-return]

    @property
    def trace_formats(self) -> Sequence[Any]:
        """The formats of its logs, in the order in which they are tried."""
        return self.load("traces", ())  # type: ignore[no-any-return]

    @property
    def waits(self) -> Mapping[str, Waiting]:
        """By variant, the meaning of "holds" and "waits for" in wait-for graphs."""
        return self.load("wait_for", {})  # type: ignore[no-any-return]

    @property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """By sort, the events whose rows are compared between text, figures and implementation (``validated_by``)."""
        return self.load("tables", {})  # type: ignore[no-any-return]

    @property
    def flows(self) -> Mapping[str, Sequence[Flow]]:
        """By variant, which component sends which events to which."""
        return self.load("flows", {})  # type: ignore[no-any-return]

    @property
    def charts(self) -> Mapping[str, Sequence[Chart]]:
        """By variant, the charts of the document."""
        return self.load("charts", {})  # type: ignore[no-any-return]

    @property
    def contradictions(self) -> Sequence[Contradiction]:
        """The contradictions of its document that are in words only."""
        return self.load("contradictions", ())  # type: ignore[no-any-return]

    @property
    def interpretations(self) -> Sequence[Reading]:
        """The interpretations of its document on which its variants rest."""
        return self.load("interpretations", ())  # type: ignore[no-any-return]

    def interpretations_of(self, model: Model) -> list[Reading]:
        """The interpretations on which a variant rests; those that name no variant are the first one's."""
        return [each for each in self.interpretations if (each.variant or self.base.variant) == model.variant]

    def line(self, model: Model) -> list[Model]:
        """``model``, the variant that it amends, the variant that that one amends, and so on."""
        return [model, *(self.line(self.variants[model.amends]) if model.amends else ())]

    def first(self, model: Model) -> Model:
        """The variant from which ``model`` comes by amendments; ``model`` itself, if it amends none."""
        return self.line(model)[-1]


class Lazy(Mapping[str, Model]):
    """Variants by name, each loaded at first use."""

    def __init__(self, loaders: Mapping[str, Callable[[], Model]]) -> None:
        self._loaders = loaders
        self._models: dict[str, Model] = {}

    def __getitem__(self, name: str) -> Model:
        if name not in self._models:
            self._models[name] = self._loaders[name]()
        return self._models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)

    def __contains__(self, name: object) -> bool:
        return name in self._loaders
