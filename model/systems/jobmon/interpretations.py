"""The interpretations of all variants."""

from .as_written import interpretations
from .shipped import readings

INTERPRETATIONS = (*interpretations.INTERPRETATIONS, *readings.READINGS)
