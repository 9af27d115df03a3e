"""Where tests find what is no code of theirs."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The repository."""

DATA = ROOT / "tests" / "data"
"""Recorded and written logs; its README says where each comes from."""

MODELS = ROOT / "model" / "systems"
"""A folder for each system."""

SHARED = ROOT.parent / "shared"
"""Documents, facts and recordings beside the repository; tests that need them are skipped where it is not there."""

REFERENCE = ROOT / "docs" / "reference"
"""The pages of the documentation whose samples are tested beside what reads them."""
