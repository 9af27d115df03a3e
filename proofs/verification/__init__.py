"""``schedproof verify``: every property of every variant, checked by each engine against the expected verdicts."""
