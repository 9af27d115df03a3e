"""A run to play in a notebook or a page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from schedproof.model.errors import require
from schedproof.model.lang import Model
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.notebook import InNotebook
from schedproof.model.registry.errors import require_known
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verdict import Counterexample
from schedproof.proofs.verification.findings import property_of

from .data import About
from .page import page


@dataclass(frozen=True)
class Player(InNotebook):
    """The player of a run, as the last value of a notebook's cell.

    Attributes:
        title: the title of the run.
        page: the page of HTML that plays it.
        height: in pixels.

    Raises:
        ArgumentError: an attribute is of another type.
    """

    title: str
    page: str
    height: int

    def __post_init__(self) -> None:
        require("title", self.title, str, "the title of the run")
        require("page", self.page, str, "the page of a run, as Run.page gives it")
        require("height", self.height, int, "its pixels, for example height=800")

    @property
    def _in_words(self) -> str:
        return self.title

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid"></iframe>'
        )


@dataclass(frozen=True)
class Run(InNotebook):
    """A counterexample together with its model, so that it can be played.

    Attributes:
        model: the model of the run.
        counterexample: the run.
        property_name: the name of the property that it violates; "" for none.

    Raises:
        ArgumentError: an attribute is of another type.
        ModelError: the model contradicts itself.
        UserError: the model has no such property.
    """

    model: Model
    counterexample: Counterexample
    property_name: str = ""

    def __post_init__(self) -> None:
        model = checked(self.model)
        require("counterexample", self.counterexample, Counterexample, "the counterexample of a refuted result")
        require("property_name", self.property_name, str, "the name of the property that the run violates")
        if self.property_name:
            known = [WELL_FORMED, *(each.name for each in model.properties)]
            of = f"{model.system} {model.variant}"
            require_known("property_name", "property", [self.property_name], known, of=of)

    def page(self) -> str:
        """The page of HTML that plays the run, as ``schedproof explain --html`` writes it.

        Raises:
            DiagramError: the counterexample is not a run from the initial state, or is too long for a page.
        """
        prop = property_of(self.model, self.property_name) if self.property_name else None
        about = About(self._title)
        if prop is not None:
            about = About(self._title, "", prop.says, prop.line, prop.sentence)
        return page(self.model, self.counterexample, about, prop)

    def show(self, height: int = 800) -> Player:
        """The player, which a notebook shows as the last value of a cell.

        Args:
            height: in pixels.

        Raises:
            ArgumentError: ``height`` is not an integer.
            DiagramError: the counterexample is not a run from the initial state, or is too long for a page.
        """
        return Player(self._title, self.page(), height)

    @property
    def _title(self) -> str:
        return " ".join(filter(None, [self.property_name, f"({self.model.system} {self.model.variant})"]))

    @property
    def _in_words(self) -> str:
        return "\n".join([self._title, *counterexample_lines(self.model, self.counterexample)])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._in_words)}</pre>"
