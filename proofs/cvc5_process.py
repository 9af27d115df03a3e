"""cvc5 as a program: a question on each line of standard input, its number and the reply on a line of standard output, as JSON.

cvc5 does not always heed its time limit: where it looks for instances that conflict, it may go on for many minutes, and nothing in
its process can stop it. A process of its own ends then. It imports nothing else of schedproof, so it soon starts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping

import cvc5

GRACE = 1.0
"""So many seconds after the time limit of a question the process ends itself."""


def answers(text: str, seconds: float, options: Mapping[str, str], *, ends: bool = False) -> list[str]:
    """What cvc5 prints for the commands of an SMT-LIB script, without those that print nothing.

    Args:
        text: the script.
        seconds: the time limit of one command.
        options: of cvc5.
        ends: the process ends where cvc5 goes on after the limit; not on Windows.

    Raises:
        RuntimeError: cvc5 refuses the script.
    """
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    solver.setOption("fresh-binders", "true")  # as it does anyway where z3 shares a term, with a warning on stderr
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    printed = []
    try:
        while not (command := parser.nextCommand()).isNull():
            if ends:
                _end_after(max(0.0, seconds) + GRACE)
            if answer := str(command.invoke(solver, symbols)).strip():
                printed.append(answer)
    finally:
        if ends:
            _end_after(0)
    return printed


def _end_after(seconds: float) -> None:
    """Ends the process after so many seconds, if nothing else is said until then; 0 is never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)  # the signal ends a process that does not handle it


def serve() -> None:
    """Replies to each line until the input ends: with what cvc5 prints, or with why it refuses the script."""
    if hasattr(signal, "setitimer"):  # who starts a process may have it ignore or block the signal
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    for line in sys.stdin:
        number, question = json.loads(line)
        try:
            reply: list[str] | str = answers(**question, ends=True)
        except RuntimeError as error:
            reply = str(error)
        try:
            print(json.dumps([number, reply]), flush=True)
        except BrokenPipeError:  # who asked is gone
            os._exit(0)


if __name__ == "__main__":
    serve()
