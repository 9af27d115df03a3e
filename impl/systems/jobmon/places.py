"""Places: sets of processes that can all see each other, so that one knows with certainty when another has ended."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

MACHINE_ID = Path("/etc/machine-id")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
OUTERMOST = "4026531836"
"""The number of a machine's first process namespace: a process in it is in no container."""


@dataclass(frozen=True)
class Place:
    """The processes of one user in one process namespace of a machine, since the machine was booted.

    No part contains a colon.

    Attributes:
        machine: a hash of the machine's id; empty if the machine has none.
        boot: the id of the boot; each boot has its own.
        namespace: the number of the process namespace.
    """

    host: str
    machine: str
    boot: str
    namespace: str
    user: str

    def is_also(self, other: Place) -> bool:
        """Whether it is the same place. The host name may have changed, so only boot, namespace and user count."""
        return (self.boot, self.namespace, self.user) == (other.boot, other.namespace, other.user)

    def has_outlived(self, other: Place) -> bool:
        """Whether nothing can be left of ``other``: it is this machine before its latest boot.

        For containers the answer is no: containers of one image may have the same id and name on two machines.
        """
        same = (self.host, self.machine) == (other.host, other.machine) and self.machine != ""
        return same and self.namespace == other.namespace == OUTERMOST and self.boot != other.boot


def current_place() -> Place:
    """Returns the place of this process."""
    try:
        known = MACHINE_ID.read_bytes().strip()
    except OSError:
        known = b""
    machine = hashlib.sha256(known).hexdigest()[:16] if known else ""  # the id itself must not be published
    host = re.sub(r"[^\w.-]", "_", os.uname().nodename)
    namespace = re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    return Place(host, machine, BOOT_ID.read_text().strip(), namespace, str(os.geteuid()))


def sees_itself() -> bool:
    """Whether /proc shows this process under its own number; if not, /proc shows another place."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except FileNotFoundError:
        return False
