"""Where a cluster is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedproof.model.registry.errors import UserError

MOST_LOCAL = 64
"""The limit of workers on one machine."""


@dataclass(frozen=True)
class Address:
    """A cluster that runs at ``host`` and ``port``, or ``workers`` processes of this machine if there is no host.

    Attributes:
        workers: the number of workers; 0 for one a processor.
    """

    host: str = ""
    port: int = 0
    workers: int = 0

    @staticmethod
    def of(text: str) -> Address:
        """Reads ``local``, ``local:N`` or ``HOST:PORT``.

        Raises:
            UserError: it is something else.
        """
        host, _, number = text.rpartition(":")
        if text == "local":
            return Address()
        if host == "local" and re.fullmatch(r"[0-9]{1,9}", number):
            if not 1 <= int(number) <= MOST_LOCAL:
                raise UserError(
                    f"--cluster: {text} asks for {int(number)} workers; write a number from 1 to {MOST_LOCAL}, "
                    "for example local:2"
                )
            return Address(workers=int(number))
        bare = host.strip("[]")
        if re.fullmatch(r"[\w.:-]+", bare) and re.fullmatch(r"[0-9]{1,5}", number) and 0 < int(number) < 1 << 16:
            return Address(bare, int(number))
        raise UserError(
            f"--cluster: {text!r} is not an address; write local:N for N processes of this machine, or HOST:PORT of a Ray "
            "cluster, for example 192.0.2.10:6379"
        )

    def __str__(self) -> str:
        if not self.host:
            return f"local:{self.workers}" if self.workers else "local"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
