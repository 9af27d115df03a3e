"""Places: where processes see all of each other, so that one can say with certainty that another one is gone."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

MACHINE_ID = Path("/etc/machine-id")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
OUTERMOST = "4026531836"
"""The number of the namespace of process numbers that a machine begins with: who is in it is in no container."""


@dataclass(frozen=True)
class Place:
    """The processes of a user in a namespace of process numbers on a machine, since it was booted.

    ``machine`` is made of the machine's id, and is empty if it has none. No part has a colon in it.
    """

    host: str
    machine: str
    boot: str
    namespace: str
    user: str

    def is_also(self, other: Place) -> bool:
        """Whether it is the same place. A machine may have got another name meanwhile; each boot has an id of its own."""
        return (self.boot, self.namespace, self.user) == (other.boot, other.namespace, other.user)

    def has_outlived(self, other: Place) -> bool:
        """Whether nothing can be left of ``other``: it is this machine before it was booted again.

        Containers are not asked: those of one image may have the same id and the same name on two machines.
        """
        same = (self.host, self.machine) == (other.host, other.machine) and self.machine != ""
        return same and self.namespace == other.namespace == OUTERMOST and self.boot != other.boot


def here() -> Place:
    """The place of this process."""
    try:
        known = MACHINE_ID.read_bytes().strip()
    except OSError:
        known = b""
    machine = hashlib.sha256(known).hexdigest()[:16] if known else ""  # it is not to be told itself
    host = re.sub(r"[^\w.-]", "_", os.uname().nodename)
    namespace = re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    return Place(host, machine, BOOT_ID.read_text().strip(), namespace, str(os.geteuid()))


def sees_itself() -> bool:
    """Whether /proc shows this process under its own number: else it shows another place."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except FileNotFoundError:
        return False
