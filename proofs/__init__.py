"""Checks: explorations, proofs, refinements, locks and logs; ``verification`` runs all of them."""
