"""z3 expressions that are built once for each context and live as long as the context.

z3's own Python classes check and convert every argument, and look up the sort of every result.
With them, building and reading formulas took longer than solving.
Here equal expressions are one object, which caches what was read of it.
A result of z3 is only checked for being null.
The classes still derive from z3's, so z3's own functions accept them.
"""

# ruff: noqa: N802 (z3's names)
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import z3
from z3 import z3core
from z3.z3types import Ast

from .time_limit import NO_LIMIT, TimeLimit

_POINTER, _NUMBER, _TRUTH = ctypes.c_void_p, ctypes.c_uint, ctypes.c_bool


def _function(name: str, *arguments: Any, result: Any = _POINTER) -> Any:
    """A function of z3's library that takes and returns plain numbers."""
    [checked] = getattr(z3core, name).__defaults__  # it has z3's own function, which takes only z3's classes
    address = ctypes.cast(checked.f, ctypes.c_void_p).value
    assert address is not None
    return ctypes.CFUNCTYPE(result, _POINTER, *arguments)(address)


_inc_ref = _function("Z3_inc_ref", _POINTER, result=None)
_not = _function("Z3_mk_not", _POINTER)
_and = _function("Z3_mk_and", _NUMBER, _POINTER)
_or = _function("Z3_mk_or", _NUMBER, _POINTER)
_implies = _function("Z3_mk_implies", _POINTER, _POINTER)
_ite = _function("Z3_mk_ite", _POINTER, _POINTER, _POINTER)
_eq = _function("Z3_mk_eq", _POINTER, _POINTER)
_le = _function("Z3_mk_le", _POINTER, _POINTER)
_lt = _function("Z3_mk_lt", _POINTER, _POINTER)
_add = _function("Z3_mk_add", _NUMBER, _POINTER)
_mul = _function("Z3_mk_mul", _NUMBER, _POINTER)
_app = _function("Z3_mk_app", _POINTER, _NUMBER, _POINTER)
_pattern = _function("Z3_mk_pattern", _NUMBER, _POINTER)
_quantifier = _function(
    "Z3_mk_quantifier_const_ex",
    *[_TRUTH, _NUMBER, _POINTER, _POINTER, _NUMBER, _POINTER, _NUMBER, _POINTER, _NUMBER, _POINTER, _POINTER],
)
_simplify = _function("Z3_simplify", _POINTER)
_substitute = _function("Z3_substitute", _POINTER, _NUMBER, _POINTER, _POINTER)
_substitute_vars = _function("Z3_substitute_vars", _POINTER, _NUMBER, _POINTER)
_ast_kind = _function("Z3_get_ast_kind", _POINTER, result=_NUMBER)
_sort = _function("Z3_get_sort", _POINTER)
_decl = _function("Z3_get_app_decl", _POINTER)
_arity = _function("Z3_get_app_num_args", _POINTER, result=_NUMBER)
_arg = _function("Z3_get_app_arg", _POINTER, _NUMBER)
_assert = _function("Z3_solver_assert", _POINTER, _POINTER, result=None)
_check = _function("Z3_solver_check_assumptions", _POINTER, _NUMBER, _POINTER, result=ctypes.c_int)
_core = _function("Z3_solver_get_unsat_core", _POINTER)
_vector_inc_ref = _function("Z3_ast_vector_inc_ref", _POINTER, result=None)
_vector_dec_ref = _function("Z3_ast_vector_dec_ref", _POINTER, result=None)
_vector_size = _function("Z3_ast_vector_size", _POINTER, result=_NUMBER)
_vector_get = _function("Z3_ast_vector_get", _POINTER, _NUMBER)
_error = _function("Z3_get_error_code", result=ctypes.c_int)
_string_symbol = _function("Z3_mk_string_symbol", ctypes.c_char_p)


def _array(numbers: Sequence[int]) -> Any:
    return (_POINTER * len(numbers))(*numbers)


class Expression(z3.ExprRef):  # type: ignore[misc]
    """An expression of ``home``; ``n`` is its address, and ``sort_at`` the address of its sort.

    Equal expressions are the same object. ``==`` builds the formula that two expressions are equal.
    """

    ctx = property(lambda self: self.home.context)

    _children: tuple[Expression, ...] | None = None

    def __init__(self, home: Expressions, n: int, sort_at: int) -> None:
        self.home, self.n, self.sort_at = home, n, sort_at

    def __del__(self) -> None:
        """Does nothing: the context frees the expression."""

    @property
    def ast(self) -> Any:
        """The expression as z3's own functions take it."""
        copy = Ast.__new__(Ast)
        copy.value = self.n
        return copy

    def eq(self, other: Any) -> bool:
        """Whether ``other`` is the same expression."""
        return self is self.home.of(other)

    def children(self) -> tuple[Expression, ...]:
        """The arguments of an application; () for a quantifier or a bound variable."""
        if self._children is None:
            self._children = self.home.arguments(self)
        return self._children

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        return self.home.made(_eq, self, self.home.of(other))

    def __ne__(self, other: Any) -> Any:
        return Not(self == other)

    def __le__(self, other: Any) -> Any:
        return self.home.made(_le, self, self.home.of(other))

    def __lt__(self, other: Any) -> Any:
        return self.home.made(_lt, self, self.home.of(other))

    def __ge__(self, other: Any) -> Any:
        return self.home.made(_le, self.home.of(other), self)

    def __gt__(self, other: Any) -> Any:
        return self.home.made(_lt, self.home.of(other), self)

    def __add__(self, other: Any) -> Any:
        return self.home.several(_add, (self, self.home.of(other)))

    def __rmul__(self, other: Any) -> Any:
        return self.home.several(_mul, (self.home.of(other), self))


class Truth(Expression, z3.BoolRef):  # type: ignore[misc]
    """A formula whose outermost operator is not a quantifier."""


class Number(Expression, z3.ArithRef):  # type: ignore[misc]
    """An integer expression."""


class Quantified(Expression, z3.QuantifierRef):  # type: ignore[misc]
    """A quantified formula; see :meth:`opened`."""

    _opened: tuple[tuple[Expression, ...], Expression] | None = None

    def opened(self) -> tuple[tuple[Expression, ...], Expression]:
        """Fresh constants for the bound variables, and the body over them. Every call returns the same ones."""
        if self._opened is None:
            values = tuple(
                self.home.of(z3.FreshConst(self.var_sort(n), self.var_name(n))) for n in range(self.num_vars())
            )
            body = self.home.of(self.body())
            inner = _substitute_vars(self.home.c, body.n, len(values), _array([v.n for v in reversed(values)]))
            self._opened = values, self.home.at(inner)
        return self._opened


class Function(z3.FuncDeclRef):  # type: ignore[misc]
    """A function symbol."""

    def __init__(self, home: Expressions, symbol: z3.FuncDeclRef) -> None:
        super().__init__(symbol.ast, symbol.ctx)
        self.home, self.n = home, symbol.ast.value

    def __call__(self, *arguments: Any) -> Any:
        return self.home.applied(self.n, [self.home.of(a) for a in arguments])


class Solver(z3.Solver):  # type: ignore[misc]
    """z3's solver for the expressions of ``home``."""

    def __init__(self, home: Expressions, time_limit: TimeLimit = NO_LIMIT) -> None:
        super().__init__(ctx=home.context)
        self.home, self.at, self._effort, self._time_limit = home, self.solver.value, 0, time_limit

    def add(self, *formulas: Expression) -> None:
        """Asserts formulas."""
        for formula in formulas:
            _assert(self.home.c, self.at, formula.n)
            self.home.raise_error()

    def limit(self, effort: int) -> None:
        """Limits each check to ``effort`` of z3's own steps."""
        if effort != self._effort:
            self.set("rlimit", effort)
            self._effort = effort

    def answer(self, assumptions: Sequence[Expression]) -> z3.CheckSatResult:
        """Whether the assertions are satisfiable together with ``assumptions``; unknown once the time is over."""
        if self._time_limit is not NO_LIMIT:
            left = self._time_limit.milliseconds()
            if not left:
                return z3.unknown
            self.set("timeout", left)
        status = _check(self.home.c, self.at, len(assumptions), _array([a.n for a in assumptions]))
        self.home.raise_error()
        return z3.CheckSatResult(status)

    def core(self) -> set[Expression]:
        """The assumptions of the last check that are in its unsat core."""
        vector = _core(self.home.c, self.at)
        _vector_inc_ref(self.home.c, vector)
        literals = {self.home.at(_vector_get(self.home.c, vector, n)) for n in range(_vector_size(self.home.c, vector))}
        _vector_dec_ref(self.home.c, vector)
        return literals


class Expressions:
    """The expressions of a z3 context, each built once."""

    def __init__(self, context: z3.Context) -> None:
        self.context = context
        self.c = ctypes.c_void_p.from_buffer(context.ref()).value
        self._made: dict[Any, Any] = {}
        self._at: dict[int, Expression] = {}
        self._kinds = {z3.BoolSort(context).ast.value: Truth, z3.IntSort(context).ast.value: Number}
        self._numbers: dict[int, Any] = {}
        self._nothing = _array([])
        self._name = _string_symbol(self.c, b"")
        self.true = self.of(z3.BoolVal(True, context))
        self.false = self.of(z3.BoolVal(False, context))
        self._conjunction = _decl(self.c, And(self.true, self.false).n)

    def close(self) -> None:
        """Lets go of the expressions, which refer to this object: only a garbage collection finds such a cycle.

        Expressions that are in use stay valid. Later ones may be equal to them without being the same object.
        """
        self.__dict__.update(_made={}, _at={}, _numbers={}, true=None, false=None)

    def at(self, n: int | None) -> Any:
        """The expression at an address that z3 returned.

        Raises:
            z3.Z3Exception: the address is null: z3 refused to build the expression.
        """
        if n in self._at:
            return self._at[n]
        if n is None:
            self.raise_error()
            raise z3.Z3Exception("no expression")
        _inc_ref(self.c, n)
        sort = _sort(self.c, n)
        quantified = _ast_kind(self.c, n) == z3.Z3_QUANTIFIER_AST
        kind = Quantified if quantified else self._kinds.get(sort, Expression)
        expression = self._at[n] = kind(self, n, sort)
        return expression

    def raise_error(self) -> None:
        """Raises the last error of z3, if it has one.

        Raises:
            z3.Z3Exception: z3 refused the last call.
        """
        if code := _error(self.c):
            raise z3.Z3Exception(z3core.Z3_get_error_msg(self.context.ref(), code))

    def of(self, value: Any) -> Any:
        """The expression of a z3 expression, a number or a truth value."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool):
            return self.true if value else self.false
        if isinstance(value, int):
            if value not in self._numbers:
                self._numbers[value] = self.at(z3.IntVal(value, self.context).ast.value)
            return self._numbers[value]
        return self.at(value.ast.value)

    def constant(self, name: str, sort: z3.SortRef) -> Any:
        """The constant of this name and sort."""
        key = (name, sort.ast.value)
        expression = self._made.get(key)
        if expression is None:
            expression = self._made[key] = self.of(z3.Const(name, sort))
        return expression

    def function(self, name: str, *sorts: z3.SortRef) -> Function:
        """A function symbol; ``sorts`` are those of its arguments, then that of its value."""
        return Function(self, z3.Function(name, *sorts))

    def made(self, function: Any, *parts: Expression) -> Any:
        """The result of a function of z3's library, applied to a fixed number of expressions."""
        numbers = [part.n for part in parts]
        key = (id(function), *numbers)
        expression = self._made.get(key)
        if expression is None:
            expression = self._made[key] = self.at(function(self.c, *numbers))
        return expression

    def several(self, function: Any, parts: Sequence[Expression]) -> Any:
        """The result of a function of z3's library that takes any number of expressions."""
        numbers = [part.n for part in parts]
        key = (id(function), *numbers)
        expression = self._made.get(key)
        if expression is None:
            expression = self._made[key] = self.at(function(self.c, len(numbers), _array(numbers)))
        return expression

    def applied(self, symbol: int, arguments: Sequence[Expression]) -> Any:
        """The function symbol at address ``symbol``, applied to ``arguments``."""
        numbers = [argument.n for argument in arguments]
        key = (symbol, *numbers)
        expression = self._made.get(key)
        if expression is None:
            expression = self._made[key] = self.at(_app(self.c, symbol, len(numbers), _array(numbers)))
        return expression

    def like(self, expression: Expression, children: Sequence[Expression]) -> Any:
        """The function symbol of an application, applied to other arguments."""
        return self.applied(_decl(self.c, expression.n), children)

    def arguments(self, expression: Expression) -> tuple[Expression, ...]:
        """The arguments of an application; () for every other expression."""
        if _ast_kind(self.c, expression.n) != z3.Z3_APP_AST:
            return ()
        count = _arity(self.c, expression.n)
        return tuple([self.at(_arg(self.c, expression.n, i)) for i in range(count)])

    def quantified(
        self,
        universal: bool,
        values: Sequence[Expression],
        body: Expression,
        patterns: Sequence[Sequence[Expression]] = (),
    ) -> Any:
        """``body`` for all or some values of the constants ``values``."""
        numbers = tuple(v.n for v in values)
        key = (universal, numbers, body.n, *[tuple(p.n for p in pattern) for pattern in patterns])
        expression = self._made.get(key)
        if expression is None:
            where = [self._pattern(pattern) for pattern in patterns]
            n = _quantifier(
                self.c,
                *[universal, 1, self._name, self._name],
                *[len(numbers), _array(numbers), len(where), _array(where), 0, self._nothing, body.n],
            )
            expression = self._made[key] = self.at(n)
            if expression._opened is None:
                expression._opened = tuple(values), body
        return expression

    def _pattern(self, pattern: Sequence[Expression]) -> int:
        n: int = _pattern(self.c, len(pattern), _array([p.n for p in pattern]))
        _inc_ref(self.c, n)
        return n

    def is_and(self, expression: Expression) -> bool:
        """Whether the expression is a conjunction."""
        return bool(expression.children()) and _decl(self.c, expression.n) == self._conjunction

    def simplified(self, expression: Expression) -> Any:
        """The expression after z3's simplification."""
        return self.made(_simplify, expression)

    def substituted(self, expression: Expression, old: Sequence[Expression], new: Sequence[Expression]) -> Any:
        """``expression`` with each of ``old`` replaced by the one of ``new`` at the same position."""
        numbers = [each.n for each in old], [each.n for each in new]
        return self.at(_substitute(self.c, expression.n, len(old), _array(numbers[0]), _array(numbers[1])))


def And(*parts: Any) -> Any:
    """The conjunction of ``parts``."""
    return parts[0].home.several(_and, parts)


def Or(*parts: Any) -> Any:
    """The disjunction of ``parts``."""
    return parts[0].home.several(_or, parts)


def Not(part: Any) -> Any:
    """The negation of ``part``."""
    return part.home.made(_not, part)


def Implies(premise: Any, conclusion: Any) -> Any:
    """The formula that ``premise`` implies ``conclusion``."""
    return premise.home.made(_implies, premise, conclusion)


def If(condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` if ``condition`` is true, else ``no``."""
    return condition.home.made(_ite, condition, yes, no)


def ForAll(values: Sequence[Any], body: Any, patterns: Sequence[Sequence[Any]] = ()) -> Any:
    """``body`` for all values of constants. z3 instantiates it where all terms of a pattern occur."""
    return body.home.quantified(True, values, body, patterns)


def Exists(values: Sequence[Any], body: Any, patterns: Sequence[Sequence[Any]] = ()) -> Any:
    """``body`` for some values of constants."""
    return body.home.quantified(False, values, body, patterns)


def conjuncts(formulas: Iterable[Any]) -> Iterator[Any]:
    """The conjuncts of formulas, without nested conjunctions."""
    for formula in formulas:
        if formula.home.is_and(formula):
            yield from conjuncts(formula.children())
        else:
            yield formula


def is_true(expression: Any) -> bool:
    """Whether the expression is the constant true."""
    return expression is expression.home.true
