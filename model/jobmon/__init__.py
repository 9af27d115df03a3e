"""Jobmon: agents that hand over control of tasks and workflows, read from "Jobmon's Finite State Machines" and from the facts.

Read this package beside the document (jobmon-finite-state-machines.rst). So far it has what the code allows: ``shipped_tables``.
"""
