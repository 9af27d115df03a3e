"""Reads the stacks of goroutines that Go prints on SIGQUIT, in a panic, and as a profile with ``debug=2``.

A stack says for which lock a goroutine waits, but not which locks it holds. It may hold the lock of each object whose
method is in its stack. Go prints the object's address as the first argument; one with a question mark is out of date,
and is not used. Source: runtime/traceback.go and runtime/runtime2.go (waitReasonStrings) of Go 1.19 to 1.24.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.proofs.traces.files.lines import TextLine

from .dump import Dump, Hold, Lock, ThreadState, Wait

HEADER = re.compile(r"goroutine (\d+)(?: gp=\S+ m=\S+(?: mp=\S+)?)? \[([^\]]{1,200})\]:$")
STATUS = re.compile(r" \((?:scan|leaked|durable)\)$")
"""What the runtime says of a goroutine after the reason of its wait."""

CALL = re.compile(r"(?P<function>[^\s(][^\s]*?(?:\(\*[^)]*\)[^\s(]*)?)\((?P<arguments>.*)\)$")
PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)(?: \+0x[0-9a-f]+)?(?: fp=0x\S+ sp=0x\S+ pc=0x\S+)?$")
"""A place; a dump on SIGQUIT has registers after it."""

DEEPEST_WAIT = 12
"""The most frames between a wait for a lock and its caller: a dump on SIGQUIT includes those of the scheduler."""

LARGEST_OBJECT = 1 << 16
"""The most bytes from the beginning of an object to its lock."""

PAGE = 1 << 13
"""Go allocates small objects of different sizes in different pages of this many bytes (runtime/sizeclasses.go)."""

METHOD = re.compile(r"(?:^|[./])\(?\*?(?P<type>[A-Za-z_]\w*)(?:\[[^\]]*\])?\)\.(?P<name>[\w.]+)$")

ACQUIRES = {
    "Mutex.Lock": "to lock",
    "Mutex.lockSlow": "to lock",
    "RWMutex.Lock": "to write",
    "RWMutex.RLock": "to read",
}
"""The methods that wait for a lock: those of package sync, and methods of the same names that call them, of go-deadlock
and of a program's own wrapper."""

SLEEPS = "runtime.semacquire1"
"""The function in which a goroutine sleeps until it gets a lock; its first argument is the address of a semaphore."""

LOCK_STATES = ("semacquire", "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock")
OTHER_STATES = {
    "chan send": "to send a message",
    "chan send (nil chan)": "to send to a nil channel",
    "chan receive": "to receive a message",
    "chan receive (nil chan)": "to receive from a nil channel",
    "select": "to send or receive",
    "select (no cases)": "for ever",
    "sync.Cond.Wait": "for a condition",
    "sync.WaitGroup.Wait": "for a wait group",
}
GROUP_WAIT = "sync.(*WaitGroup).Wait"
"""The method that waits for a wait group; in older versions of Go its state is that of a lock."""

OUR_OWN = ("sync.", "runtime.", "runtime/", "internal/", "reflect.", "testing.", "net/http.", "github.com/sasha-s/")
"""Packages whose methods are not those of objects with a lock of the program."""

ASLEEP = "fatal error: all goroutines are asleep - deadlock!"
ASLEEP_SAYS = "Go's runtime ended the program: all goroutines wait, and none can continue."
LIMITATION = "A goroutine dump does not say who holds a lock. A goroutine may hold the locks of the objects whose methods are in its stack."


@dataclass(frozen=True)
class Frame:
    """One frame: the function, the type and address of its receiver, and its place.

    Args:
        function: the full name.
        type: the type of the receiver; "" for a function.
        method: the name after it.
        receiver: the address of the object, or of the semaphore of :data:`SLEEPS`; "" if it is unknown.
        place: the name of the file and the line.
    """

    function: str
    type: str
    method: str
    receiver: str
    place: str

    @property
    def of_the_program(self) -> bool:
        """Whether it is a method of an object of the program."""
        return bool(self.type) and not self.function.startswith(OUR_OWN)


@dataclass(frozen=True)
class Goroutine:
    """One goroutine as it is printed."""

    number: str
    state: str
    line: int
    frames: tuple[Frame, ...]


def goroutines(lines: Sequence[TextLine]) -> list[Goroutine]:
    """The goroutines of a dump; lines that are not part of one are left out."""
    result: list[Goroutine] = []
    header: tuple[str, str, int] | None = None
    frames: list[Frame] = []
    call: tuple[str, str] | None = None

    def end() -> None:
        if header is not None:
            result.append(Goroutine(*header, tuple(frames)))

    for line in lines:
        if match := HEADER.match(line.text):
            end()
            header, frames, call = (match[1], STATUS.sub("", match[2].split(",")[0]), line.number), [], None
        elif header is not None and line.text.startswith("created by "):
            call = None
        elif header is not None and call is not None and (match := PLACE.match(line.text)):
            frames.append(_frame(*call, f"{match['file'].rpartition('/')[2]}:{match['line']}"))
            call = None
        elif header is not None and (match := CALL.match(line.text)):
            call = match["function"], match["arguments"]
    end()
    return result


def read_goroutines(lines: Sequence[TextLine]) -> Dump:
    """What a goroutine dump says of locks. Of several dumps in one file, the last one counts."""
    by_number = {f"goroutine {each.number}": each for each in goroutines(lines)}
    known = _known(by_number.values())
    return Dump(
        "goroutines",
        tuple(thread_state(name, each, known) for name, each in by_number.items()),
        limitations=(LIMITATION,),
        deadlock=ASLEEP_SAYS if any(line.text == ASLEEP for line in lines) else "",
    )


@dataclass(frozen=True)
class Known:
    """What the stacks of a dump say of addresses.

    Args:
        objects: by address the type of the object that begins there.
        offsets: by type, how far the lock is from the beginning of an object.
    """

    objects: Mapping[str, str] = field(default_factory=dict)
    offsets: Mapping[str, int] = field(default_factory=dict)

    def has(self, owner: Frame, address: str) -> bool:
        """Whether a lock at ``address`` may be that of the object of ``owner``: in it, or elsewhere and in no other object."""
        if not owner.receiver or not address:
            return True
        other = self.objects.get(address)
        if not _is_in(owner, address):
            return not self.lock(address).of
        same_page = int(address, 16) // PAGE == int(owner.receiver, 16) // PAGE
        return other is None or address == owner.receiver or (other != owner.type and same_page)

    def lock(self, address: str) -> Lock:
        """The lock at an address, with its object if that is known."""
        if address in self.objects:
            return Lock(address, self.objects[address])
        for of, offset in self.offsets.items():
            if self.objects.get(name := hex(int(address, 16) - offset)) == of:
                return Lock(name, of)
        return Lock(address, "")


def _is_in(owner: Frame, address: str) -> bool:
    """Whether an address is where the object of ``owner`` may have a lock."""
    return 0 <= int(address, 16) - int(owner.receiver, 16) < LARGEST_OBJECT


def thread_state(name: str, goroutine: Goroutine, known: Known) -> ThreadState:
    """What a goroutine may hold, and what it waits for.

    Args:
        name: the name of the thread.
        goroutine: its stack.
        known: what all stacks say of addresses.
    """
    waits, after = _wait(goroutine, known)
    holds: dict[Lock, Hold] = {}
    released = _released(goroutine)
    for frame in goroutine.frames[after:]:
        if frame.of_the_program and frame.receiver not in released:
            lock = Lock(frame.receiver, frame.type)
            holds.setdefault(lock, Hold(lock, f"{frame.method}, {frame.place}", certain=False))
    return ThreadState(name, goroutine.line, tuple(holds.values()), waits)


def _released(goroutine: Goroutine) -> set[str]:
    """The object whose lock is released: who waits for a condition has released it, as far as the stack shows whose it is."""
    if goroutine.state != "sync.Cond.Wait":
        return set()
    frames = [*goroutine.frames]
    last = next((n for n, frame in enumerate(frames) if frame.function == "sync.(*Cond).Wait"), len(frames))
    return {frame.receiver for frame in frames[last + 1 : last + 2] if frame.receiver}


def _last(frames: Sequence[Frame]) -> int | None:
    """The number of the outermost frame of the methods that wait for a lock; None if there is none."""
    last = max((n for n, frame in enumerate(frames[:DEEPEST_WAIT]) if _acquires(frame)), default=None)
    while last is not None and last + 1 < len(frames) and _wraps(frames[last + 1]):
        last += 1
    return last


def _wait(goroutine: Goroutine, known: Known) -> tuple[Wait | None, int]:
    """What a goroutine waits for, and the number of frames before those whose objects it may hold.

    A method that waits for the lock of its own object does not hold it; one that waits for another lock may hold its own.
    """
    last = _last(goroutine.frames)
    if goroutine.state in LOCK_STATES and last is not None:
        how, address = _wraps(goroutine.frames[last]), _address(goroutine.frames[: last + 1])
        itself = address or _semaphore(goroutine.frames[:last])
        rest = goroutine.frames[last + 1 :]
        if not rest:
            return Wait(how, Lock(address, ""), "", itself), last + 1
        owner = rest[0]
        if not owner.of_the_program or not known.has(owner, address):
            return Wait(how, known.lock(address) if address else Lock("", ""), owner.place, itself), last + 1
        name = owner.receiver
        if not name and address and owner.type in known.offsets:
            name = hex(int(address, 16) - known.offsets[owner.type])
        return Wait(how, Lock(name, owner.type), owner.place, itself), last + 2
    place = next((f.place for f in goroutine.frames if not f.function.startswith(OUR_OWN)), "")
    state = goroutine.state
    if state == "semacquire" and any(f.function == GROUP_WAIT for f in goroutine.frames[:DEEPEST_WAIT]):
        state = "sync.WaitGroup.Wait"
    if state in OTHER_STATES:
        return Wait(OTHER_STATES[state], None, place), 0
    return None, 0


def _acquires(frame: Frame) -> str:
    """What a method of a lock waits for; "" if the frame is no such method."""
    library = frame.function.startswith("sync.") or "deadlock." in frame.function
    return _wraps(frame) if library else ""


def _wraps(frame: Frame) -> str:
    """What a method waits for if it is one of a lock, of a library or around one; "" for another method."""
    return ACQUIRES.get(f"{frame.type}.{frame.method}", "")


def _address(frames: Sequence[Frame]) -> str:
    """The address of the lock that the methods of a lock wait for; "" if none has it."""
    return next((frame.receiver for frame in reversed(frames) if frame.receiver and _wraps(frame)), "")


def _semaphore(frames: Sequence[Frame]) -> str:
    """The semaphore of the lock that a goroutine sleeps on; "" if it is unknown. Readers and writers have one each."""
    address = next((frame.receiver for frame in frames if frame.function == SLEEPS), "")
    return f"semaphore {address}" if address else ""


def _known(every: Iterable[Goroutine]) -> Known:
    """What stacks say of addresses: where objects begin, and the offsets of locks where a stack has both addresses."""
    all_frames = [each.frames for each in every]
    objects: dict[str, str] = {}
    for frames in all_frames:
        for frame in frames:
            if frame.of_the_program and frame.receiver:
                objects.setdefault(frame.receiver, frame.type)
    known = Known(objects)
    offsets: dict[str, set[int]] = {}
    for frames in all_frames:
        last = _last(frames)
        if last is None or last + 1 >= len(frames):
            continue
        address, owner = _address(frames[: last + 1]), frames[last + 1]
        if address and owner.receiver and _is_in(owner, address) and known.has(owner, address):
            offsets.setdefault(owner.type, set()).add(int(address, 16) - int(owner.receiver, 16))
    return Known(objects, {of: offset for of, (offset, *others) in offsets.items() if not others})


def _frame(function: str, arguments: str, place: str) -> Frame:
    match = METHOD.search(function)
    first = arguments.split(",")[0].strip()
    known = re.fullmatch(r"0x[0-9a-f]{4,16}", first)
    if match is None:
        return Frame(function, "", function.rpartition(".")[2], first if known and function == SLEEPS else "", place)
    # The arguments of a closure are not those of the method.
    known = known if "." not in match["name"] else None
    return Frame(function, match["type"], match["name"], first if known else "", place)
