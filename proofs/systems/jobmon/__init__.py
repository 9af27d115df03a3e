"""Jobmon's proofs: the refinement of its reference implementation, and its trace formats."""
