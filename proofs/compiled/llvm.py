"""Translation of functions of :mod:`.code` into LLVM assembly, and their compilation to native code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import llvmlite
import llvmlite.binding as llvm

from schedproof.proofs.cache import Cache

from .code import Binary, Block, Count, Each, Expr, Function, If, Item, Leave, Local, Put, Set, Stmt

_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "lshr"}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">"}
_CONDITIONS = {**_COMPARISONS, ">=": "sge", ">": "sgt"}


DECLARED = "declare i64 @llvm.cttz.i64(i64, i1)"
"""Declarations of LLVM intrinsics that functions use."""

LEVEL = 2
"""The optimization level: 1 gives code that is a third slower, 3 no faster code.

Compiling takes a second or several with optimization, and a tenth of that without."""

WITHOUT = {"bmi2"}
"""Processor features that are not used. With bmi2 on x86, LLVM compiles ``x & table[i + 1]`` wrongly if the table is 0, 1, 3,
7, ...: the result is the lowest ``i`` bits of x instead of ``i + 1``."""

PAYS = 3
"""Optimizing pays off for more states than this for each character of the assembly.

It takes 2 microseconds a character, and saves 0.6 microseconds a state with 130,000 characters (HiveD), 1.2 with 1.7 million
(Jobmon)."""

MACHINE_CODE = Cache("machine-code", most=400)
"""The cache of native code, so that a model is not compiled by every command."""


def assembly(function: Function) -> str:
    """A function as LLVM assembly."""
    return _Writer(function).text()


class _Writer:
    """The assembly of one function under construction."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._lines: list[str] = []
        self._locals: dict[str, None] = {}
        self._registers: dict[str, str] = {}
        self._numbers = count()
        self._exits: list[tuple[str, str]] = []
        self._open = True

    def text(self) -> str:
        f = self._function
        arguments = [f'ptr noalias %"{p}"' for p in f.pointers] + [f'i64 %"{n}.in"' for n in f.numbers]
        for name in f.numbers:
            self._set(name, f'%"{name}.in"')
        self._block(f.body)
        result = self._value(f.result)
        entry = [f'  %"{n}" = alloca i64' for n in self._locals]
        entry += [f'  %"{n}" = alloca [{length} x i64]' for n, length in f.scratch.items()]
        tables = [
            f'@"{f.name} {n}" = private unnamed_addr constant [{len(v)} x i64] [{", ".join(f"i64 {x}" for x in v)}]'
            for n, v in f.tables.items()
        ]
        head = f'define i64 @"{f.name}"({", ".join(arguments)}) {{'
        return "\n".join(
            [
                *tables,
                head,
                "entry:",
                *entry,
                *self._lines,
                f"  ret i64 {result}",
                "}",
            ]
        )

    def _new(self, prefix: str = "t") -> str:
        return f"{prefix}{next(self._numbers)}"

    def _emit(self, line: str) -> None:
        self._lines.append(line)

    def _result(self, line: str) -> str:
        name = f"%t{next(self._numbers)}"
        self._lines.append(f"{name} = {line}")
        return name

    def _label(self, name: str) -> None:
        """Starts a basic block; code before it falls through if it is still open."""
        if self._open:
            self._emit(f"br label %{name}")
        self._lines.append(f"{name}:")
        self._open = True

    def _goto(self, name: str) -> None:
        self._emit(f"br label %{name}")
        self._open = False

    def _set(self, name: str, value: str) -> None:
        assert name not in self._registers, f"{name} changes in its loop"
        self._locals[name] = None
        self._emit(f'store i64 {value}, ptr %"{name}"')

    def _place(self, array: str, index: Expr) -> str:
        name = f'@"{self._function.name} {array}"' if array in self._function.tables else f'%"{array}"'
        return name if index == 0 else self._result(f"getelementptr i64, ptr {name}, i64 {self._value(index)}")

    def _value(self, expr: Expr) -> str:
        match expr:
            case int():
                return str(expr if expr < 1 << 63 else expr - (1 << 64))
            case Local(name):
                if name in self._registers:
                    return self._registers[name]
                self._locals[name] = None
                return self._result(f'load i64, ptr %"{name}"')
            case Item(array, index):
                return self._result(f"load i64, ptr {self._place(array, index)}")
            case Binary(op, left, right):
                a, b = self._value(left), self._value(right)
                if op in _ARITHMETIC:
                    return self._result(f"{_ARITHMETIC[op]} i64 {a}, {b}")
                return self._result(f"zext i1 {self._result(f'icmp {_COMPARISONS[op]} i64 {a}, {b}')} to i64")

    def _truth(self, expr: Expr) -> str:
        op, left, right = _condition(expr)
        a, b = self._value(left), self._value(right)
        return self._result(f"icmp {_CONDITIONS[op]} i64 {a}, {b}")

    def _block(self, body: Sequence[Stmt]) -> None:
        for stmt in body:
            if not self._open:
                return  # unreachable code
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        match stmt:
            case Set(name, value):
                self._set(name, self._value(value))
            case Put(array, index, value):
                number = self._value(value)
                self._emit(f"store i64 {number}, ptr {self._place(array, index)}")
            case If(condition, then):
                yes, end = self._new("then"), self._new("end")
                self._emit(f"br i1 {self._truth(condition)}, label %{yes}, label %{end}")
                self._open = False
                self._label(yes)
                self._block(then)
                self._label(end)
            case Each(name, mask, body):
                self._each(name, mask, body)
            case Count(name, low, high, body):
                self._count(name, low, high, body)
            case Block(label, body):
                end = self._new("end")
                self._exits.append((label, end))
                self._block(body)
                self._exits.pop()
                self._label(end)
            case Leave(label):
                self._goto(next(end for known, end in reversed(self._exits) if known == label))

    def _each(self, name: str, mask: Expr, body: Sequence[Stmt]) -> None:
        left, test, go, end = self._new("left"), self._new("test"), self._new("each"), self._new("end")
        self._set(left, self._value(mask))
        self._label(test)
        rest = self._value(Local(left))
        self._emit(f"br i1 {self._result(f'icmp ne i64 {rest}, 0')}, label %{go}, label %{end}")
        self._open = False
        self._label(go)
        lowest = self._result(f"call i64 @llvm.cttz.i64(i64 {rest}, i1 true)")
        less = self._result(f"sub i64 {rest}, 1")
        self._set(left, self._result(f"and i64 {rest}, {less}"))
        self._with(name, lowest, body)
        if self._open:
            self._goto(test)
        self._label(end)

    def _count(self, name: str, low: Expr, high: Expr, body: Sequence[Stmt]) -> None:
        counter, test, go, end = self._new("counter"), self._new("test"), self._new("count"), self._new("end")
        self._set(counter, self._value(low))
        last = self._value(high)
        self._label(test)
        now = self._value(Local(counter))
        self._emit(f"br i1 {self._result(f'icmp sle i64 {now}, {last}')}, label %{go}, label %{end}")
        self._open = False
        self._label(go)
        self._set(counter, self._result(f"add i64 {now}, 1"))
        self._with(name, now, body)
        if self._open:
            self._goto(test)
        self._label(end)

    def _with(self, name: str, register: str, body: Sequence[Stmt]) -> None:
        """Writes a loop's body; its variable is constant there, so it stays in a register."""
        self._registers[name] = register
        self._block(body)
        del self._registers[name]


def _condition(expr: Expr) -> tuple[str, Expr, Expr]:
    """The comparison that is equivalent to an expression being nonzero."""
    if isinstance(expr, Binary):
        if expr.op in _COMPARISONS:
            return expr.op, expr.left, expr.right
        if expr.op == "^" and expr.right == 1 and _is_truth(expr.left):
            op, left, right = _condition(expr.left)
            return _OPPOSITE[op], left, right
    return "!=", expr, 0


def _is_truth(expr: Expr) -> bool:
    """Whether an expression is certainly 0 or 1."""
    return isinstance(expr, Binary) and (expr.op in _COMPARISONS or (expr.op == "&" and expr.right == 1))


def level_for(states: int | None, text: str) -> int:
    """The optimization level of an assembly for about this many states; ``None`` for as many as there can be."""
    return LEVEL if states is None or states >= PAYS * len(text) else 0


class Machine:
    """Functions as native code, which lives as long as this object.

    Args:
        functions: in assembly; their names and those of their tables must differ.
        states: the expected number of states, which decides whether to optimize; ``None`` to optimize. Optimized code of the
            cache is used for any number.
        cached: read native code from the cache, and store it there.
    """

    def __init__(self, functions: Sequence[str], *, states: int | None = None, cached: bool = True) -> None:
        text = "\n".join([DECLARED, *functions])
        level = level_for(states, text)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        host = llvm.get_host_cpu_features()
        host |= dict.fromkeys(host.keys() & WITHOUT, False)
        cpu, features = llvm.get_host_cpu_name(), host.flatten()
        self._target = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu, features=features, opt=level, jit=True
        )

        def key(at: int) -> str:
            return "\n".join([text, str(at), cpu, features, llvmlite.__version__])

        # Optimized code that is there already is faster from the first state on.
        levels = dict.fromkeys([LEVEL, level]) if cached else {}
        code = next((code for each in levels if (code := MACHINE_CODE.load(key(each))) is not None), None)
        if code is None:
            code = self._compiled(text, level)
            if cached:
                MACHINE_CODE.store(key(level), code)
                MACHINE_CODE.shrink()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def _compiled(self, text: str, level: int) -> bytes:
        module = llvm.parse_assembly(text)
        module.verify()
        builder = llvm.create_pass_builder(self._target, llvm.create_pipeline_tuning_options(speed_level=level))
        builder.getModulePassManager().run(module, builder)
        return bytes(self._target.emit_object(module))

    def address(self, name: str) -> int:
        """The address of a function; 0 if there is none of that name."""
        return int(self._engine.get_function_address(name))
