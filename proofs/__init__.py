"""What is checked: explorations, proofs, refinements, locks and logs; ``verification`` puts all of it together."""
