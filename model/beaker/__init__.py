"""Beaker: the batch scheduler, the event-driven proposal, its repair, and what was shipped."""
