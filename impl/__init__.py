"""Executable code: machines generated from models, and the reference schedulers with the modules that they share.

- ``machines``: one object's machine, generated from its sort's transition table.
- ``cascade``: a whole system of such machines; guards and trigger rules are callbacks.
- ``triggers``, ``codec``, ``values``: compiled rules, names and numbers, attribute values.
- ``store``, ``clock``, ``locks``, ``table_machine``, ``choice``, ``errors``: shared by several reference schedulers.
- ``scheduler_interface``: the messages between a resource manager and YuniKorn's schedulers.
- ``systems``: a folder for each reference scheduler. None imports another one; all are written from the documents.
"""
