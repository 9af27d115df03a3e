"""The sharded key-value store, and another property of it.

Source: ``sharded_kv_no_lost_keys`` in the suites of mypyvy, SWISS and endive. It starts with an owner of each key.
Safety: a key has an owner, or is on its way to one.
"""

from dataclasses import replace

from schedproof.model.lang import Invariant, exists

from .sharded_kv import MODEL as SHARDED
from .sharded_kv import k, n, v

MODEL = replace(
    SHARDED,
    system="sharded-kv-no-lost-keys",
    properties=[
        Invariant(
            name="no-lost-key",
            says="a key that was placed has an owner, or is on its way",
            over=[k],
            given=k.is_("Placed"),
            then=exists(n, n.owns.has(k)) | exists([n, v], k.transfers.has(n, v)),
        ),
    ],
)
