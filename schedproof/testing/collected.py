"""The items that ``pytest --schedproof`` collects: a manifest's systems, their variants, a test for each property."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import Model
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.importing import blamed
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verdict import Disagreement, Verdict
from schedproof.proofs.verification.properties import check_expectations, properties_of
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport, verify_variant


class ManifestFile(pytest.File):
    """The collector of a ``schedproof.toml``."""

    def collect(self) -> Iterable[SystemNode]:
        """The systems of the manifest.

        Raises:
            CollectError: the file is not a valid manifest.
        """
        try:
            entries = read(self.path)
        except UserError as error:
            raise self.CollectError(str(error)) from None
        for name in entries:
            yield SystemNode.from_parent(self, name=name)


class SystemNode(pytest.Collector):
    """The collector of one system of a manifest."""

    def collect(self) -> Iterable[VariantNode]:
        """The variants of the system.

        Raises:
            CollectError: a model cannot be loaded.
        """
        assert isinstance(self.parent, ManifestFile)
        try:
            system = load(read(self.parent.path)[self.name])
            check_expectations(system)
            variants = list(system.variants.items())
        except UserError as error:
            raise self.CollectError("\n".join(filter(None, [str(error), error.excerpt]))) from None
        for name, model in variants:
            yield VariantNode.from_parent(self, name=name, system=system, model=model)


class VariantNode(pytest.Collector):
    """The collector of one variant, which is checked once, when its first test runs."""

    def __init__(self, *, system: System, model: Model, **rest: Any) -> None:
        super().__init__(**rest)
        self.system, self.model = system, model

    def collect(self) -> Iterable[PropertyItem]:
        """One test for each property."""
        try:
            properties = properties_of(self.system, self.model)
        except UserError as error:
            raise self.CollectError(str(error)) from None
        for prop in properties:
            item = PropertyItem.from_parent(self, name=prop.name)
            if self.config.pluginmanager.hasplugin("xdist"):
                # The variant's properties are checked together; with --dist loadgroup one worker does them all.
                item.add_marker(pytest.mark.xdist_group(f"{self.model.system} {self.model.variant}"))
            yield item

    @cached_property
    def report(self) -> VariantReport | str:
        """The verdicts on the selected properties of the variant, or the reason why there are none."""
        selected = [item.name for item in self.session.items if item.parent is self]
        everything = len(selected) == len(properties_of(self.system, self.model))
        try:
            return verify_variant(self.system, self.model, only=() if everything else selected)
        except Disagreement as error:
            return f"{self.model.system} {self.model.variant}: two engines disagree: {error}"
        except Exception as error:  # for example from a function of the model; one report for all tests
            user_error = blamed(self._manifest.parent, error)
            why = str(user_error) if user_error is not None else "".join(traceback.format_exception(error))
            return f"{self.model.system} {self.model.variant}: {why}"

    @property
    def _manifest(self) -> Path:
        manifest = self.getparent(ManifestFile)
        assert manifest is not None
        return manifest.path


class PropertyItem(pytest.Item):
    """The test of one property of one variant."""

    @property
    def variant(self) -> VariantNode:
        """The variant that the property belongs to."""
        assert isinstance(self.parent, VariantNode)
        return self.parent

    def setup(self) -> None:
        """Checks the property. The test errors if the property cannot be checked or is vacuous."""
        if isinstance(self.variant.report, str):
            pytest.fail(self.variant.report, pytrace=False)
        if self._checked.result.vacuous:
            pytest.fail(f"{self._head()}\nA property whose premise is never true says nothing: mend it.", pytrace=False)

    def runtest(self) -> None:
        """Compares the verdict with the expected one. An undetermined property always fails."""
        if self._checked.as_expected:
            return
        result = self._checked.result
        lines = [self._head()]
        if result.counterexample is not None:
            lines += counterexample_lines(self.variant.model, result.counterexample)
        elif result.verdict is Verdict.PROVED:
            lines.append(
                f"It holds: take {self.name!r} out of what {self.variant.name} is expected to break (refuted)."
            )
        pytest.fail("\n".join(lines), pytrace=False)

    @property
    def _checked(self) -> CheckedProperty:
        report = self.variant.report
        assert isinstance(report, VariantReport)
        return next(checked for checked in report.properties if checked.result.name == self.name)

    def _head(self) -> str:
        model, prop = (
            self.variant.model,
            next(p for p in properties_of(self.variant.system, self.variant.model) if p.name == self.name),
        )
        reach = f"{self._checked.reach}, expected {self._checked.expected}"
        return f"{model.system} {model.variant} {self.name}: {reach}\nProperty: {prop.says}."

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place at which the model states the property."""
        prop = next(p for p in properties_of(self.variant.system, self.variant.model) if p.name == self.name)
        place = prop.place if prop in list(self.variant.model.properties) else self.variant.model.place
        return Path(place.file), place.line - 1, f"{self.variant.model.system} {self.variant.name} {self.name}"
