"""Mutants of Jobmon as it runs, and repaired, are refused or take other steps, or stand here with the reason.

Other steps than the model's are other steps than those of the models that were written by hand: ``test_brute_force_shipped`` compares them
in the same configurations. The default run checks one mutant in forty of one variant, drawn by its name, the long one all of them.
"""

from __future__ import annotations

from functools import cache

import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics.instance import fitted
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED
from schedproof.model.systems.jobmon.shipped.configurations import CONFIGURATIONS, Configuration
from tests.support.equivalence import unexplained
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, Place, Twin, drawn, mutants
from tests.systems.jobmon.model.test_brute_force_shipped import OTHERS
from tests.systems.jobmon.model.test_shipped import NOBODY_ASKS

VARIANTS = {model.variant: model for model in (SHIPPED, REPAIRED)}

ONCE = "a run is instantiated once"
THE_SAME = "both rules fire the same where both do"
NOT_BEGUN = "a client that has not begun has no run"
GOES_WITH_ITS_RUN = "a workflow goes with its run"
HOLDS_NOTHING = "a distributor that is gone has nothing in memory"
TAKEN_AWAY = "what it holds and is not Instantiated any more was overdue, and so it stays"

EVERYWHERE = {
    **dict.fromkeys(("action plan_cold, conjunct 2", "action plan_hot, conjunct 2"), NOT_BEGUN),
    **dict.fromkeys(
        (
            *(f"action {name}, conjunct 3" for name in ("bind", "instantiate_run", "launch_run", "start_run")),
            *(f"action {name}, conjunct 3" for name in ("finish_run", "err_run", "stop_run")),
        ),
        GOES_WITH_ITS_RUN,
    ),
    **{f"action {name}, conjunct 1": HOLDS_NOTHING for name in ("submit", "launch", "get_no_id")},
}
# Rows that nothing fires; a model without that of an event that an action fires is refused.
ROWS = {variant: {f"row {name}": why for name, why in rows.items()} for variant, rows in NOBODY_ASKS.items()}
EQUIVALENT = {
    "shipped": {
        **EVERYWHERE,
        **ROWS["shipped"],
        "rule a hot resume resets tasks, condition 2": THE_SAME,
        "rule a distributor is started, condition 2": ONCE,
        "action terminate_run, conjunct 3": GOES_WITH_ITS_RUN,
        "action instantiate, conjunct 1": HOLDS_NOTHING,
    },
    "repaired": {
        **EVERYWHERE,
        **ROWS["repaired"],
        "rule instantiate makes a task Instantiating, condition 1": "the task of what is queued is queued",
        "rule clear dooms what runs, condition 1": "no configuration has two workflows that both run, and one of which was left",
        "action link, conjunct 3": "a run is registered for no workflow that is done",
        "action instantiate, conjunct 3": "what is queued, was queued by a run that runs",
        "action drop_doomed, conjunct 1": HOLDS_NOTHING,
        **{
            f"action {name}, conjunct {n}": TAKEN_AWAY
            for name, n in (("launch", 4), ("get_no_id", 4), ("drop_doomed", 3))
        },
    },
}


def place(model: Model, configuration: Configuration) -> Place:
    rigid = configuration.rigid
    return Place(configuration.about, fitted(dict.fromkeys((m.sort.name for m in model.machines), 9), rigid), rigid)


@cache
def twin(variant: str) -> Twin:
    """One a variant: it keeps the graphs of the model itself. Configurations without a big graph come first."""
    model = VARIANTS[variant]
    return Twin(model, [place(model, each) for each in [*OTHERS, *CONFIGURATIONS]], properties=False)


def missed(variant: str, some: list[Mutant]) -> set[str]:
    return {mutant.name for mutant in some if twin(variant).caught(mutant) is None}


@pytest.mark.long
def test_some_mutants_are_caught() -> None:
    """Of one variant: the graphs of the model itself take most of the time, and the long run checks all mutants of both."""
    variant = "shipped"
    some = [m for m in mutants(VARIANTS[variant]) if m.name not in EQUIVALENT[variant] and drawn(m.name, 40)]
    assert len(some) >= 5
    assert missed(variant, some) == set()


@pytest.mark.long(seconds=51, one_in=32)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_mutant_is_caught(variant: str) -> None:
    all_of_them = list(mutants(VARIANTS[variant]))
    assert len(all_of_them) > 380
    assert missed(variant, all_of_them) == set(EQUIVALENT[variant])


@pytest.mark.long(seconds=40, one_in=32)
@pytest.mark.parametrize("variant", VARIANTS)
def test_exchanges_are_caught_or_mean_the_same(variant: str) -> None:
    """Of rows that something fires."""
    idle = tuple(f"{name}," for name in ROWS[variant])
    some = [m for m in exchanges(VARIANTS[variant]) if drawn(m.name, 150) and not m.name.startswith(idle)]
    assert len(some) > 20
    assert unexplained(VARIANTS[variant], some, twin(variant).caught) == set()
