"""The formats of Jobmon's logs."""
