"""The refinement check of HiveD's reference scheduler against its model, with a crash at every point."""
