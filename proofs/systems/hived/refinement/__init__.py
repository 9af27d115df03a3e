"""HiveD's reference scheduler beside its model, with a crash at every point."""
