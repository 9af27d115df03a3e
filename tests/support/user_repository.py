"""A user's repository for tests: a first model as ``schedproof init`` writes it, and an independent model of it."""

import os
import sys
from collections import deque
from contextlib import contextmanager

from schedproof.cli.starter import files


def repository(folder, name="lease", **changes):
    """A folder with a first model in it. ``changes`` replace texts in files: ``model=(old, new)``, ``manifest=...``, ``log=...``."""
    package = name.replace("-", "_")
    paths = {"model": f"{package}/model.py", "manifest": "schedproof.toml", "log": f"{package}/log.jsonl"}
    content = dict(files(name))
    for what, (old, new) in changes.items():
        assert old in content[paths[what]], f"{old!r} is not in {paths[what]}"
        content[paths[what]] = content[paths[what]].replace(old, new)
    for path, text in content.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@contextmanager
def imports_undone():
    """Folders in which Python has come to look for modules, and what was imported from them, are forgotten at the end."""
    path = list(sys.path)
    try:
        yield
    finally:
        folders = [f"{each}{os.sep}" for each in sys.path if each not in path]
        sys.path[:] = path
        for name, module in list(sys.modules.items()) if folders else ():
            file = getattr(module, "__file__", None)
            if file is not None and file.startswith(tuple(folders)):
                del sys.modules[name]


IDLE, WAITING, WORKING = "Idle", "Waiting", "Working"


def steps(state, fenced):
    """The independent model: all steps from a state, which is (what each worker does, its lease), and each lease's holder."""
    workers, holders = state

    def worker(w, doing, lease, then=holders):
        return (*workers[:w], (doing, lease), *workers[w + 1 :]), then

    def held(lease, by):
        return (*holders[:lease], by, *holders[lease + 1 :])

    for w, (doing, lease) in enumerate(workers):
        if doing == IDLE:
            yield worker(w, WAITING, None)
        if doing == WAITING:
            for free in [n for n, holder in enumerate(holders) if holder is None]:
                yield worker(w, WORKING, free, held(free, w))
        if doing == WORKING:
            yield worker(w, IDLE, None, held(lease, None) if holders[lease] == w else holders)
            yield worker(w, IDLE, None)
    for lease, holder in enumerate(holders):
        if holder is not None:
            stopped = tuple((WAITING, None) if fenced and what == lease else (doing, what) for doing, what in workers)
            yield stopped, held(lease, None)


def reachable(workers, leases, fenced):
    """Every state of the first model, and the number of steps from all of them."""
    first = ((IDLE, None),) * workers, (None,) * leases
    seen, work, step_count = {first}, deque([first]), 0
    while work:
        for after in steps(work.popleft(), fenced):
            step_count += 1
            if after not in seen:
                seen.add(after)
                work.append(after)
    return seen, step_count
