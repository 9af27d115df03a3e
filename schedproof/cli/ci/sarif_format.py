"""The objects of SARIF 2.1.0 that the report has, under their names in the standard (section 3), without default values.

Libraries that write SARIF accept misspelled fields in silence, or are no longer maintained; a struct refuses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class _Object(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class Message(_Object, frozen=True, kw_only=True):
    """3.11; ``markdown`` is shown instead of ``text`` where it can be."""

    text: str
    markdown: str | None = None


class ArtifactLocation(_Object, frozen=True, kw_only=True):
    """3.4; a relative ``uri`` is relative to the folder that ``uri_base_id`` names."""

    uri: str | None = None
    uri_base_id: str | None = None
    description: Message | None = None


class Region(_Object, frozen=True, kw_only=True):
    """3.30; ``end_column`` is the column after the last one."""

    start_line: int
    start_column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class PhysicalLocation(_Object, frozen=True, kw_only=True):
    """3.29."""

    artifact_location: ArtifactLocation
    region: Region


class Location(_Object, frozen=True, kw_only=True):
    """3.28."""

    physical_location: PhysicalLocation
    id: int | None = None
    message: Message | None = None


class ThreadFlowLocation(_Object, frozen=True, kw_only=True):
    """3.38."""

    location: Location
    nesting_level: int = 0
    execution_order: int
    importance: Literal["important", "essential", "unimportant"] = "important"


class ThreadFlow(_Object, frozen=True, kw_only=True):
    """3.37."""

    locations: tuple[ThreadFlowLocation, ...]


class CodeFlow(_Object, frozen=True, kw_only=True):
    """3.36."""

    thread_flows: tuple[ThreadFlow, ...]
    message: Message | None = None


class Result(_Object, frozen=True, kw_only=True):
    """3.27."""

    rule_id: str
    rule_index: int
    level: Literal["error", "note"]
    message: Message
    locations: tuple[Location, ...]
    partial_fingerprints: Mapping[str, str]
    code_flows: tuple[CodeFlow, ...] = ()
    related_locations: tuple[Location, ...] = ()
    properties: Mapping[str, Any] | None = None


class ReportingDescriptor(_Object, frozen=True, kw_only=True):
    """3.49: a rule."""

    id: str
    name: str
    short_description: Message
    full_description: Message
    help: Message
    properties: Mapping[str, Any] | None = None


class ToolComponent(_Object, frozen=True, kw_only=True):
    """3.19."""

    name: str
    version: str
    rules: tuple[ReportingDescriptor, ...]


class Tool(_Object, frozen=True, kw_only=True):
    """3.18."""

    driver: ToolComponent


class Notification(_Object, frozen=True, kw_only=True):
    """3.58."""

    level: Literal["error"]
    message: Message


class Invocation(_Object, frozen=True, kw_only=True):
    """3.20."""

    execution_successful: bool
    tool_execution_notifications: tuple[Notification, ...] = ()


class RunAutomationDetails(_Object, frozen=True, kw_only=True):
    """3.17; GitHub replaces the results of an earlier run with the same ``id``."""

    id: str


class Run(_Object, frozen=True, kw_only=True):
    """3.14."""

    tool: Tool
    automation_details: RunAutomationDetails
    invocations: tuple[Invocation, ...]
    original_uri_base_ids: Mapping[str, ArtifactLocation]
    column_kind: Literal["unicodeCodePoints"]
    results: tuple[Result, ...]
    properties: Mapping[str, Any] | None = None


class SarifLog(_Object, frozen=True, kw_only=True):
    """3.13: the file."""

    schema: str = msgspec.field(name="$schema")
    version: Literal["2.1.0"]
    runs: tuple[Run, ...]
