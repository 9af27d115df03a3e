"""Standard error of ``verify`` where it is no terminal."""

import re

VARIANT = re.compile(
    r"^\S+ \S+: .*verdicts? (?:is|are) (?:not )?what the manifests say.* \(\d+\.\d s\)\n", re.MULTILINE
)
"""The line of a variant that is complete."""


def besides_progress(err: str) -> str:
    """What is said beside one line for each variant."""
    return VARIANT.sub("", err)
