"""Values as programs show them, and as states have them."""

import pytest

from schedproof.model.lang import BoolType, IntRange
from schedproof.model.semantics import Instance
from schedproof.model.systems.hived import AS_WRITTEN


def test_true_is_no_number_and_1_no_truth_value() -> None:
    """Python counts True as 1; a program that shows one for the other shows another value."""
    instance = Instance(AS_WRITTEN, {"PodGroup": 1, "Cell": 1})
    assert instance.read(BoolType(), True) == instance.read(IntRange(0, 1), 1) == 1
    for kind, value in ((IntRange(0, 1), True), (BoolType(), 1)):
        with pytest.raises(ValueError, match="is not a value of type"):
            instance.read(kind, value)
