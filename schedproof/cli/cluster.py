"""The option ``--cluster``, and the workers that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from schedproof.cli.errors import note
from schedproof.model.registry.errors import UserError

if TYPE_CHECKING:
    from schedproof.proofs.cluster import RemoteWorkers


def cluster_option(text: str) -> Callable[[Any], Any]:
    """The option; ``text`` is the beginning of its help, without a full stop."""
    return click.option(
        "--cluster", metavar="ADDRESS", help=f"{text} of a Ray cluster: HOST:PORT, or local:N for N processes."
    )


def require_no_contradiction(context: click.Context, options: Sequence[str]) -> None:
    """Refuses options that do not apply to a cluster.

    Raises:
        UserError: one of them is given.
    """
    for option in options:
        if context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise UserError(f"--cluster, --{option}: they contradict each other; leave out one of them")


def require_address(cluster: str) -> None:
    """Refuses a wrong address before any work.

    Raises:
        UserError: it is not an address.
    """
    from schedproof.proofs.cluster import Address  # loads the compiled engine

    Address.of(cluster)


@contextmanager
def workers_at(cluster: str | None) -> Iterator[RemoteWorkers | None]:
    """Yields the workers of a cluster; None without one."""
    if cluster is None:
        yield None
        return
    from schedproof.proofs.cluster import Address, connected  # loads the compiled engine

    with connected(Address.of(cluster), note) as workers:
        yield workers
