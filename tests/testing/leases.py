"""Implementations of the first model, for the lockstep: one is right, each of the others has one bug."""

from schedproof.testing import Refused


class Leases:
    """Workers and leases; a lease that expires stops the worker that works under it."""

    def __init__(self, world):
        self.doing = dict.fromkeys(world.objects["Worker"], "Idle")
        self.under = dict.fromkeys(world.objects["Worker"])
        self.holder = dict.fromkeys(world.objects["Lease"])
        self.closed = False

    def need(self, condition, why):
        if not condition:
            raise Refused(why)

    def ask(self, w):
        self.need(self.doing[w] == "Idle", f"{w} is busy")
        self.doing[w] = "Waiting"

    def acquire(self, w, l):  # noqa: E741
        self.need(self.doing[w] == "Waiting" and self.holder[l] is None, f"{w} cannot have {l}")
        self.doing[w], self.under[w], self.holder[l] = "Working", l, w

    def finish(self, w):
        self.need(self.doing[w] == "Working", f"{w} does not work")
        self.holder[self.under[w]] = None
        self.die(w)

    def die(self, w):
        self.need(self.doing[w] == "Working", f"{w} does not work")
        self.doing[w], self.under[w] = "Idle", None

    def expire(self, l):  # noqa: E741
        self.need(self.holder[l] is not None, f"{l} is free")
        self.stop(self.holder[l], l)
        self.holder[l] = None

    def stop(self, w, l):  # noqa: E741
        if self.under[w] == l:
            self.doing[w], self.under[w] = "Waiting", None

    def observe(self):
        workers = {w: {"state": doing, "lease": self.under[w]} for w, doing in self.doing.items()}
        leases = {name: {"state": "Held" if by else "Free", "holder": by} for name, by in self.holder.items()}
        return {"Worker": workers, "Lease": leases}


class Unstopped(Leases):
    """The bug that the first variant of the model has."""

    def stop(self, w, l):  # noqa: E741
        pass


class DeadHolds(Leases):
    """The lease of a worker that has died comes back at once."""

    def die(self, w):
        self.need(self.doing[w] == "Working", f"{w} does not work")
        if self.holder[self.under[w]] == w:
            self.holder[self.under[w]] = None
        super().die(w)


class NoSecondLease(Leases):
    """Refuses a worker that holds a lease still, from before it died."""

    def acquire(self, w, l):  # noqa: E741
        self.need(w not in self.holder.values(), f"{w} has a lease already")
        super().acquire(w, l)


class TakesWhatIsHeld(Leases):
    """Lets a worker that waits have a lease that another holds."""

    def acquire(self, w, l):  # noqa: E741
        self.need(self.doing[w] == "Waiting", f"{w} does not wait")
        self.doing[w], self.under[w], self.holder[l] = "Working", l, w


class HalfARefusal(Leases):
    """Refuses, but has changed something by then."""

    def finish(self, w):
        held = self.under[w]
        if self.doing[w] == "Waiting":
            self.doing[w] = "Idle"
        self.need(held is not None, f"{w} does not work")
        self.holder[held] = None
        super().die(w)


class Fails(Leases):
    """An error that nobody thought of."""

    def expire(self, l):  # noqa: E741
        super().expire(l)
        self.holder[f"{l}?"].clear()


class WrongWord(Leases):
    """Calls a state by another name."""

    def observe(self):
        seen = super().observe()
        for fields in seen["Worker"].values():
            fields["state"] = fields["state"].replace("Working", "Running")
        return seen
