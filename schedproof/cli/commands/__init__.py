"""The commands, one module each; a module is imported when its command runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import click


@dataclass(frozen=True)
class Command:
    """Where a command is, and what it does: the first sentence of its help."""

    module: str
    function: str
    does: str

    def load(self) -> click.Command:
        """The command, imported."""
        command: click.Command = getattr(import_module(f"{__name__}.{self.module}"), self.function)
        return command


COMMANDS: Mapping[str, Command] = {
    "verify": Command("verify", "verify", "Check every property, and compare each verdict with the expected one."),
    "prove": Command("prove", "prove", "Prove properties by induction, for any number of objects."),
    "strengthen": Command("strengthen", "strengthen", "Infer auxiliary invariants that make properties provable for any number of objects."),
    "explore": Command("explore", "explore", "Explore every reachable state at a scope, and check every property."),
    "simulate": Command("simulate", "simulate", "Take random walks, and report the properties that they violate."),
    "profile": Command("profile", "profile", "Measure the cost of each action and rule in an exploration."),
    "export": Command("export", "export", "Translate a model at a scope to Promela (SPIN) or TLA+ (TLC)."),
    "validate": Command("validate", "validate", "Validate a log of a real scheduler against a model."),
    "diagram": Command("diagram", "draw", "Draw state machines, triggers, message flows, lock orders and deadlocks."),
    "findings": Command("findings", "findings", "List what documents get wrong: each defect, its clearest run, its repair."),
    "report": Command("report", "report", "Write verdicts, runs, findings, documents and pictures as pages of HTML."),
    "coverage": Command("coverage", "coverage", "Show what became of each sentence of a document."),
    "explain": Command("explain", "explain", "Show the counterexample of a property, or the shortest run to a state."),
    "diff": Command("diff", "diff", "Compare two variants of a system, element by element."),
    "list": Command("listing", "listing", "List the systems, or what the variants of one system consist of."),
    "table": Command("table", "outcomes", "Print the state x event matrix of a machine."),
    "locks": Command("locks", "locks", "Check a description of locks and threads for deadlocks."),
    "generate": Command("generate", "generate", "Generate test sequences that cover a model."),
    "init": Command("init", "init", "Create a small working model with a manifest, a log and a test."),
    "serve": Command("serve", "serve", "Validate records while they arrive, over HTTP or JSON-RPC."),
}  # fmt: skip
"""By name; the first ones first, where a reader asks what there is."""
