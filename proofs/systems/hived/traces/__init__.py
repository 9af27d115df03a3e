"""The trace formats of HiveD's logs."""
