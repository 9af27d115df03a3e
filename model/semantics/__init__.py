"""The meaning of a model at a finite scope: packed states, and the step."""

from . import functions, sequences, tuples
from .bounds import Bounds, bounds_of, range_of, with_bound
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
    "Bounds",
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
    "bounds_of",
    "check_scope",
    "compile_term",
    "configurations",
    "fitted",
    "functions",
    "instance_with",
    "instances",
    "parameters",
    "range_of",
    "scope_text",
    "search",
    "sequences",
    "stepper_of",
    "tuples",
    "with_bound",
]  # fmt: skip
