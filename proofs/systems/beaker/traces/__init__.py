"""The trace formats of Beaker's logs."""
