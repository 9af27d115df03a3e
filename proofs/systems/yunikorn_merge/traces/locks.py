"""Logs of the merged scheduler's locks, checked against the order of the repaired description."""

from __future__ import annotations

from pathlib import Path

from schedproof.proofs.traces.formats.lock_log import lock_format

DESCRIPTION = Path(__file__).parents[4] / "model" / "systems" / "yunikorn_merge" / "locks" / "repaired.yaml"

LOCKS = lock_format(DESCRIPTION, "merged")
