"""Every operation that loops, users and labs may try, with every choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product

from schedproof.impl.systems.beaker import Condition, Job, RecipeSpec, Report, SetSpec, Web, only
from schedproof.model.systems.beaker.configurations import Configuration

from .runner import Operation, Sides


class Names:
    """The names of a configuration's objects, as the model has them."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.labs = [f"l{n}" for n in range(configuration.sizes["Lab"])]
        self.sets = [f"j{n}" for n in range(configuration.sizes["RecipeSet"])]
        self.recipes = [f"r{n}" for n in range(configuration.sizes["Recipe"])]
        self.systems = [f"s{n}" for n in range(configuration.sizes["System"])]

    def fill(self, web: Web) -> None:
        """Adds the systems as Automated and submits the sets, one job each."""
        for system, lab in zip(self.systems, self.configuration.labs, strict=True):
            web.add_system(system, self.labs[lab])
        first = 0
        for name, recipes in zip(self.sets, self.configuration.sets, strict=True):
            specs = []
            for number, recipe in enumerate(recipes, first):
                if isinstance(recipe, int):
                    specs.append(RecipeSpec(self.recipes[number], host=self.recipes[first + recipe]))
                else:
                    viable = frozenset(self.systems[ord(letter) - ord("A")] for letter in recipe)
                    specs.append(RecipeSpec(self.recipes[number], viable))
            web.submit(Job(f"job of {name}", (SetSpec(name, tuple(specs)),)))
            first += len(recipes)


def operations(names: Names) -> list[Operation]:
    """Returns every operation. Users change only objects that the configuration allows."""
    return [*_loops(names), *_labs(names), *_people(names)]


def _loops(names: Names) -> Iterator[Operation]:
    for name in names.sets:
        yield _operation(
            f"the new job loop takes up {name}", lambda s, n=name: s.new_jobs.take_up(n), reads_memory=True
        )
    yield _operation("the new job loop finds no idle system", lambda s: s.new_jobs.search(only()), reads_memory=True)
    yield _operation("the new job loop puts its set away", lambda s: s.new_jobs.settle(), reads_memory=True)
    for recipe in names.recipes:
        for system in names.systems:
            pair = (recipe, system)
            yield _operation(
                f"the new job loop gives idle {system} to {recipe}",
                lambda s, p=pair: s.new_jobs.search(only(*p)),
                reads_memory=True,
            )
            yield _operation(
                f"the pending system loop gives {system} to {recipe}",
                lambda s, p=pair: s.pending.process(p[1], only(p[0])),
            )
        yield _operation(f"the retained loop aborts dead {recipe}", lambda s, n=recipe: s.consistency.abort_dead(n))
    for system in names.systems:
        yield _operation(
            f"the pending system loop makes {system} idle", lambda s, n=system: s.pending.process(n, only())
        )
        yield _operation(f"the retained loop wakes {system}", lambda s, n=system: s.consistency.wake(n))
    yield from _seats(names)
    for name in names.sets:
        yield _operation(f"provisioning of {name} begins", lambda s, n=name: s.provisioning.begin(n))


def _seats(names: Names) -> Iterator[Operation]:
    """Operations with any seats, wrong ones included, which must be refused; and with the seats that loops find."""
    number = 0
    for name, recipes in zip(names.sets, names.configuration.sets, strict=True):
        hosts = [r for r, spec in zip(names.recipes[number:], recipes, strict=False) if isinstance(spec, str)]
        number += len(recipes)
        named = [
            dict(zip(some, systems, strict=True))
            for size in range(2, len(hosts) + 1)
            for some in combinations(hosts, size)
            for systems in product(names.systems, repeat=size)
        ]
        for seats in named:
            placement = ", ".join(f"{recipe} on {system}" for recipe, system in seats.items())
            yield _operation(f"{name} is seated: {placement}", lambda s, n=name, p=seats: s.consistency.seat(n, p))
        for loop, seat in (
            ("new job", lambda s, n=name: s.new_jobs.seat(n)),
            ("retained", lambda s, n=name: s.consistency.seat(n)),
        ):
            operation = _operation(f"the {loop} loop seats {name}", seat, reads_memory=loop == "new job")
            yield replace(operation, instead_of=len(named))


def _labs(names: Names) -> Iterator[Operation]:
    for recipe in names.recipes:
        yield _operation(f"{recipe} installs", lambda s, n=recipe: s.lab.installs(n))
        yield _operation(f"{recipe} runs", lambda s, n=recipe: s.lab.runs(n))
        yield _operation(f"{recipe} completes", lambda s, n=recipe: s.lab.completes(n))


def _people(names: Names) -> Iterator[Operation]:
    configuration = names.configuration
    number = 0
    for which, (name, recipes) in enumerate(zip(names.sets, configuration.sets, strict=True)):
        own_recipes = names.recipes[number : number + len(recipes)]
        number += len(recipes)
        if which in configuration.endable:
            yield _operation(f"{name} is cancelled", lambda s, n=name: s.web.cancel_set(n))
            yield _operation(f"{name} is aborted", lambda s, n=name: s.web.abort_set(n))
            for recipe in own_recipes:
                yield _operation(f"{recipe} is cancelled", lambda s, n=recipe: s.web.cancel(n))
                yield _operation(f"{recipe} is aborted", lambda s, n=recipe: s.web.abort(n))
        if which in configuration.rankable:
            for to in (0, 1):
                yield _operation(f"{name} gets priority {to}", lambda s, n=name, p=to: s.web.change_priority(n, p))
    for which, system in enumerate(names.systems):
        if which in configuration.adjustable:
            for condition in Condition:
                yield _operation(
                    f"{system} becomes {condition}", lambda s, n=system, c=condition: s.web.change_condition(n, c)
                )
            yield _operation(f"a user reserves {system}", lambda s, n=system: s.web.reserve(n))
        yield _operation(f"reserved {system} installs", lambda s, n=system: s.web.install(n))
        yield _operation(f"reserved {system} runs", lambda s, n=system: s.web.run(n))
        yield _operation(f"the user of {system} returns it", lambda s, n=system: s.web.give_back(n))


def _operation(description: str, call: Callable[..., Report], *, reads_memory: bool = False) -> Operation:
    def perform(sides: Sides) -> Report:
        return call(sides)

    return Operation(description, perform, reads_memory=reads_memory)
