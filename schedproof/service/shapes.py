"""The shapes of requests and answers, for the OpenAPI description.

They do not check requests: a session's own process parses what its client sends, so that a bad request cannot harm
other clients.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from schedproof.proofs.traces.engine.watch import SCHEMA

from .opening import KEPT

Verdict = Annotated[
    Literal["conforms", "violates", "undetermined"],
    Field(description="of everything so far; once it is not `conforms`, it stays, and further records are not checked"),
]

COMPONENT = "#/components/schemas/"


class ActionShape(BaseModel):
    """Something that can happen."""

    name: str = Field(examples=["allocate"])
    says: str = Field(examples=["p is allocated K"], description="what happens, in words")
    parameters: dict[str, str] = Field(
        description="what each parameter's value is: an object of a sort, `list of` such, a range `0..3`, one of several "
        "words, or `boolean`",
        examples=[{"p": "PodGroup", "K": "list of Cell"}],
    )


class VariantShape(BaseModel):
    """A model of a system."""

    name: str = Field(examples=["as-written"])
    about: str
    sorts: dict[str, int] = Field(
        description="the sorts of objects, each with how many there are by default",
        examples=[{"PodGroup": 3, "Cell": 3}],
    )
    actions: list[ActionShape]


class SystemShape(BaseModel):
    """A system and its variants."""

    name: str = Field(examples=["hived"])
    title: str
    judged_by: str = Field(description="the variant that checks if none is named", examples=["as-written"])
    variants: list[VariantShape]


class Catalogue(BaseModel):
    """What there is to create sessions for."""

    systems: list[SystemShape]
    mappings: dict[str, str] = Field(
        description="the mappings of the server, each with its system: a session may name one, and take lines of a log"
    )


def of_traces() -> dict[str, Any]:
    """The schemas of requests: headers and records from the plain format's own schema, and the scope."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    schemas = {_named(name): _renamed(definition) for name, definition in schema["$defs"].items()}
    fields = schemas["Header"]["properties"]
    schemas["Situation"] = {
        "type": "object",
        "description": "a system, and how many objects of each sort there are. They have the names that an exploration gives them (`g0`, "
        "`g1`, `c0`); without `rigid`, what never changes of them is as an exploration would choose, if there is one choice only",
        "required": ["system"],
        "additionalProperties": False,
        "properties": {
            "system": fields["system"],
            "scope": {
                "type": "object",
                "description": "the number of objects of each sort; what is left out has its default",
                "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 64},
            },
            **{name: fields[name] for name in KEPT if name in fields},
        },
        "examples": [{"system": "hived", "scope": {"PodGroup": 2, "Cell": 2}}],
    }
    schemas["EventStream"] = {
        "type": "string",
        "description": "Events `view`, whose data are JSON: `system`, `variant`, `verdict`, `records`, `nonconformance` with `record` and "
        "`reason`, `note`; `run`, a run that explains the last records, for the page, or null with `note_on_run`; `records_before` the run, and its `last_record`; "
        "`is_only_one`: whether no other run fits; `states`: how many states explain the records; `next` with `events` and `complete`. "
        "The event `end` comes last. Lines that begin with a colon are signs of life.",
    }
    schemas["Mapped"] = {
        "type": "object",
        "description": "a mapping of the server, by its name: the records are lines of a log as its program writes them, objects or texts. "
        "The other fields replace those of the mapping's header",
        "required": ["mapping"],
        "additionalProperties": False,
        "properties": {
            "mapping": {"type": "string", "description": "the name of its file, without a suffix"},
            "system": fields["system"],
            "objects": fields["objects"],
            **{name: fields[name] for name in KEPT if name in fields},
        },
        "examples": [{"mapping": "app"}],
    }
    kinds = ("Situation", "Header", "Mapped")
    schemas["Asked"] = {"oneOf": [{"$ref": COMPONENT + kind} for kind in kinds]}
    return schemas


def _named(definition: str) -> str:
    return definition[:1].upper() + definition[1:]


def _renamed(schema: Any) -> Any:
    """``schema`` with references to the OpenAPI names of its definitions."""
    if isinstance(schema, list):
        return [_renamed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: COMPONENT + _named(value.removeprefix("#/$defs/"))
        if key == "$ref" and isinstance(value, str)
        else _renamed(value)
        for key, value in schema.items()
    }


class FirstNonconformance(BaseModel):
    """The first record that no sequence of the model's steps explains."""

    model_config = ConfigDict(extra="allow")
    record: int = Field(description="its number in the session, from 1")
    reason: str


class Standing(BaseModel):
    """The verdict so far, in short."""

    system: str = Field(examples=["hived"])
    variant: str = Field(examples=["as-written"])
    verdict: Verdict
    records: int = Field(description="records checked in this session, a nonconforming one included")
    lines: int | None = Field(
        default=None, description="of a session with a mapping: lines of the log taken in this session"
    )
    note: str | None = Field(default=None, description="why it is undetermined, or that nothing was checked")
    first_departure: FirstNonconformance | None = None


class Created(Standing):
    """A new session."""

    id: str = Field(description="the session's name in all further requests; keep it secret from other clients")
    live: str = Field(
        description="the address of the page that shows the session; a client that has it can watch the session, and cannot send records",
        examples=["/live/sPkyLGlVfkdCUWGrRQTmGPeI"],
    )


class Taken(Standing):
    """What was made of the records."""

    taken: int = Field(
        description="records of this request that were checked; fewer than were sent if one of them does not conform"
    )


class Report(Standing):
    """The whole report, as `schedproof validate --json` writes it."""

    model_config = ConfigDict(extra="allow")
    format: str = Field(examples=["schedproof"])


class Event(BaseModel):
    """A record that the session would explain if it came next."""

    action: str = Field(examples=["allocate"])
    parameters: dict[str, Any] = Field(examples=[{"p": "g0", "K": ["c0"]}])


class Allowed(BaseModel):
    """What may happen next."""

    events: list[Event]
    complete: bool = Field(description="these are all; else there may be more")
    records: int
    note: str | None = None


class Listed(BaseModel):
    """A session, as viewers may see it."""

    name: str = Field(description="the session's name for viewers")
    system: str = Field(examples=["hived"])
    variant: str = Field(examples=["as-written"])
    verdict: Verdict
    records: int
    note: str | None = None
    idle_seconds: int = Field(description="seconds since the last request")


class Views(BaseModel):
    """All open sessions, the one with the latest request first."""

    views: list[Listed]


class Health(BaseModel):
    """Whether sessions can be created, when there are not too many."""

    ok: bool
    sessions: int
    most_sessions: int


class Problem(BaseModel):
    """A request that was not done."""

    error: str = Field(
        description="what kind of problem it is: `malformed`, `bad-session`, `bad-record`, `conflict`, `no-such-session`, `busy`, "
        "`full`, `too-big`, `too-slow`, `ending`, `unauthorized`, `forbidden`, `unsupported`, `not-found`, `fault`",
        examples=["no-such-session"],
    )
    message: str = Field(description="one line: what, where, and what to do instead")


class BadRecord(Problem):
    """A record that is none, or too many records; `taken` and `records` are of these two only, `record` of the first."""

    model_config = ConfigDict(extra="allow")
    record: int | None = Field(default=None, description="its number in the session, from 1")
    taken: int | None = Field(default=None, description="records of this request that were checked: they stay so")
    verdict: Verdict | None = None
    records: int | None = None
