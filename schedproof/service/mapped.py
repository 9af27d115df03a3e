"""Sessions whose records are lines of a log as a program writes it: a mapping of the server reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import System
from schedproof.proofs.traces import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.formats.mapping import Counts, LogMapping, read_mapping

LOG = "log"
"""What messages call the lines of a session."""

Mappings = Mapping[str, LogMapping]
"""The mappings of a server, by the names of their files without a suffix."""

NO_MAPPINGS: Mappings = MappingProxyType({})


def read_mappings(files: Iterable[str], systems: Mapping[str, System]) -> Mappings:
    """The mappings of a server that has these systems.

    Raises:
        UserError: two have one name, or one is for an unknown system.
        TraceError: a mapping cannot be read, or names what no variant of its system has.
    """
    mappings: dict[str, LogMapping] = {}
    for file in files:
        mapping, name = read_mapping(Path(file), by_name=True), Path(file).stem  # clients see messages
        system = mapping.header.value["system"]
        if name in mappings:
            raise UserError(f"--mapping: {name!r} is the name of two mappings; rename one of the files")
        if system not in systems:
            raise UserError(f"--mapping: {file}: {unknown('system', str(system), systems)}")
        variants = systems[system].variants
        mapping.check(variants[systems[system].validated_by], variants.values)
        mappings[name] = mapping
    return mappings


class MappedLines:
    """The lines of one session.

    Attributes:
        taken: how many lines made their records.
    """

    def __init__(self, mapping: LogMapping) -> None:
        self.mapping, self.taken = mapping, 0
        self._counts = Counts()

    def records(self, given: object) -> list[Line]:
        """The records of the next line; none if it is no step.

        Args:
            given: an object, or the text of a line.

        Raises:
            TraceError: it is neither, or the mapping cannot read it.
        """
        number = self.taken + 1
        if isinstance(given, bytes):
            try:
                given = given.decode().removesuffix("\r")  # as a file with such ends of lines is read
            except UnicodeDecodeError:
                raise TraceError(f"{LOG}, line {number}: not UTF-8; send text as UTF-8", number) from None
        if isinstance(given, str):
            return list(self.mapping.records(iter([TextLine(LOG, number, given)]), self._counts))
        if not isinstance(given, dict):
            what = f"{LOG}, line {number}: {json.dumps(given)[:60]} is neither an object nor a text; send a line of the log"
            raise TraceError(what, number)
        return list(self.mapping.records(iter([Line(LOG, number, given)]), self._counts))

    @property
    def note(self) -> str:
        """The lines that fitted no rule, or were no step."""
        self._counts.ended = False  # a later line may fit a rule that none has fitted
        return self.mapping.note(self._counts)
