"""Go programs with the threads of lock files: mutexes, channels whose messages have kinds, and selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.model.locks import Locks
from schedproof.model.locks.language import CLOSED, Acquire, Case, Close, Either, Receive, Select, Send, Step

HEAD = """// Run with the name of a case and a number from which the pauses come.
package main

import (
	"math/rand"
	"os"
	"strconv"
	"sync"
	"time"
)

func pause() { time.Sleep(time.Duration(rand.Intn(3)) * time.Millisecond) }

func all(bodies ...func()) {
	var group sync.WaitGroup
	for _, body := range bodies {
		group.Add(1)
		go func(body func()) { body(); group.Done() }(body) // not deferred: main must not end before a panic
	}
	group.Wait()
}

func main() {
	seed, _ := strconv.Atoi(os.Args[2])
	rand.Seed(int64(seed))
	switch os.Args[1] {
"""


def go_program(cases: Mapping[str, Locks]) -> str:
    """The text of a program that runs the threads of one of several lock files."""
    return HEAD + "".join(f'\tcase "{name}":\n{_case(locks)}' for name, locks in cases.items()) + "\t}\n}\n"


def _case(locks: Locks) -> str:
    lines = [f"var {name} sync.Mutex; _ = &{name}" for name in locks.objects]
    lines += [f"{name} := make(chan int, {capacity}); _ = {name}" for name, capacity in locks.channels.items()]
    bodies = [f"func() {{\n{_steps(locks, thread.steps)}\n}}" for thread in locks.threads.values()]
    return "\n".join([*lines, f"all({', '.join(bodies)})", ""])


def _steps(locks: Locks, steps: Sequence[Step]) -> str:
    return "\n".join(f"pause()\n{_step(locks, step)}" for step in steps)


def _step(locks: Locks, step: Step) -> str:
    match step:
        case Acquire(path=path, body=body) if body is not None:
            return f"{path.variable}.Lock()\n{_steps(locks, body)}\n{path.variable}.Unlock()"
        case Send() | Receive():
            return _message(locks, step)
        case Close(channel=channel):
            return f"close({channel})"
        case Either(alternatives=alternatives):
            cases = [f"case {n}:\n{_steps(locks, each)}" for n, each in enumerate(alternatives)]
            return "\n".join([f"switch rand.Intn({len(cases)}) {{", *cases, "}"])
        case Select(cases=cases):
            return "\n".join(["select {", *_cases(locks, cases), "}"])
    raise TypeError(f"not written in Go: {step!r}")


def _message(locks: Locks, step: Send | Receive) -> str:
    if isinstance(step, Receive):
        return f"<-{step.channel}"
    return f"{step.channel} <- {locks.kinds[step.channel].index(step.kind) if step.kind else 0}"


def _cases(locks: Locks, cases: Sequence[Case]) -> list[str]:
    """The cases of a select. All branches of one receiver are one case, with a switch over what comes."""
    lines: list[str] = []
    branches: list[tuple[str, dict[str, Case]]] = []
    for case in cases:
        if isinstance(case.on, Receive) and case.on.kind:
            if not branches or branches[-1][0] != case.on.channel or case.on.kind in branches[-1][1]:
                branches.append((case.on.channel, {}))
            branches[-1][1][case.on.kind] = case
        elif case.on is None:
            how = "case <-time.After(time.Millisecond)" if case.waits else "default"
            lines.append(f"{how}:\n{_steps(locks, case.body)}")
        else:
            lines.append(f"case {_message(locks, case.on)}:\n{_steps(locks, case.body)}")
    for channel, each in branches:
        kinds = [*locks.kinds[channel], CLOSED]
        bodies = [f"case {kinds.index(kind)}:\n{_steps(locks, case.body)}" for kind, case in each.items()]
        at_end = f"if !ok {{ what = {len(kinds) - 1} }}"
        lines.append("\n".join([f"case what, ok := <-{channel}:", at_end, "switch what {", *bodies, "}"]))
    return lines
