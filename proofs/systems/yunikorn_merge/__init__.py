"""YuniKorn's merged scheduler: the refinement check of its reference implementation, and its trace formats."""
