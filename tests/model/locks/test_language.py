"""Wrong descriptions of locks: each is refused in one line that names the place and says what to write instead."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.model.lang.errors import Place
from schedproof.model.locks import LocksError, parse, read
from schedproof.model.locks.language import UNBOUNDED, Kind, Mode, Receive, Select, Send
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.model_check import model_check
from tests.support.rows import each_row

LOCK = "objects: {a: rw, m: mutex}\n"
CLASSES = "classes:\n  P: {}\n  Q: {in: [P, Q], has: [f]}\n"
THREAD = LOCK + "threads:\n  t:\n"
KINDS = "channels: {c: {capacity: 1, kinds: [put, get]}, d: 1}\nthreads:\n  t: "

PARTS = (
    "objects: {a: mutex, r: rw, j: reentrant-rw, o: once, s: stamped}\nchannels: {c: 0, x: context}\n"
    "counters: {n: 0, g: group, p: semaphore 2}\nconditions: {v: a}\nthreads:\n  t:\n"
)

WRONG: list[tuple[str, int, str]] = [
    # The text, the line that is named, and what the message says; the remedy is what comes after the semicolon.
    ("", 1, "the file is empty; write at least the objects that have locks"),
    ("# nothing\n", 1, "the file is empty"),
    ("hello\n", 1, "is not written as KEY: VALUE; write KEY: VALUE, a line for each"),
    ("- a\n", 1, "is not written as KEY: VALUE"),
    ("about: x\n", 1, "nothing can be checked; write an order, operations or threads"),
    ("objcts: {}\n", 1, "unknown key 'objcts'; choose from about"),
    ("objects:\n  a: [\n", 3, "the file is not YAML"),
    ("objects:\n\ta: rw\n", 2, "the file is not YAML: while scanning for the next token"),
    ("objects: {a: rw}\n---\nobjects: {b: rw}\n", 2, "the file is not YAML: expected a single document"),
    ("objects: {a: rw}\n\x07\n", 1, "the file is not YAML: unacceptable character"),
    ("objects: &o {a: rw}\nthreads: *o\n", 2, "an alias (*) cannot be used here; write what it stands for"),
    ("objects:\n  a: rw\nobjects:\n  b: rw\n", 3, "'objects' is written twice; give one of them another name"),
    ("objects:\n  a: rw\n  a: rw\n", 3, "'a' is written twice"),
    ("? [a, b]\n: c\n", 1, "a list or a mapping cannot be used here; write a single line"),
    ("!!python/object/apply:os.system ['true']\n", 1, "is not written as KEY: VALUE"),
    # Classes.
    ("classes: {queue: {}}\n", 1, "class 'queue' does not begin with a capital; write 'Queue'"),
    ("classes:\n  Q: {lock: rwmutex}\n", 2, "unknown kind of lock 'rwmutex'; choose from rw, mutex"),
    ("classes:\n  Q: {locks: rw}\n", 2, "unknown key 'locks' of a class; choose from lock, in, has"),
    ("classes:\n  Q: {in: p}\n", 2, "'p' is not a class; write a name that begins with a capital"),
    ("classes:\n  Q: {has: F}\n", 2, "'F' is not a field; write a name that begins with a small letter"),
    ("classes:\n  Q: {in: P}\n", 2, "unknown class 'P'; choose from Q"),
    ("classes:\n  P: {in: Q}\n  Q: {in: P}\n", 3, "the classes are in a cycle: P in Q in P; leave one of them out"),
    ("classes:\n  Q: 12\n", 2, "class Q is not written as KEY: VALUE"),
    # The order.
    (CLASSES + "order:\n  - P Q\n", 5, "'P Q' is not a row of the order; write, for example,"),
    (CLASSES + "order:\n  - P > Q below it\n", 5, "is not a row of the order"),
    (
        CLASSES + "order:\n  - P > Q after it\n",
        5,
        "P > Q after it: the key of a Q and of a P; compare objects of one class",
    ),
    (
        "classes:\n  Q: {in: Q}\norder:\n  - Q > Q after it\n",
        4,
        "Q > Q after it, of objects that are in each other; write Q > Q in it, or Q > Q around it",
    ),
    (CLASSES + "operations:\n  go(P p, Q q after p): []\n", 5, "q after p: the key of a Q and of a P; compare objects"),
    (
        CLASSES + "operations:\n  go(P p, Q q): [if p before q: []]\n",
        5,
        "if p before q: the key of a P and of a Q; compare objects of one class",
    ),
    (CLASSES + "operations:\n  go: [lock each P: []]\n", 5, "lock of a P, whose lock is a rw; write rlock or wlock"),
    (CLASSES + "operations:\n  go(Q q): [wlock each P in q: []]\n", 5, "a P is not directly in a Q; write P: {in: Q}"),
    (CLASSES + "operations:\n  go: [wlock several P]\n", 5, "'wlock several P' has no steps inside it"),
    (CLASSES + "order:\n  - P > R\n", 5, "unknown class 'R'; choose from P, Q"),
    (CLASSES + "order:\n  - Q > P in it\n", 5, "a P is not directly in a Q; write P: {in: Q}"),
    (CLASSES + "order:\n  - P > P around it\n", 5, "a P is not directly in a P"),
    (CLASSES + "order:\n  line: P > Q\n", 5, "'line' is not a number up to 999999; write a whole number"),
    (CLASSES + "order: [P > Q]\nclosed: yes\n", 5, "'yes' is not true or false; write true or false"),
    (
        "classes:\n  A: {lock: unowned}\n  B: {lock: mutex}\norder:\n  - B > A\n",
        5,
        "B > A: locks of A are unowned, so it is not known which thread holds one; leave out the row",
    ),
    # Rules.
    (CLASSES + "rules:\n  r: write f\n", 5, "'write f' is not a rule; write, for example,"),
    (CLASSES + "rules:\n  r: {line: 3}\n", 5, "rule r is empty; write rule: in it"),
    (CLASSES + "rules:\n  r: {lines: 3}\n", 5, "unknown key 'lines' of a rule; choose from line, sentence, rule"),
    (CLASSES + "rules:\n  r: write R.f needs wlock\n", 5, "unknown class 'R'"),
    (CLASSES + "rules:\n  r: write Q.g needs wlock\n", 5, "unknown field of Q 'g'; choose from f"),
    (CLASSES + "rules:\n  r: write Q.f needs lock\n", 5, "lock of a Q, whose lock is a rw; write rlock or wlock"),
    (CLASSES + "rules:\n  r: write Q.f needs wlock R\n", 5, "a Q is not in a R; write Q: {in: R}"),
    (CLASSES + "rules:\n  r: write several of P, Q needs wlock Q\n", 5, "a P is not in a Q"),
    (CLASSES + "rules:\n  r: write P.f needs wlock\n", 5, "unknown field of P 'f'; declare it"),
    # Operations.
    (CLASSES + "operations:\n  Go(Q q): []\n", 5, "'Go(Q q)' is not the name of an operation; write, for example,"),
    (CLASSES + "operations:\n  go(q): []\n", 5, "is not the name of an operation"),
    (CLASSES + "operations:\n  go(Q q, Q q): []\n", 5, "has two parameters of one name; give each its own"),
    (CLASSES + "operations:\n  go(R r): []\n", 5, "unknown class 'R'"),
    (CLASSES + "operations:\n  go(Q q in p): []\n", 5, "unknown object 'p'; choose from q"),
    (CLASSES + "operations:\n  go(P p, Q q in p, P r in p): []\n", 5, "a P is not in a P"),
    (
        CLASSES + "operations:\n  go:\n    - rlock p\nobjects: {p: P}\n",
        6,
        "'p' in an operation, which knows only its parameters; write OPERATION(P p)",
    ),
    (
        "objects: {a: rw}\noperations:\n  go:\n    - rlock a\n",
        4,
        "'a' in an operation, which knows only its parameters; give a a class, and write OPERATION(CLASS a)",
    ),
    (CLASSES + "operations:\n  go(Q q): {line: 3}\n", 5, "operation go has no steps; write steps: in it"),
    (
        CLASSES + "operations:\n  go(Q q): {step: []}\n",
        5,
        "unknown key 'step' of an operation; choose from line, under, steps",
    ),
    (CLASSES + "operations:\n  go(Q q): {under: q, steps: []}\n", 5, "'q' is not a lock that callers hold; write, for"),
    (CLASSES + "operations:\n  go(Q q): {under: lock q, steps: []}\n", 5, "lock of a Q, whose lock is a rw"),
    (CLASSES + "operations:\n  go(Q q): {line: x, steps: []}\n", 5, "'x' is not a number"),
    (CLASSES + "operations:\n  go(Q q): []\n  go(P p): []\n", 6, "operation go is written twice"),
    # Steps.
    (THREAD + "    - grab a\n", 4, "'grab a' is not a step; write one of: rlock PATH, wlock PATH, lock PATH"),
    (THREAD + "    - ''\n", 4, "'' is not a step"),
    (THREAD + "    - grab a: []\n", 4, "'grab a' is not a step with steps inside it"),
    (THREAD + "    - try lock m\n", 4, "'try lock m' has no steps inside it; end the line with a colon"),
    (THREAD + "    - try wlock m: []\n", 4, "wlock of a mutex, whose lock is a mutex; write lock"),
    (THREAD + "    - try unlock m: []\n", 4, "'try unlock m' is not a step with steps inside it; write one of"),
    (THREAD + "    - unlock a: []\n", 4, "'unlock a' has no steps inside it; drop the colon"),
    (THREAD + "    - maybe\n", 4, "'maybe' has no steps inside it; end the line with a colon"),
    (THREAD + "    - each Q q in a\n", 4, "'each Q q in a' has no steps inside it"),
    (THREAD + "    - rlock a: []\n      wlock a: []\n", 4, "this is not one step; begin each step with a dash"),
    (THREAD + "    - - rlock a\n", 4, "this is not one step"),
    (THREAD + "    rlock a: []\n", 4, "what is done here is not a list; begin each line of it with a dash"),
    (THREAD + "    - rlock b\n", 4, "unknown object 'b'; choose from a, m"),
    (THREAD + "    - lock a\n", 4, "lock of a rw, whose lock is a rw; write rlock or wlock"),
    (THREAD + "    - rlock m\n", 4, "rlock of a mutex, whose lock is a mutex; write lock"),
    (THREAD + "    - wlock m: []\n", 4, "wlock of a mutex"),
    (THREAD + "    - rlock a.Q\n", 4, "in a.Q, a rw is not in a Q; leave it out"),
    (THREAD + "    - read a.f\n", 4, "unknown field of rw 'f'"),
    (THREAD + "    - send c\n", 4, "unknown channel 'c'; declare it"),
    (THREAD + "    - go()\n", 4, "unknown operation 'go'"),
    (THREAD + "    - maybe:\n        - rlock b\n", 5, "unknown object 'b'"),
    (THREAD + "    - either:\n        - rlock a\n        - - rlock b\n", 6, "unknown object 'b'"),
    (THREAD + "    - either:\n        rlock a: []\n", 5, "what is done either way is not a list"),
    (THREAD + "    - serve: []\n", 4, "'serve' has no steps; write the steps that it repeats"),
    (THREAD + "    - serve: [rlock a: []]\n    - rlock a\n", 5, "a step after 'serve' never runs: 'serve' has no end"),
    (THREAD + "    - each Q q: []\n", 4, "unknown class 'Q'"),
    (THREAD + "    - each outermost rw x: []\n", 4, "is not a step with steps inside it"),
    # Objects, channels, threads.
    ("objects: {A: rw}\n", 1, "'A' is not a name of an object; begin it with a small letter"),
    ("objects: {a: lock}\n", 1, "'lock' is not an object; write its class, for example Queue in root"),
    ("objects: {a: Q}\n", 1, "unknown class 'Q'"),
    (CLASSES + "objects:\n  q: Q in p\n", 5, "unknown object 'p'"),
    (CLASSES + "objects:\n  q: Q in q\n", 5, "q is in itself; leave out one part of the cycle"),
    (CLASSES + "objects:\n  q: Q in r\n  r: Q in q\n", 5, "is in itself"),
    (CLASSES + "objects:\n  p: P\n  r: P\n  q: Q in p, r\n", 7, "q is in two objects of one class; leave out one"),
    (CLASSES + "objects:\n  p: P\n  q: P in p\n", 6, "a P is not in a P; write P: {in: P}"),
    ("channels: {C: 1}\n", 1, "'C' is not a name of a channel"),
    ("channels: {c: -1}\n", 1, "'-1' is not a number"),
    ("channels: {c: endless}\n", 1, "'endless' is not a number"),
    ("channels: {c: [1]}\n", 1, "a list or a mapping cannot be used here"),
    (
        THREAD + "    - rlock a: []\ntogether: 0\n",
        5,
        "together: 0 threads cannot be explored at once; write 1 to 4",
    ),
    (THREAD + "    - rlock a: []\ntogether: 5\n", 5, "together: 5 threads cannot be explored at once"),
    (THREAD + "    - rlock a: []\ntogether: two\n", 5, "'two' is not a number"),
    (THREAD + "    - rlock a: []\nrefuted: no-deadlock\n", 5, "refuted is not a list"),
    (THREAD + "    - rlock a: []\nrepairs: no-deadlock\n", 5, "repairs is not written as KEY: VALUE"),
    (
        THREAD + "    - rlock a: []\nrepairs:\n  once: {check: no-deadlock}\n",
        6,
        "unknown key 'check' of a repair; choose from checks, name, wrong, shown, rests",
    ),
    (
        THREAD + "    - rlock a: []\nrepairs:\n  once: {wrong: twice}\n",
        6,
        "this repair has no checks; write checks: in it",
    ),
    (
        THREAD + "    - rlock a: []\nrepairs:\n  once: {checks: no-deadlock, shown: no-dedlock}\n",
        6,
        "shown is 'no-dedlock', which it does not repair; choose from no-deadlock",
    ),
    ("drops: [a]\n", 1, "drops names 'a', which the amended description does not have; name a part of it"),
    ("amends: [a.yaml]\n", 1, "a list or a mapping cannot be used here"),
    ("amends: nosuch.yaml\n", 1, "nosuch.yaml: it cannot be read: No such file or directory; name a file that exists"),
    # Words for all that threads wait for.
    ("counters: {N: 0}\n", 1, "'N' is not a name of a counter; begin it with a small letter"),
    (
        "counters:\n  n: 256\n",
        2,
        "'256' is not a counter; write its first number, at most 255; or group; or semaphore NUMBER",
    ),
    ("counters:\n  n: many\n", 2, "'many' is not a counter"),
    ("channels: {n: 1}\ncounters: {n: 0}\n", 2, "n is a channel too; give one of them another name"),
    ("objects: {o: once}\nthreads:\n  t: [unlock o]\n", 3, "unlock o of a lock that is a once; leave it out"),
    ("conditions: {V: a}\n", 1, "'V' is not a name of a condition"),
    ("objects: {a: rw}\nconditions:\n  v: read a\n", 3, "'read a' is not a lock; write its name; or rlock NAME"),
    ("objects: {a: rw}\nconditions:\n  v: b\n", 3, "unknown object 'b'; choose from a"),
    ("objects: {a: rw}\nconditions:\n  v: a\n", 3, "whose lock is a rw; write rlock a or wlock a"),
    ("objects: {a: mutex}\nconditions:\n  v: rlock a\n", 3, "whose lock is a mutex; write a"),
    (
        "objects: {j: reentrant-rw}\nconditions:\n  v: rlock j\n",
        3,
        "write wlock j; Java has no condition of a read lock",
    ),
    ("objects: {s: stamped}\nconditions:\n  v: rlock s\n", 3, "whose lock is a stamped; choose a lock of another kind"),
    (
        "objects: {a: mutex}\ncounters: {v: 0}\nconditions:\n  v: a\n",
        4,
        "v is a counter too; give one of them another name",
    ),
    (PARTS + "    - lock o\n", 7, "lock of a once, whose lock is a once; write once, with steps below it"),
    (PARTS + "    - once a: []\n", 7, "once a of a lock that is a mutex; declare it as once"),
    (PARTS + "    - timed wait g\n", 7, "timed wait g: g is a group; write wait g"),
    (
        PARTS + "    - acquire p 0\n",
        7,
        "'acquire p 0' acquires no permit; write a number from 1 to 255, or leave it out",
    ),
    (PARTS + "    - acquire p 256\n", 7, "acquire p 256: counters go up to 255"),
    (PARTS + "    - acquire p 1000: []\n", 7, "acquire p 1000: counters go up to 255"),
    (PARTS + f"    - set n 1{'0' * 5000}\n", 7, "counters go up to 255; describe fewer at once"),
    (PARTS + "    - repeat 0: []\n", 7, "'repeat 0': steps are repeated 1 to 99 times; write repeat 1 to repeat 99"),
    (PARTS + "    - repeat 100: []\n", 7, "'repeat 100': steps are repeated 1 to 99 times"),
    (
        PARTS + "    - repeat 99: [repeat 99: [repeat 99: [repeat 99: [repeat 99: [add n]]]]]\n",
        7,
        "'repeat 99' stands for 980199 steps, more than 20000; describe less of it at once",
    ),
    (PARTS + "    - repeat 2\n", 7, "'repeat 2' has no steps inside it"),
    (PARTS + "    - once o\n", 7, "'once o' has no steps inside it"),
    (PARTS + "    - runlock a\n", 7, "runlock a of a lock that is a mutex; write unlock"),
    (PARTS + "    - unlock j\n", 7, "that one thread can hold for reading and for writing; write runlock or wunlock"),
    ("channels: {c: {capacity: 1, kind: x}}\n", 1, "unknown key 'kind' of a channel; choose from capacity, kinds"),
    (
        "channels: {c: {capacity: 1}}\n",
        1,
        "channel c has no kinds; write, for example, {capacity: 1, kinds: [put, get]}",
    ),
    ("channels: {c: {kinds: [x]}}\n", 1, "channel c has no capacity; write"),
    (
        "channels: {c: {capacity: 9, kinds: [x]}}\n",
        1,
        "channel c has kinds of messages and the capacity 9; write at most 8",
    ),
    ("channels: {c: {capacity: unbounded, kinds: [x]}}\n", 1, "and the capacity unbounded; write at most 8"),
    (
        "channels: {c: {capacity: 1, kinds: [X]}}\n",
        1,
        "'X' is not a kind of message; write a name that begins with a small",
    ),
    ("channels: {c: {capacity: 1, kinds: [x, x]}}\n", 1, "the kinds of messages x, x; write different names"),
    (
        "channels: {c: {capacity: 1, kinds: [closed]}}\n",
        1,
        "the kinds of messages closed; write different names, none of them",
    ),
    ("channels: {c: {capacity: 1, kinds: []}}\n", 1, "the kinds of messages are an empty list; write different names"),
    (KINDS + "[send c]\n", 3, "send c without a kind of message; write one of put, get"),
    (KINDS + "[send c stop]\n", 3, "unknown kind of message of c 'stop'; choose from put, get"),
    (
        KINDS + "[send d put]\n",
        3,
        "send d put with kinds of messages, and d has none; declare d with capacity and kinds",
    ),
    (KINDS + "[receive d: {put: []}]\n", 3, "receive d with kinds of messages, and d has none; declare d"),
    (KINDS + "[receive c: {put: []}]\n", 3, "receive c has no branch for get; write get: [] if nothing is done then"),
    (
        KINDS + "[receive c: {put: [], get: [], stop: []}]\n",
        3,
        "unknown kind of message of c 'stop'; choose from put, get, closed",
    ),
    (KINDS + "[receive c: {put: [], get: []}, close c]\n", 3, "receive c has no branch for closed; write closed: []"),
    (KINDS + "[maybe: [select: [receive c: {put: []}]]]\n", 3, "receive c has no branch for get; write get: []"),
    (KINDS + "[receive c: {}]\n", 3, "'receive c' has no branches; write a kind of message and its steps"),
    (
        KINDS + "[receive c put: {put: []}]\n",
        3,
        "'receive c put' has branches for kinds of messages; write receive CHANNEL",
    ),
    (PARTS + "    - close d\n", 7, "unknown channel 'd'; choose from c, x"),
    (PARTS + "    - close x\n", 7, "close x, which is a context; write cancel or receive"),
    (PARTS + "    - send x\n", 7, "send x, which is a context"),
    (PARTS + "    - cancel c\n", 7, "cancel c, which is a channel; write close; or declare it as context"),
    (PARTS + "    - select: []\n", 7, "'select' has no cases; write what it waits for"),
    (PARTS + "    - select: [default, timeout]\n", 7, "'select' has two of default and timeout; leave out one of them"),
    (PARTS + "    - select: [lock a]\n", 7, "'lock a' is not a case of a select; choose from send CHANNEL"),
    (PARTS + "    - select: [[receive c]]\n", 7, "this is not one case; begin each case with a dash"),
    (PARTS + "    - wait n\n", 7, "unknown condition or group 'n'; choose from v, g"),
    (PARTS + "    - signal g\n", 7, "unknown condition 'g'; choose from v"),
    (PARTS + "    - add m\n", 7, "unknown counter 'm'; choose from n, g, p"),
    (PARTS + "    - done n\n", 7, "done n: n is a number; choose from set, add, subtract, await, if, while, swap"),
    (PARTS + "    - await g = 0\n", 7, "await g = 0: g is a group; choose from add, done, wait"),
    (PARTS + "    - add p\n", 7, "add p: p is a semaphore; choose from acquire, release"),
    (PARTS + "    - set n 256\n", 7, "set n 256: counters go up to 255; describe fewer at once"),
    (PARTS + "    - swap n 0 300: []\n", 7, "counters go up to 255"),
    (PARTS + "    - if n == 0: []\n", 7, "'if n == 0' is not a step with steps inside it"),
]


@each_row(("text", "line", "says"), WRONG)
def test_what_is_wrong_is_refused_with_its_line_and_a_remedy(text: str, line: int, says: str) -> None:
    with pytest.raises(LocksError) as error:
        parse(text, "made.yaml")
    message = str(error.value)
    assert says in message
    assert message.startswith(f"made.yaml:{line}: ")
    problem, _, remedy = message.rpartition("; ")
    assert problem and remedy


def test_an_error_can_be_sent_to_another_process() -> None:
    error = LocksError(Place("made.yaml", 3), "unknown class 'Q'", "choose from P")
    sent = pickle.loads(pickle.dumps(error))
    assert (str(sent), sent.place) == (str(error), error.place)


CALLED = CLASSES + "objects: {p: P, q: Q in p}\noperations:\n  go(Q q, P p): []\n"


@each_row(
    ("steps", "says"),
    [
        ("- go(q)", "go(q) does not fit go(Q q, P p); give it objects of these classes"),
        ("- go(p, q)", "does not fit"),
        ("- go(q, p.Q)", "a P is not in a Q; leave it out"),
        ("- each Q q in p: []", "'q' is already the name of an object; choose another name"),
        ("- each P x in q: []", "a P is not directly in a Q"),
        ("- each outermost P x: []", "a P is never in a P; leave out 'outermost'"),
        ("- read q.g", "unknown field of Q 'g'; choose from f"),
        ("- rlock q.Q", "in q.Q, a Q is not in a Q; choose from P"),
    ],
)
def test_a_step_that_does_not_fit_its_objects_is_refused(steps: str, says: str) -> None:
    with pytest.raises(LocksError, match=r"^made\.yaml:9: ") as error:
        parse(f"{CALLED}threads:\n  t:\n    {steps}\n", "made.yaml")
    assert says in str(error.value)


# --- as a user meets them


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What the command says that ends with exit code 2: one line, with an excerpt of the file below it, and nothing else."""
    assert main(["locks", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    message, *excerpt = err.splitlines()
    assert out == "" and message.startswith("schedproof: ") and all(line.startswith("  ") for line in excerpt)
    return err


def written(folder: Path, name: str, content: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@each_row(
    ("content", "says"),
    [
        (b"\xff\xfe\x00objects", "the file is not UTF-8"),
        (bytes(range(256)), "the file is not UTF-8"),
        (b"a: b\n" * 250_000, "the file is longer than 1000000 bytes; write a description of locks"),
        (
            b"objects: {a: rw}\nthreads: {t: " + b"[" * 990 + b"]" * 990 + b"}\n",
            "the file is nested more than 100 deep",
        ),
        (
            b"objects: {a: rw}\nthreads: {t: " + b"[rlock a: " * 900 + b"[]" + b"]" * 900 + b"}\n",
            "the file is nested more than 100 deep",
        ),
        (b"{", "the file is not YAML"),
    ],
)
def test_a_file_that_is_no_description_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, says: str
) -> None:
    message = refusal(capsys, written(tmp_path, "file.yaml", content))
    assert says in message and "file.yaml:" in message


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file or directory" in refusal(capsys, tmp_path / "nosuch.yaml")
    assert "Is a directory" in refusal(capsys, tmp_path)
    assert "FILE is missing" in refusal(capsys)
    assert "no such option" in refusal(capsys, tmp_path, "--nosuch")


@each_row(
    ("files", "says"),
    [
        ({"a": "amends: a.yaml\n"}, "a.yaml:1: a.yaml amends itself; amend another description"),
        ({"a": "amends: ./a.yaml\n"}, "'./a.yaml' is not a file beside this one"),
        ({"a": "amends: b.yaml\n", "b": "amends: a.yaml\n"}, "b.yaml:1: a.yaml amends itself"),
        ({"a": "amends: b.yaml\n", "b": "amends: c.yaml\n", "c": "amends: a.yaml\n"}, "c.yaml:1: a.yaml amends itself"),
        ({"a": "about: x\namends: no.yaml\n"}, "a.yaml:2: no.yaml: it cannot be read"),
        ({"a": "amends: b.yaml\n", "b": "about: x\namends: no.yaml\n"}, "b.yaml:2: no.yaml: it cannot be read"),
        ({"a": "amends: b.yaml\n", "b": "objects: {B: rw}\n"}, "b.yaml:1: 'B' is not a name of an object"),
        ({"a": "amends: .\n"}, "'.' is not a file beside this one"),
        ({"a": "amends: b.yaml\ndrops: [x]\n", "b": THREAD + "    - rlock a: []\n"}, "drops names 'x'"),
        ({"a": "amends: b.yaml\ndrops: [a]\n", "b": THREAD + "    - rlock a: []\n"}, "unknown object 'a'"),
        ({"a": "amends: b.yaml\ndrops: [t]\n", "b": THREAD + "    - rlock a: []\n"}, "nothing can be checked"),
    ],
)
def test_what_cannot_be_amended_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], says: str
) -> None:
    for name, text in files.items():
        written(tmp_path, f"{name}.yaml", text)
    assert says in refusal(capsys, tmp_path / "a.yaml")


@each_row(
    ("text", "says"),
    [
        (
            "operations: {go(): [go()]}\nthreads: {t: [go()]}\n",
            "go calls itself for ever; let it call itself for",
        ),
        ("operations: {one(): [two()], two(): [one()]}\n", "calls itself for ever"),
        (CLASSES + "operations: {go(Q q): [go(q)]}\nobjects: {p: P, q: Q in p}\n", "calls itself for ever"),
        (
            "objects: {a: rw}\nthreads: {t: [serve: [maybe: [rlock a: []]]]}\n",
            "t serves without an end and without a step",
        ),
        (CLASSES + "objects: {q: Q}\nthreads: {t: [rlock q.P: []]}\n", "q is not in a P; write which: q: Q in ..."),
        (
            CLASSES + "objects: {p: P, r: P, q: Q in p, s: 'Q in r, q'}\nthreads: {t: [rlock s.P: []]}\n",
            "s is in two of class P: p and r; leave out one of them",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    assert says in refusal(capsys, written(tmp_path, "a.yaml", text))


# --- what is right


def test_a_description_is_read_as_it_is_written() -> None:
    text = (
        "about: all\ndocument: some.md\n"
        "classes:\n  P: {lock: mutex}\n  Q:\n    in: [P, Q]\n    has: [f, g]\n"
        "order:\n  12: P > Q in it\n  13: [Q > Q in it]\n"
        "rules:\n  r: {line: 14, sentence: says so, rule: 'write Q.f , g needs  lock P'}\n"
        "operations:\n  go(Q q, P p):\n    line: 15\n    under: {16: lock p}\n    steps: [wlock q: [write q.f]]\n"
        "objects: {p: P, q: Q in p}\nchannels: {c: 0, d: unbounded}\n"
        "threads: {t: rlock q}\ntogether: [1, 2]\nrefuted: [no-deadlock]\n"
    )
    description = parse(text, "folder/name.yaml")
    assert (description.name, description.about, description.document) == ("name", "all", "some.md")
    assert description.classes["P"].kind is Kind.MUTEX and description.classes["Q"].kind is Kind.RW
    assert description.classes["Q"].is_tree and not description.classes["P"].is_tree
    assert [(row.text, row.line) for row in description.order] == [("P > Q in it", 12), ("Q > Q in it", 13)]
    (rule,) = description.rules
    assert (rule.name, rule.line, rule.sentence, rule.mode, rule.lock) == ("r", 14, "says so", Mode.LOCK, "P")
    operation = description.operations["go"]
    assert (operation.line, operation.under[0].line, operation.under[0].mode) == (15, 16, Mode.LOCK)
    assert description.channels == {"c": 0, "d": UNBOUNDED}
    assert (description.together, description.refuted) == ((1, 2), {"no-deadlock"})


def test_a_branch_is_a_case_for_messages_of_its_kind() -> None:
    (step,) = parse(KINDS + "[receive c: {get: [send c put], put: [], closed: []}]\n", "locks.yaml").threads["t"].steps
    assert isinstance(step, Select)
    received = [(case.on.channel, case.on.kind) for case in step.cases if isinstance(case.on, Receive)]
    assert received == [("c", "get"), ("c", "put"), ("c", "closed")]
    (sent,) = step.cases[0].body
    assert isinstance(sent, Send) and (sent.channel, sent.kind) == ("c", "put")


def test_an_amended_channel_has_its_own_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(KINDS + "[send c put, send d]\n")
    (tmp_path / "b.yaml").write_text("amends: a.yaml\nchannels: {c: 1}\nthreads: {t: [send c, send d]}\n")
    assert read(tmp_path / "a.yaml").kinds == {"c": ("put", "get")}
    assert read(tmp_path / "b.yaml").kinds == {}


def test_a_repair_is_its_checks_or_says_more() -> None:
    text = THREAD + (
        "    - rlock a: []\nrepairs:\n  one: no-deadlock\n  two: [a, b]\n"
        "  three: {checks: [a, b], name: n, wrong: w, shown: b, rests: [r, s], lines: [7, 9]}\n"
    )
    one, two, three = parse(text, "locks.yaml").repairs
    assert (one.why, one.checks, one.name, one.wrong, one.shown, one.rests) == ("one", ("no-deadlock",), "", "", "", ())
    assert (two.why, two.checks, two.lines) == ("two", ("a", "b"), ())
    assert three.lines == (7, 9)
    assert (three.name, three.wrong, three.shown, three.rests, three.place.line) == ("n", "w", "b", ("r", "s"), 8)


def test_who_writes_may_do_what_a_reader_may() -> None:
    assert Mode.WRITE.covers(Mode.READ) and not Mode.READ.covers(Mode.WRITE)
    assert not Mode.LOCK.covers(Mode.READ) and all(mode.covers(mode) for mode in Mode)


def test_amending_takes_over_and_what_is_said_again_replaces(tmp_path: Path) -> None:
    written(
        tmp_path,
        "base.yaml",
        "about: base\nclasses: {A: {}, B: {}}\norder: [A > B]\nobjects: {a: A, b: B}\n"
        "operations: {go(A a): [rlock a: []], other(A a): []}\n"
        "threads: {t: [go(a)], u: [other(a)]}\ntogether: 2\nrefuted: [no-deadlock]\n",
    )
    file = written(
        tmp_path,
        "mine.yaml",
        "amends: base.yaml\norder: [B > A]\ndrops: [other, u]\noperations: {go(A a): [wlock a: []]}\n",
    )
    description = read(file)
    assert [row.text for row in description.order] == ["A > B", "B > A"]
    assert list(description.operations) == ["go"] and list(description.threads) == ["t"]
    assert description.operations["go"].steps[0].text == "wlock a"
    assert description.together == (2,) and description.about == "base"
    assert description.refuted == frozenset(), "what fails is said anew"


def language() -> None:
    """A gate of the reader: what is wrong is refused where it is wrong."""
    for text, line, says in WRONG:
        test_what_is_wrong_is_refused_with_its_line_and_a_remedy.row(text, line, says)
    test_a_description_is_read_as_it_is_written()
    test_a_repair_is_its_checks_or_says_more()
    test_who_writes_may_do_what_a_reader_may()


# --- what should be refused, and is not, or not politely


def test_a_check_that_is_not_there_cannot_be_expected_to_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal(capsys, written(tmp_path, "a.yaml", THREAD + "    - rlock a: []\nrefuted: [no-such-check]\n"))


def test_a_rule_is_not_named_as_a_check_is() -> None:
    text = "rules: {no-deadlock: write Q.f needs wlock}\nobjects: {q: Q}\nthreads: {t: [rlock q: []]}\n"
    with pytest.raises(LocksError, match="two checks have the name no-deadlock"):
        model_check(parse(CLASSES + text, "m"))


def test_what_is_expected_to_fail_is_a_check() -> None:
    with pytest.raises(LocksError, match="refuted names an unknown check 'no-dedlock'"):
        model_check(parse("objects: {a: rw}\nthreads: {t: [rlock a: []]}\nrefuted: [no-dedlock]\n", "m"))


@pytest.mark.parametrize(
    "text",
    [
        "classes: {A: {}}\nobjects: {a: A}\nthreads: {t: [each A x: [serve: [rlock x: []]], unlock a]}\n",
        "channels: {c: 1}\noperations: {go(): [serve: [receive c]]}\nobjects: {a: rw}\nthreads: {t: [go(), rlock a]}\n",
    ],
)
def test_nothing_comes_after_what_has_no_end(text: str) -> None:
    with pytest.raises(LocksError):
        explore_all(parse(text, "made.yaml"))


def test_threads_that_only_serve_are_explored_together() -> None:
    text = "objects: {a: mutex}\nchannels: {c: 1}\nthreads:\n  t: [serve: [receive c, lock a, lock a]]\n  u: [serve: [send c]]\ntogether: 2\n"
    assert explore_all(parse(text, "made.yaml")).states > 0


def test_a_file_name_that_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusal(capsys, written(tmp_path, "a.yaml", 'amends: "b\\0.yaml"\n'))


def is_checked(text: str) -> bool:
    """A traceback as deep as this one would take minutes to show."""
    try:
        model_check(parse(text, "made.yaml"))
    except RecursionError:
        return False
    return True


def test_an_operation_may_have_many_steps() -> None:
    text = "classes: {A: {has: f}}\noperations:\n  go(A a):\n" + "    - read a.f\n" * 1500
    assert is_checked(text)


def test_locks_are_nested_as_deep_as_can_be_read() -> None:
    def nested(deep: int) -> str:
        return "classes: {A: {}}\noperations:\n  go(A a): " + "[rlock a: " * deep + "[]" + "]" * deep + "\n"

    assert is_checked(nested(40))
    with pytest.raises(LocksError, match="nested more than 100 deep"):
        parse(nested(200), "made.yaml")


def test_what_is_dropped_is_one_thing(tmp_path: Path) -> None:
    written(tmp_path, "base.yaml", "objects: {node: rw}\nthreads: {node: [rlock node: []], t: [rlock node: []]}\n")
    with pytest.raises(LocksError, match=r"write objects\.node or threads\.node"):
        read(written(tmp_path, "mine.yaml", "amends: base.yaml\ndrops: [node]\n"))


def test_an_object_in_two_partitions_is_refused() -> None:
    with pytest.raises(LocksError):
        parse(
            "classes: {P: {}, Q: {in: P}, X: {in: [P, Q]}}\n"
            "objects: {p: P, r: P, q: Q in p, x: 'X in r, q'}\nthreads: {t: [rlock x: []]}\n",
            "made.yaml",
        )
