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
        found: click.Command = getattr(import_module(f"{__name__}.{self.module}"), self.function)
        return found


COMMANDS: Mapping[str, Command] = {
    "verify": Command("verify", "verify", "Check every property of every variant, and compare with what its manifest expects."),
    "prove": Command("prove", "prove", "Prove properties for any number of objects, by induction."),
    "explore": Command("explore", "explore", "Explore every reachable state of a finite number of objects, and check every property there."),
    "simulate": Command("simulate", "simulate", "Walk at random from the initial state, and report which properties are violated on the way."),
    "profile": Command("profile", "profile", "Report what each action and rule of a model costs in an exploration, and which are never enabled."),
    "export": Command("export", "export", "Write a model at a scope in Promela, for SPIN, or in TLA+, for TLC."),
    "check": Command("check", "check", "Judge a log of a real implementation by the model."),
    "diagram": Command("diagram", "draw", "Draw a state machine, or without PICTURE which event triggers which."),
    "findings": Command("findings", "findings", "Report what is wrong with the documents: each violated property, a shortest run, and its repair."),
    "explain": Command("explain", "explain", "Show why PROPERTY is violated, step by step, or what was checked if it holds."),
    "diff": Command("diff", "diff", "Compare two variants of a system: machines, rows, rules, actions, properties, expected verdicts."),
    "list": Command("listing", "listing", "List systems; of one system its variants, machines, actions and properties."),
    "table": Command("table", "outcomes", "Print the state x event outcome matrix of the machine of SORT."),
    "locks": Command("locks", "locks", "Look for deadlocks in FILE, which says who may acquire which lock, and what threads do."),
    "generate": Command("generate", "generate", "Write test sequences that cover the states, transitions, pairs of transitions or actions of the machines."),
    "init": Command("init", "init", "Write a small working model, its manifest, a log that conforms, and a test."),
    "serve": Command("serve", "serve", "Judge records as they come: many sessions at once, each in a process of its own."),
}  # fmt: skip
"""By name; the first ones first, where a reader asks what there is."""
