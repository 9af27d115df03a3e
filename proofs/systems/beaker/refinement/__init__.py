"""The refinement check of Beaker's reference scheduler against its model, with a crash at every point."""
