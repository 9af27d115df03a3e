"""Replays a run of HiveD's repaired model, step by step, on the reference scheduler.

Each step is executed as the corresponding request. A group's pods are submitted before its first step. The cells are
those that the step chose. A crash is followed by a recovery. After every request, the records in memory and the durable
rows are compared with the model's state and its history variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller

from schedproof.impl.systems.hived import GroupSpec, InMemoryStore, Scheduler
from schedproof.model.semantics import Choice, Instance, State, Stepper
from schedproof.model.semantics.run import Run
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.refinement.mismatch import Broken, Mismatch
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.replay import check_variant

from .abstraction import Abstraction
from .runner import Operation, Runner, SchedulerFactory, Snapshot, StoreFactory

DELETIONS = ("delete_allocated", "delete_preempted", "delete_preempting", "delete_pending")


def replay(
    run: Run,
    scheduler: SchedulerFactory = Scheduler,
    store: StoreFactory = InMemoryStore,
    *,
    pods_per_group: int = 2,
) -> Mismatch | None:
    """Returns the first difference between the scheduler and the model along a run, or None.

    Args:
        run: a run of the repaired model.
        scheduler: returns the scheduler; called as ``Scheduler`` is.
        store: returns the store to which the scheduler writes.
        pods_per_group: the number of pods of each group.

    Raises:
        ValueError: ``run`` is not a run of the repaired model, or no priorities give the order of its groups.
    """
    check_variant(run, REPAIRED)
    return _Replay(run, scheduler, store, pods_per_group).first_difference()


def _priorities(instance: Instance) -> list[int]:
    """Returns priorities by which a group outranks exactly the groups that it outranks in the instance."""
    attribute = instance.model.machine("PodGroup").attribute("outranks")
    assert attribute is not None
    masks = instance.rigid_values("PodGroup", attribute)
    ranks = [mask.bit_count() for mask in masks]
    for i, mask in enumerate(masks):
        if any((ranks[i] > other) != bool(mask >> j & 1) for j, other in enumerate(ranks)):
            raise ValueError(f"no priorities give {instance.object_names('PodGroup')[i]} the groups that it outranks")
    return ranks


class _Replay:
    """The scheduler and its position in the run."""

    def __init__(self, run: Run, scheduler: SchedulerFactory, store: StoreFactory, pods: int) -> None:
        plain = run.instance
        # With history, so that the durable records are compared too.
        self._instance = Instance(plain.model, plain.sizes, plain.rigid, True, plain.names)
        names = self._instance.object_names("PodGroup")
        kinds = tuple(f"p{i}" for i in range(pods))
        self._specs = [GroupSpec(name, rank, kinds) for name, rank in zip(names, _priorities(plain), strict=True)]
        self._cells = list(self._instance.object_names("Cell"))
        self._make: Callable[[], Runner] = lambda: Runner(scheduler, store, self._cells)
        self._abstraction = Abstraction(self._instance, self._specs)
        self._model = ModelGraph(self._instance, self._instance.initial(), {})
        self._choices: Sequence[Choice] = run.choices
        self._submitted: set[int] = set()
        self._path: list[str] = []

    def first_difference(self) -> Mismatch | None:
        stepper, state = Stepper(self._instance), self._instance.initial()
        try:
            self._runner = self._make()
            at = self._recovered(self._runner.now())
            self._compare(at, state)
            for choice in self._choices:
                if not stepper.enabled(state, choice):
                    raise ValueError(f"the model cannot take {self._model.say_choice(choice)}")
                at = self._submit(at, choice, state)
                state = stepper.step(state, choice).after
                self._path.append(self._model.say_choice(choice))
                at = self._after(at, choice)
                self._compare(at, state)
        except Broken as error:
            return Mismatch(error.reason, list(self._path), error.expected, error.actual)
        return None

    def _recovered(self, down: Snapshot) -> Snapshot:
        return self._runner.recover(down).end

    def _submit(self, at: Snapshot, choice: Choice, state: State) -> Snapshot:
        """Submits the pods of the step's group before the step; this must not change the model state."""
        group = dict(choice.parameters).get("p")
        if group is None or group in self._submitted:
            return at
        self._submitted.add(group)
        spec = self._specs[group]
        for pod in spec.pods:
            at = self._do(at, f"pod {spec.name}/{pod} is submitted", methodcaller("submit", spec, pod))
            self._compare(at, state)
        return at

    def _after(self, at: Snapshot, choice: Choice) -> Snapshot:
        given = dict(choice.parameters)
        if choice.action == "crash":
            return self._recovered(self._runner.crash(at))
        name = self._specs[given["p"]].name
        words = self._model.say_choice(choice)
        if choice.action in ("allocate", "preempt"):
            cells = [cell for i, cell in enumerate(self._cells) if given["K"] >> i & 1]
            return self._do(at, words, lambda scheduler: scheduler.schedule(name, lambda memory, group: cells))
        if choice.action == "complete":
            return self._do(at, words, methodcaller("complete", name))
        assert choice.action in DELETIONS, f"no request is {choice.action}"
        return self._do(at, words, methodcaller("delete_group", name))

    def _do(self, at: Snapshot, words: str, call: Callable[[Scheduler], object]) -> Snapshot:
        runs = self._runner.run(at, Operation(words, call))
        if not runs:
            raise Broken(f"the scheduler refuses what the model allows: {words}")
        return runs[-1].end

    def _compare(self, at: Snapshot, expected: State) -> None:
        rows = self._runner.rows(at)
        actual = self._abstraction.running(self._runner.memory(at), rows, self._abstraction.records(rows))
        if actual != expected:
            show = self._model.say_state
            raise Broken("the scheduler is not where the model is", expected=show(expected), actual=show(actual))


REPLAYS = {"repaired": replay}
"""The replay function of the variant whose steps the reference scheduler takes."""
