"""The formats of Beaker's logs."""
