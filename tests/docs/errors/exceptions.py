"""The statements that raise an error without a case: file, a part of the statement, and why there is none."""

from __future__ import annotations

Exception_ = tuple[str, str, str]

_LARGE = "only something large comes to it; a test of its part does"
_SYSTEM = "it depends on the operating system, the user or a program; a test of its part imitates that"
_EXPLORES = "it follows an exploration of seconds, or a model made for it; a test of its part has one"

EXCEPTIONS: tuple[Exception_, ...] = (
    (
        "model/locks/reading.py",
        "nested too deeply",
        "the limit of depth comes before Python's; a second line of defence",
    ),
    ("model/registry/importing.py", "is also the name of a module", "it needs two packages of one name in one process"),
    ("model/registry/manifest.py", "cannot be read", _SYSTEM),
    (
        "model/semantics/functions.py",
        "whose numbers have 63 bits",
        "an exploration has far smaller bounds; a test of its part has one",
    ),
    ("proofs/export/expressions.py", "too great for Promela", "it needs a model with numbers beyond 32 bits"),
    (
        "proofs/export/expressions.py",
        "of up to {most} items has",
        "no system has a sequence; a test of its part has one",
    ),
    ("proofs/export/promela.py", "items has {width} bits", "no system has a sequence; a test of its part has one"),
    ("proofs/export/promela.py", "Promela has sets", "the limit of choices comes before it in systems that take sets"),
    ("proofs/export/properties.py", "unknown property", "the command checks the name first; it is for Python"),
    ("proofs/locks/model_check.py", "describe less of it", _LARGE),
    ("proofs/locks/runs.py", "has more than", _LARGE),
    ("proofs/locks/unfold.py", "is in two of class", _EXPLORES),
    ("proofs/locks/unfold.py", "has more than", _LARGE),
    ("proofs/traces/dumps/check.py", "larger than", _LARGE),
    ("proofs/traces/files/following.py", "another file", "a file is exchanged while it is followed"),
    ("proofs/traces/files/following.py", "become shorter", "a file is cut while it is followed"),
    ("proofs/traces/formats/itf_trace.py", "nested too deeply", _LARGE),
    ("proofs/traces/formats/mapping.py", "the value that it reads", _LARGE),
    ("proofs/traces/formats/records.py", "causes the event", "no system has an event that no action causes"),
    (
        "schedproof/cli/commands/explain.py",
        "({first})'",
        "no system has a relation that changes; a test of the command has one",
    ),
    (
        "schedproof/cli/commands/explain.py",
        "({first}: value)'",
        "no system has a function that changes; a test of the command has one",
    ),
    (
        "schedproof/cli/commands/explain.py",
        "[first+second]'",
        "no system has a sequence; a test of the command has one",
    ),
    ("diagrams/auxiliary.py", "no deadlock to draw", _EXPLORES),
    ("diagrams/deadlock.py", "whose violation", _EXPLORES),
    ("diagrams/deadlock.py", "no state can be drawn", _EXPLORES),
    ("diagrams/explored.py", "is not well-formed", _EXPLORES),
    ("diagrams/explored.py", "must not allow", _EXPLORES),
    ("diagrams/gallery.py", "cannot make the folder", _SYSTEM),
    ("diagrams/images.py", "'dot' failed", _SYSTEM),
    ("schedproof/cli/commands/diagram.py", "cannot show a png", "standard output is a terminal"),
    (
        "schedproof/cli/commands/diagram.py",
        "does not say what its objects",
        "its remedy loads the models of all systems",
    ),
    ("schedproof/cli/commands/serve.py", "on Linux or macOS", _SYSTEM),
    ("schedproof/cli/commands/serve.py", "_missing(error)", "a package of the extra is not installed"),
    ("schedproof/cli/commands/table.py", "has attributes but no states", _EXPLORES),
    ("schedproof/cli/commands/verify.py", "no variant of these", _EXPLORES),
    ("schedproof/cli/output.py", "write-protected", _SYSTEM),
    ("schedproof/cli/regression.py", "not found in time", _LARGE),
    ("schedproof/cli/regression.py", "cannot be shortened", _LARGE),
    ("schedproof/cli/regression.py", "a second time", _EXPLORES),
    ("schedproof/cli/starter.py", "nothing was written", _SYSTEM),
    (
        "schedproof/service/checking.py",
        "a record is not an object",
        "a process of a session says it; a test of the service has it",
    ),
)
