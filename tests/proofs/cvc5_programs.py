"""Programs for :class:`SecondSolver` in place of cvc5."""

from __future__ import annotations

import sys
from pathlib import Path

from schedproof.proofs import second_solver

FOLDER = Path(second_solver.__file__).parent

GOING_ON = """
import sys, time
sys.path.insert(0, {folder!r})
import cvc5, cvc5_process

class Parser:
    def __init__(self, solver):
        self.real = cvc5.RealParser(solver)

    def setStringInput(self, language, text, name):
        self.real.setStringInput(language, text, name)
        self.goes_on = any(word in text for word in {words!r})

    def getSymbolManager(self):
        return self.real.getSymbolManager()

    def nextCommand(self):
        command = self.real.nextCommand()
        if self.goes_on and str(command).startswith("(check-sat"):
            time.sleep({seconds})
        return command

cvc5.RealParser, cvc5.InputParser = cvc5.InputParser, Parser
cvc5_process.serve()
"""


def going_on_at(*words: str, seconds: float = 60) -> tuple[str, ...]:
    """cvc5, but where a script has one of some words it goes on for a while, whatever its limit."""
    return (sys.executable, "-c", GOING_ON.format(folder=str(FOLDER), words=words, seconds=seconds))
