"""Logs of Beaker written from random runs of its models (for tests)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

from schedproof.model.lang import Model, Rigid
from schedproof.model.semantics import Instance, Step, Stepper
from schedproof.model.systems.beaker import AS_WRITTEN
from schedproof.model.systems.beaker.shipped import SHIPPED

Described = dict[str, dict[str, dict[str, Any]]]


class Walk:
    """A random run of a model: each step with the objects by name, before and after."""

    def __init__(self, model: Model, names: Mapping[str, list[str]], rigid: Rigid, seed: int) -> None:
        self.rng = random.Random(f"beaker {model.variant} {seed}")
        self.model = model
        self.instance = Instance(model, {sort: len(n) for sort, n in names.items()}, rigid, names=names)
        self.stepper = Stepper(self.instance)

    def steps(
        self, length: int, weights: Mapping[str, float]
    ) -> Iterator[tuple[str, dict[str, Any], Described, Described]]:
        """Action, parameters, state before, state after; an action of weight 0.1 is taken a tenth as often."""
        state = self.instance.initial()
        for _ in range(length):
            options = list(self.stepper.steps(state))
            by_action: dict[str, list[Step]] = {}
            for step in options:
                by_action.setdefault(step.choice.action, []).append(step)
            if not by_action:
                return
            names = list(by_action)
            name = self.rng.choices(names, [weights.get(n, 1.0) for n in names])[0]
            step = self.rng.choice(by_action[name])
            types = {v.name: v.type for v in self.model.action(name).parameters}
            shown = {n: self.instance.show(types[n], v) for n, v in step.choice.parameters}
            yield name, shown, self.instance.describe(state), self.instance.describe(step.after)
            state = step.after


# --- the shipped machine -----------------------------------------------------------------------------------------------

SHIPPED_NAMES = {
    "RecipeSet": ["RS:1", "RS:2"],
    "Recipe": ["R:11", "R:12", "R:13", "R:21"],
    "System": ["a.example.com", "b.example.com", "c.example.com"],
}
GUEST = {"R:13": "R:11"}
SHIPPED_RIGID: Rigid = {
    ("Recipe", "recipe_set"): [0, 0, 0, 1],
    ("Recipe", "host"): [None, None, 0, None],
    ("Recipe", "candidates"): [frozenset({0, 1}), frozenset({1, 2}), frozenset(), frozenset({0, 2})],
}
SHIPPED_WEIGHTS = {
    **dict.fromkeys(("abort", "abort_set", "cancel_set"), 0.03),
    **dict.fromkeys(("take", "make_manual", "break_down", "hold"), 0.1),
    **dict.fromkeys(("rest", "flag", "automate"), 0.5),
}


def shipped_walk(seed: int) -> Walk:
    """A run of two sets, one with a guest, on three systems."""
    return Walk(SHIPPED, SHIPPED_NAMES, SHIPPED_RIGID, seed)


def beakerd_log(seed: int, length: int = 45) -> list[str]:
    """What beakerd logs of a random run, with other lines in between."""
    walk = shipped_walk(seed)
    rng, lines = walk.rng, []
    for action, p, before, after in walk.steps(length, SHIPPED_WEIGHTS):
        lines += _log_lines(action, p, before, after, rng)
        if rng.random() < 0.1:
            lines.append("Entering schedule_pending_systems")
    return [f"2018-03-09 12:00:{n % 60:02},000 bkr.server.tools.beakerd DEBUG {line}" for n, line in enumerate(lines)]


def _log_lines(action: str, p: Mapping[str, Any], before: Described, after: Described, rng: random.Random) -> list[str]:
    old, new = before["Recipe"], after["Recipe"]
    changed = {r: (old[r]["state"], new[r]["state"]) for r in old if old[r]["state"] != new[r]["state"]}
    n = {r: r.split(":")[1] for r in old}
    match action:
        case "process":
            return [f"recipe ID {n[r]} moved from New to Processed" for r in changed]
        case "queue":
            return [f"recipe: {n[r]} moved from Processed to Queued" for r in changed]
        case "schedule_processed" | "schedule_pending":
            r, s = p["r"], p["s"]
            lines = [
                f"Assigning recipe {n[r]} to system {s}",
                f"Reserving system {s} for recipe {n[r]}",
                f"recipe ID {n[r]} moved from Queued to Scheduled",
                *(f"recipe ID {n[r]} guest {n[g]} moved from Queued to Scheduled" for g in changed if g != r),
            ]
            rng.shuffle(lines)
            return lines
        case "provision":
            return [f"Provisioning recipe {n[r]} in {p['j']}" for r in changed]
        case "clean_up":
            released = [r for r in old if old[r]["system"] and not new[r]["system"]]
            return [f"Releasing system {old[r]['system']} for recipe {n[r]}" for r in released]
        case "rest":
            return [f"No recipes runnable on {p['s']}, returning to idle"]
        case "flag":
            lines = [f"Idle system {p['s']} changed status, flagging it for scheduling"]
            return lines if rng.random() < 0.5 else []  # the web server has a log of its own
        case "hold":
            return [f"{n[p['r']]} moved to Reserved"]
        case "abort_set" if any(was == "new" for was, _ in changed.values()):
            return [f"recipe ID {n[r]} moved from New to Aborted" for r, (was, _) in changed.items() if was == "new"]
        case "abort_set" if any(was == "processed" for was, _ in changed.values()):
            return [f"{p['j']} moved from Processed to Aborted"]
        case _:
            return []


SEVERITY = ["running", "installing", "waiting", "new", "processed", "queued", "scheduled", "reserved"]
SEVERITY += ["aborted", "cancelled", "completed"]
REPORTING = ("install", "boot", "run", "pause", "hold", "complete", "abort", "abort_set", "cancel_set")


def messages(seed: int, length: int = 60, *, with_sets: bool = True) -> list[str]:
    """The status messages of a random run."""
    walk = shipped_walk(seed)
    of = {r: SHIPPED_NAMES["RecipeSet"][n] for r, n in zip(SHIPPED_NAMES["Recipe"], (0, 0, 0, 1), strict=True)}
    sent: list[dict[str, Any]] = []
    if with_sets:
        members = {s: [r for r, its in of.items() if its == s] for s in SHIPPED_NAMES["RecipeSet"]}
        sent.append({"beaker-messages": 1, "recipe_sets": members})
    for action, _, before, after in walk.steps(length, SHIPPED_WEIGHTS):
        old, new = before["Recipe"], after["Recipe"]
        changed = [r for r in old if old[r]["state"] != new[r]["state"]]
        walk.rng.shuffle(changed)
        for r in changed if action in REPORTING else []:
            sent.append(_message(r, new[r]["state"], walk.rng))
        for s in SHIPPED_NAMES["RecipeSet"]:
            was, now = (
                min((states[r]["state"] for r in of if of[r] == s), key=SEVERITY.index) for states in (old, new)
            )
            if was != now:
                sent.append(_message(s, now, walk.rng))
    return [json.dumps(m) for m in sent]


def _message(about: str, status: str, rng: random.Random) -> dict[str, Any]:
    number, label = int(about.split(":")[1]), status.capitalize()
    header = {"id": about, "state": label, "state_label": label, "method": "", "is_finished": status in SEVERITY[8:]}
    body = {"id": number, "t_id": about, "status": label, "whiteboard": "a run"}
    return rng.choice([header, body, {"header": header, "body": body}])


# --- the proposal ------------------------------------------------------------------------------------------------------

WRITTEN_NAMES = {
    "Lab": ["brno", "boston"],
    "RecipeSet": ["RS:1", "RS:2"],
    "Recipe": ["R:1", "R:2", "R:3", "R:4"],
    "System": ["a", "b", "c"],
}
WRITTEN_RIGID: Rigid = {
    ("Recipe", "recipe_set"): [0, 0, 0, 1],
    ("Recipe", "host"): [None, None, 0, None],
    ("Recipe", "viable"): [frozenset({0, 1}), frozenset({1}), frozenset(), frozenset({1, 2})],
    ("RecipeSet", "endable"): [True, True],
    ("RecipeSet", "rankable"): [True, True],
    ("System", "lab"): [0, 0, 1],
    ("System", "adjustable"): [True, True, True],
}
WRITTEN_WEIGHTS = {
    **dict.fromkeys(("cancel", "abort", "cancel_set", "abort_set", "crash"), 0.05),
    **dict.fromkeys(("make_manual", "break_down", "reprioritize", "reserve"), 0.1),
}
WRITTEN_HEADER: dict[str, Any] = {
    "beaker": 1,
    "systems": {"a": {"lab": "brno"}, "b": {"lab": "brno"}, "c": {"lab": "boston"}},
    "recipe_sets": {"RS:1": {}, "RS:2": {}},
    "recipes": {
        "R:1": {"recipe_set": "RS:1", "viable": ["a", "b"]},
        "R:2": {"recipe_set": "RS:1", "viable": ["b"]},
        "R:3": {"recipe_set": "RS:1", "host": "R:1"},
        "R:4": {"recipe_set": "RS:2", "viable": ["b", "c"]},
    },
}
MOST_SILENT = 4


def changes(seed: int, length: int = 40, *, usage: bool = True, grouped: bool = True, named: bool = False) -> list[str]:
    """The changes of a random run: with or without the systems' usage, step by step or line by line.

    ``named`` says the action of each step. Never more than four steps that nothing is logged of, one after the other.
    """
    walk = Walk(AS_WRITTEN, WRITTEN_NAMES, WRITTEN_RIGID, seed)
    records: list[dict[str, Any]] = [WRITTEN_HEADER]
    silent = 0
    for number, (action, _, before, after) in enumerate(walk.steps(length, WRITTEN_WEIGHTS), start=1):
        if action == "crash":
            records.append({"crash": True, "time": number})
            silent = 0
            continue
        lines: list[dict[str, Any]] = []
        for key, sort, fields in (
            ("recipe", "Recipe", {"state": "status", "system": "system"}),
            ("recipe_set", "RecipeSet", {"priority": "priority", "lab": "lab"}),
            ("system", "System", {"state": "usage", "condition": "condition"} if usage else {"condition": "condition"}),
        ):
            for name, now in after[sort].items():
                was = before[sort][name]
                line = {shown: now[f] for f, shown in fields.items() if f in now and now[f] != was[f]}
                if line:
                    lines.append({key: name, **line})
        # A set's lab alone says nothing that is always logged, so it does not end the silence by itself.
        silent = 0 if lines else silent + 1
        if silent > MOST_SILENT:
            break
        walk.rng.shuffle(lines)
        for line in lines:
            if grouped or named:
                line["step"] = number
            if named:
                line["action"] = action
            records.append(line)
    return [json.dumps(line) for line in records]
