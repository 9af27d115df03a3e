"""Errors of a diagram, a table or a configuration that ``init --from`` reads."""

from __future__ import annotations

from collections.abc import Iterator

from tests.docs.errors.case import Case, Content, command

CSV = "from,event,to\n"


def _from(name: str, content: Content, shown: str = "") -> Case:
    """The command with a file; the last line of the file is shown."""
    lines = content.strip().splitlines() if isinstance(content, str) else []
    return command(
        "init", "mine", "--from", name, shown=shown or (lines or [f"--from {name}"])[-1], files={name: content}
    )


def cases() -> Iterator[Case]:
    yield command("init", "mine", "--from", "missing.mmd")
    yield command("init", "mine", "--from", "a\0b", shown="schedproof init mine --from 'a\\0b'")
    yield command("init", "mine", "--kind", "table")
    yield _from("notes.txt", "Idle, Busy")
    yield _from("x.mmd", b"\xff", "--from x.mmd  # not UTF-8")
    yield _from("x.mmd", " " * 1_000_001, "--from x.mmd  # of a megabyte")
    yield _from("x.mmd", "flowchart LR")
    yield _from("x.mmd", "stateDiagram-v2\n[*] --> Idle")
    yield _from("x.mmd", "stateDiagram-v2\nIdle --> Busy : start\nnote right of Busy")
    yield _from("x.csv", "from,when,to")
    yield _from("x.csv", "from,event,to,to")
    yield _from("x.csv", CSV)
    yield _from("x.csv", f"{CSV}Idle,start,")
    yield _from("x.csv", f"{CSV},start,Busy")
    yield _from("x.csv", f"{CSV}Idle,,Busy")
    yield _from("x.csv", f"{CSV}Idle,start,Busy,soon")
    yield _from("x.csv", f"{CSV}{'x' * 140_000}", "a cell of 140,000 characters")
    yield _from("x.json", '{"states": [}')
    yield _from("x.json", "[" * 100_000, "[[[[[ ...  # x.json")
    yield _from("x.yaml", "[" * 100_000, "[[[[[ ...  # x.yaml")
    yield _from("x.json", f"[{'1' * 5_000}]", "a number of 5,000 digits")
    yield _from("x.json", '["\\ud800"]')
    yield _from("x.yaml", "states: [idle]\nstates: [busy]")
    yield _from(
        "x.yaml",
        "\n".join(f"{n}: &{n} [{','.join([f'*{p}'] * 9)}]" for p, n in ["ab", "bc", "cd", "de", "ef", "fg"]).replace(
            "*a", "1"
        ),
        "aliases of aliases",
    )
    yield _from("x.yaml", "# nothing")
    yield _from("x.yaml", "states: [idle")
    yield _from("x.yaml", "states: [idle, busy]")
    yield _from("x.yaml", "transitions: start")
    yield _from("x.yaml", "transitions: []")
    yield _from("x.yaml", "transitions: [start]")
    yield _from("x.yaml", "transitions: [[start, idle]]")
    yield _from("x.yaml", "transitions: [[start, idle, {to: busy}]]")
    yield _from("x.yaml", f"transitions: [[start, idle, busy{', x' * 6}]]")
    yield _from("x.yaml", "states: [{label: idle}]\ntransitions: []", "states: [{label: idle}]")
    yield _from("x.py", "Machine(states=['idle'")
    yield _from("x.py", "x = '\0'", "x = '\\0'  # a NUL byte")
    yield _from("x.py", f"x = {'1 + ' * 50_000}1", "x = 1 + 1 + ...  # 50,000 times")
    yield _from("x.py", "machine = None")
