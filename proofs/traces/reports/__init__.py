"""What is reported of a trace, and why a record cannot be explained."""
