"""Amounts of memory, as users write them."""

from __future__ import annotations

import re

import click

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Size(click.ParamType[int]):
    """An amount of memory in bytes, KiB, MiB, GiB or TiB: ``500M``, ``1.5G``, ``2GiB``."""

    name = "SIZE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes.

        Raises:
            click.BadParameter: it is not an amount of memory.
        """
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([KMGT]?)(?:i?B)?", str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not an amount of memory; write, for example, 500M or 2G", param, ctx)
        size = int(float(match[1]) * UNITS[match[2].upper()])
        if not 0 < size < 1 << 63:
            self.fail(f"{value!r} is too much or too little memory; write, for example, 500M or 2G", param, ctx)
        return size
