"""The meaning of a model at a finite scope: packed states, and the step."""

from .evaluate import Firings, Moment, Undefined, compile_term, search
from .instance import (
    Instance,
    ScopeError,
    State,
    check_scope,
    configurations,
    fitted,
    instance_with,
    instances,
    scope_text,
)
from .profiled import Profiler
from .remember import Remembered
from .run import Run, parameters
from .step import Causes, Choice, IllFormed, Step, Stepper, stepper_of

__all__ = [
    "Causes",
    "Choice",
    "Firings",
    "IllFormed",
    "Instance",
    "Moment",
    "Profiler",
    "Remembered",
    "Run",
    "ScopeError",
    "State",
    "Step",
    "Stepper",
    "Undefined",
    "check_scope",
    "compile_term",
    "configurations",
    "fitted",
    "instance_with",
    "instances",
    "parameters",
    "scope_text",
    "search",
    "stepper_of",
]  # fmt: skip
