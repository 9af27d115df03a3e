"""Programs for :class:`SecondSolver` in place of cvc5."""

from __future__ import annotations

import sys
from pathlib import Path

from schedproof.proofs import second_solver

FOLDER = Path(second_solver.__file__).parent

GOING_ON = """
import itertools, sys, time
sys.path.insert(0, {folder!r})
import cvc5, cvc5_process

class Command:
    def __init__(self, real, goes_on):
        self.isNull, self.real, self.goes_on = real.isNull, real, goes_on

    def invoke(self, solver, symbols):
        if self.goes_on and str(self.real).startswith("(check-sat"):
            {doing}
        return self.real.invoke(solver, symbols)

class Parser:
    def __init__(self, solver):
        self.real = real_parser(solver)
        self.getSymbolManager = self.real.getSymbolManager

    def setStringInput(self, language, text, name):
        self.real.setStringInput(language, text, name)
        self.goes_on = any(word in text for word in {words!r})

    def nextCommand(self):
        return Command(self.real.nextCommand(), self.goes_on)

real_parser, cvc5.InputParser = cvc5.InputParser, Parser
cvc5_process.serve()
"""

FOR_LONG = "sum(itertools.repeat(1, 10**11))"
"""Does not return to Python for minutes, where a handler of a signal would be called."""


def going_on_at(*words: str, doing: str = FOR_LONG) -> tuple[str, ...]:
    """cvc5, but where a script has one of some words it does something else before it answers, whatever its limit."""
    return (sys.executable, "-c", GOING_ON.format(folder=str(FOLDER), words=words, doing=doing))
