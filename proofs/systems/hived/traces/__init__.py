"""The formats of HiveD's logs."""
