"""Random lock programs with the words for channels that close, counters, conditions, started threads and lock kinds."""

from __future__ import annotations

import random
from copy import deepcopy

import yaml

from schedproof.model.locks import Locks, parse

OBJECTS = {
    "m": "mutex",
    "r": "rw",
    "e": "reentrant",
    "k": "errorcheck",
    "j": "reentrant-rw",
    "s": "stamped",
    "u": "unowned",
    "o": "once",
}
PARTS = {
    "channels": {"c": 0, "d": 1, "ctx": "context"},
    "counters": {"n": 0, "g": "group", "p": "semaphore 1", "q": "semaphore 2", "r": "semaphore 2 barging"},
    "conditions": {"v": "m", "w": "e"},
}
PLAIN = (
    *("send c", "receive c", "send d", "receive d", "close c", "close d", "cancel ctx", "receive ctx"),
    *("add g", "done g", "wait g", "set n 1", "add n", "subtract n", "await n = 1", "await n != 0", "acquire p"),
    *("acquire q 2", "acquire q", "release q 2", "acquire r 2", "acquire r", "release r 2", "release r"),
    *("release p", "signal v", "broadcast v", "lock u", "unlock u", "lock k", "unlock k", "lock e", "unlock e"),
    *("wlock j", "rlock j", "wunlock j", "runlock j", "unlock m", "unlock r"),
)
BLOCKS = (
    *("lock m", "rlock r", "wlock r", "lock e", "lock k", "rlock j", "wlock j", "rlock s", "wlock s", "once o"),
    *("if n = 0", "swap n 0 1", "while n = 0", "maybe", "acquire p", "acquire q 2", "acquire r"),
)


KINDS = {"b": {"capacity": 2, "kinds": ["x", "y"]}, "z": {"capacity": 0, "kinds": ["x", "y"]}}
SENDS = ("send b x", "send b y", "send b x", "send z x", "send z y", "send d", "close b", "receive d")
RECEIVES = ("receive b", "receive z", "receive d", "send d")


class KindMaker:
    """Makes programs whose messages have kinds, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def sender(self) -> list[object]:
        return [self.send() for _ in range(self.random.choice((2, 2, 3)))]

    def send(self) -> object:
        draw, one = self.random.random(), self.random.choice(SENDS)
        return {"lock m": [one]} if draw < 0.2 else {"maybe": [one]} if draw < 0.5 else one

    def server(self, deep: int) -> list[object]:
        return [self.receive(deep) for _ in range(self.random.choice((1, 2, 3)))]

    def receive(self, deep: int) -> object:
        draw = self.random.random()
        if not deep or draw < 0.2:
            return self.random.choice(RECEIVES)
        if draw < 0.6:
            others = self.random.sample(["send b x", "send z y", "receive d", "receive z", "default", "timeout"], 1)
            return {"select": [self.by_kind(deep), self.by_kind(deep), *others]}
        return {"lock m": [self.by_kind(deep)]} if draw < 0.7 else self.by_kind(deep)

    def by_kind(self, deep: int) -> object:
        branches = {kind: self.server(deep - 1) if self.random.random() < 0.3 else [] for kind in ("y", "x", "closed")}
        return {f"receive {self.random.choice('bbz')}": branches}

    def rounds(self) -> list[object]:
        """A thread that serves, or sends again and again."""
        draw, rounds = self.random.random(), self.server(1)
        if draw < 0.5:
            others = self.random.choice((["timeout"], ["receive d"], [{"timeout": ["send d"]}]))
            rounds = [{"select": [self.by_kind(2), *others]}, *rounds[1:]]
        return [
            *([self.send()] if draw < 0.2 else []),
            {"serve": rounds if draw < 0.9 else [self.random.choice(SENDS)]},
        ]

    def locks(self) -> Locks:
        first = self.server(2) if self.random.random() < 0.5 else self.rounds()
        threads = {"t0": first, "t1": self.sender()}
        if self.random.random() < 0.5:
            threads["t2"] = self.random.choice(
                (self.sender, lambda: self.server(1), self.rounds, lambda: deepcopy(first))
            )()
        data = {"objects": {"m": "mutex"}, "channels": {**KINDS, "d": 1}, "threads": threads}
        return parse(yaml.safe_dump(data, sort_keys=False), "made.yaml")


class Maker:
    """Makes programs from a seed."""

    def __init__(self, seed: int, words: int = 5, *, readers: bool = True) -> None:
        """``readers``: also reader-writer locks."""
        self.random = random.Random(seed)
        plain, blocks = (
            [each for each in some if readers or each.split()[-1] not in ("r", "j", "s")] for some in (PLAIN, BLOCKS)
        )
        self.plain = self.random.sample(plain, words)
        self.blocks = self.random.sample(blocks, 3)

    def steps(self, deep: int, holds: frozenset[str] = frozenset()) -> list[object]:
        return [self.step(deep, holds) for _ in range(self.random.choice((1, 1, 2, 2, 3)))]

    def step(self, deep: int, holds: frozenset[str]) -> object:
        draw = self.random.random()
        if deep and draw < 0.4:
            word = self.random.choice(self.blocks)
            inside = self.steps(deep - 1, holds | ({word.split()[1]} if word.startswith("lock") else set()))
            waits = {"m": "wait v", "e": "wait w"}
            if word.startswith("while"):
                # Without locks: a loop that acquires one more each time has too many states to be compiled.
                inside = [self.random.choice([each for each in self.plain if "lock" not in each] or ["add n"])]
            if word in ("lock m", "lock e") and self.random.random() < 0.5:
                inside.append(self.random.choice(("", "", "timed ")) + waits[word[-1]])
            return {word: inside}
        if deep and draw < 0.5:
            cases = self.random.sample(["send c", "receive c", "send d", "receive d", "receive ctx", "default"], 2)
            return {"select": [{case: self.steps(0)} if self.random.random() < 0.5 else case for case in cases]}
        return self.random.choice(self.plain)

    def locks(self) -> Locks:
        threads: dict[str, list[object]] = {f"t{n}": self.steps(2) for n in range(self.random.choice((2, 2, 3)))}
        if self.random.random() < 0.3:
            threads["t0"].insert(0, {"go": self.steps(1)})
        data: dict[str, object] = {"objects": OBJECTS, **PARTS, "threads": threads}
        if self.random.random() < 0.2:
            data["together"] = 2
        return parse(yaml.safe_dump(data, sort_keys=False), "made.yaml")
