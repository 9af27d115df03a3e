"""A reader of TLA+ that shares nothing with what writes it: modules as Python, from the tree that tree-sitter's grammar finds.

It knows the part of the language that finite specifications of one module use, and is as strict as TLC and its parser where that
matters: names are defined once, operators of overlapping precedence need parentheses, values of different types are not compared, a
function is applied in its domain, and an action says of every variable what becomes of it. Temporal formulas are not read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import tree_sitter
import tree_sitter_tlaplus

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the grammar gives a number for a pointer
    PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_tlaplus.language()))
Node = tree_sitter.Node


class Refused(Exception):
    """The module is no TLA+, or not of the part that is read."""


class Failed(Exception):
    """An expression has no value."""


def parse(text: str) -> Node:
    """The tree of a module.

    Raises:
        Refused: it does not parse.
    """
    root = PARSER.parse(text.encode()).root_node
    if (bad := next(broken(root), None)) is not None:
        raise Refused(f"line {bad.start_point[0] + 1}: {text_of(bad)[:80]!r} is no TLA+")
    return root


def broken(node: Node) -> Iterator[Node]:
    """The nodes that are errors, or missing."""
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        yield from broken(child)


def text_of(node: Node) -> str:
    """A node's text."""
    return (node.text or b"").decode()


def parts(node: Node) -> list[Node]:
    """What a node is made of, without comments."""
    return [child for child in node.named_children if child.type not in ("comment", "block_comment")]


class Fun(dict):  # type: ignore[type-arg]
    """A function; records are functions on strings."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass(frozen=True)
class Functions:
    """``[S -> T]``, by its members."""

    domain: frozenset[Any]
    range: Any

    def __contains__(self, f: Any) -> bool:
        return isinstance(f, Fun) and f.keys() == self.domain and all(v in self.range for v in f.values())


@dataclass(frozen=True)
class Records:
    """``[a : S]``, by its members."""

    fields: tuple[tuple[str, Any], ...]

    def __contains__(self, f: Any) -> bool:
        return isinstance(f, Fun) and f.keys() == {n for n, _ in self.fields} and all(f[n] in s for n, s in self.fields)


@dataclass(frozen=True)
class Subsets:
    """``SUBSET S``."""

    of: frozenset[Any]

    def __contains__(self, s: Any) -> bool:
        return isinstance(s, frozenset) and s <= self.of

    def __iter__(self) -> Iterator[frozenset[Any]]:
        every = sorted(self.of)
        for bits in range(1 << len(every)):
            yield frozenset(x for i, x in enumerate(every) if bits >> i & 1)


@dataclass(frozen=True)
class Numbers:
    """``Int`` or ``Nat``, by its members."""

    low: int | None = None

    def __contains__(self, value: Any) -> bool:
        whole = number(value)
        return self.low is None or whole >= self.low


def alike(a: Any, b: Any) -> None:
    if type(a) is not type(b):
        raise Failed(f"{a!r} and {b!r} are compared")


def equal(a: Any, b: Any) -> bool:
    alike(a, b)
    return bool(a == b)


def inside(a: Any, among: Any) -> bool:
    if isinstance(among, frozenset):
        for other in among:
            alike(a, other)
            break
    return a in among


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Failed(f"{value!r} is no truth value")
    return value


def number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Failed(f"{value!r} is no number")
    return value


@dataclass(frozen=True)
class Sequences:
    """``Seq(S)``, by its members."""

    of: Any

    def __contains__(self, s: Any) -> bool:
        return isinstance(s, tuple) and all(inside(item, self.of) for item in s)


def items_of(s: Any) -> tuple[Any, ...]:
    if not isinstance(s, tuple):
        raise Failed(f"{s!r} is no sequence")
    return s


def part_of(s: Any, first: Any, last: Any) -> tuple[Any, ...]:
    """``SubSeq``: as TLC, it refuses indices outside of the sequence, except for the empty part."""
    if number(first) > number(last):
        return ()
    if first < 1 or last > len(items_of(s)):
        raise Failed(f"{s!r} has no part from {first} to {last}")
    return items_of(s)[first - 1 : last]


def apply(f: Any, x: Any) -> Any:
    if isinstance(f, tuple):
        if not 1 <= number(x) <= len(f):
            raise Failed(f"{f!r} has no item {x}")
        return f[x - 1]
    if not isinstance(f, Fun) or x not in f:
        raise Failed(f"{f!r} is applied to {x!r}")
    return f[x]


def changed(f: Any, changes: Mapping[str, Any]) -> Fun:
    for name in changes:
        apply(f, name)
    return Fun({**f, **changes})


def chosen(values: Iterator[Any]) -> Any:
    every = list(values)
    if len(every) != 1:
        raise Failed(f"a choice among {every!r}, which another checker may make in another way")
    return every[0]


def no_case() -> Any:
    raise Failed("no case is met")


def once(value: Callable[[], Any]) -> Callable[[], Any]:
    """A definition's value: computed when it is asked for, and once."""
    return cache(value)


PRECEDENCE = {
    "implies": (1, 1), "iff": (2, 2), "land": (3, 3), "lor": (3, 3), "lnot": (4, 4), "eq": (5, 5), "neq": (5, 5), "in": (5, 5),
    "notin": (5, 5), "leq": (5, 5), "lt": (5, 5), "setminus": (8, 8), "cup": (8, 8), "powerset": (8, 8), "dots_2": (9, 9),
    "plus": (10, 10), "minus": (11, 11), "times": (10, 13), "negative": (12, 12), "unchanged": (4, 15), "prime": (15, 15),
}  # fmt: skip
ASSOCIATIVE = {"land", "lor", "cup", "plus", "times"}

INFIX = {
    "implies": "(not truth({a}) or truth({b}))", "iff": "(truth({a}) == truth({b}))", "land": "(truth({a}) and truth({b}))",
    "lor": "(truth({a}) or truth({b}))", "eq": "equal({a}, {b})", "neq": "(not equal({a}, {b}))", "in": "inside({a}, {b})",
    "notin": "(not inside({a}, {b}))", "leq": "(number({a}) <= number({b}))", "lt": "(number({a}) < number({b}))",
    "setminus": "({a} - {b})", "cup": "({a} | {b})", "dots_2": "frozenset(range(number({a}), number({b}) + 1))",
    "plus": "(number({a}) + number({b}))", "minus": "(number({a}) - number({b}))",
}  # fmt: skip
OF_INTEGERS = {"leq", "lt", "dots_2", "plus", "minus", "negative"}

OF_SEQUENCES = {
    "Len": "len(items_of({}))", "Append": "(*items_of({}), {})", "SubSeq": "part_of({}, {}, {})", "Seq": "Sequences({})",
}  # fmt: skip

Names = Mapping[str, str]
"""What the identifiers in scope are in Python; a name that is called has brackets behind it."""


@dataclass
class Reader:
    """A module, whose definitions become functions when they are asked for."""

    text: str
    variables: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        [module] = [n for n in parse(self.text).children if n.type == "module"]
        name = module.child_by_field_name("name")
        self.name = text_of(name) if name is not None else ""
        self.definitions: dict[str, Node] = {}
        self.extended: set[str] = set()
        for node in parts(module):
            if node.type == "extends":
                self.extended |= {text_of(c) for c in parts(node)}
            elif node.type == "variable_declaration":
                self.variables += [text_of(c) for c in parts(node)]
            elif node.type == "operator_definition":
                self._new(text_of(_one(node, "name")), self.definitions)
                self.definitions[text_of(_one(node, "name"))] = node
            elif node.type not in ("header_line", "identifier", "comment", "double_line", "block_comment"):
                raise Refused(f"{node.type} is not read")
        self.python: dict[str, Any] = {
            f.__name__: f
            for f in (alike, equal, inside, truth, number, apply, changed, chosen, no_case, once, items_of, part_of)
        } | {
            "Fun": Fun,
            "Functions": Functions,
            "Records": Records,
            "Subsets": Subsets,
            "Numbers": Numbers,
            "Sequences": Sequences,
            "product": product,
            "NOW": {},
            "NEXT": {},
        }
        self._known: set[str] = set()
        self._spoken: dict[str, frozenset[str]] = {}
        self._count = 0

    def _new(self, name: str, scope: Mapping[str, object]) -> None:
        if name in scope or name in self.variables or name in self.definitions:
            raise Refused(f"{name} is defined twice")

    def _parameters(self, node: Node) -> list[tuple[str, int]]:
        """The parameters of a definition, and how many of its own each takes."""
        parameters = []
        for child in node.children_by_field_name("parameter"):
            if child.type == "identifier":
                parameters.append((text_of(child), 0))
            elif child.type == "operator_declaration":
                parameters.append((text_of(_one(child, "name")), sum(c.type == "placeholder" for c in child.children)))
        return parameters

    def _define(self, name: str) -> str:
        """The Python function of a definition."""
        function = f"op_{name}"
        if name not in self._known:
            self._known.add(name)
            node = self.definitions[name]
            scope: dict[str, str] = {}
            for parameter, arity in self._parameters(node):
                self._new(parameter, scope)
                scope[parameter] = f"v_{parameter}" + ("(" if arity else "()")
            # Arguments are looked at when they are needed, as a definition stands for its text.
            head = ", ".join(f"v_{p}" for p, _ in self._parameters(node))
            body = self._expression(_one(node, "definition"), scope)
            self.python[f"{function}_source"] = source = f"def {function}({head}):\n    return {body}\n"
            exec(source, self.python)
            if not head and not self._varies(node):
                self.python[function] = once(self.python[function])
        return function

    def _varies(self, node: Node) -> bool:
        """Whether it depends on the state."""
        return any(name in self.variables for name in self._reached(node))

    def _reached(self, node: Node) -> frozenset[str]:
        """The names that a node speaks of, and those that their definitions speak of."""
        names, work = set(), list(_names(node))
        while work:
            if (name := work.pop()) not in names:
                names.add(name)
                if name in self.definitions:
                    if name not in self._spoken:
                        self._spoken[name] = _names(self.definitions[name])
                    work += self._spoken[name]
        return frozenset(names)

    def evaluate(self, name: str, state: Mapping[str, Any]) -> Any:
        """The value of a definition without parameters in a state.

        Raises:
            Failed: it has none.
        """
        function = self._define(name)
        self.python["NOW"] = state
        return self.python[function]()

    # Expressions

    def _operator(self, node: Node) -> str:
        symbol = _one(node, "symbol").type
        if symbol in OF_INTEGERS and "Integers" not in self.extended:
            raise Refused(f"{symbol} is an operator of Integers")
        for side in ("lhs", "rhs"):
            child = node.child_by_field_name(side)
            if child is None or child.type not in ("bound_infix_op", "bound_prefix_op"):
                continue
            below = _one(child, "symbol").type
            own_range, inner_range = PRECEDENCE[symbol], PRECEDENCE[below]
            same = below == symbol and symbol in ASSOCIATIVE
            if (
                not same
                and inner_range[0] <= own_range[1]
                and (side == "lhs" or child.type == "bound_infix_op" or inner_range[1] < own_range[0])
            ):
                raise Refused(f"{below} inside of {symbol} without parentheses: {text_of(node)}")
        return symbol

    def _expression(self, node: Node, scope: Names) -> str:
        method = getattr(self, f"_on_{node.type}", None)
        if method is None:
            raise Refused(f"line {node.start_point[0] + 1}: {node.type} is not read: {text_of(node)[:80]}")
        return str(method(node, scope))

    def _on_parentheses(self, node: Node, scope: Names) -> str:
        [child] = parts(node)
        return self._expression(child, scope)

    def _on_nat_number(self, node: Node, scope: Names) -> str:
        return text_of(node)

    def _on_boolean(self, node: Node, scope: Names) -> str:
        return text_of(node).capitalize()

    def _on_string(self, node: Node, scope: Names) -> str:
        text = text_of(node)[1:-1]
        return repr(text.replace('\\"', '"').replace("\\\\", "\\"))

    def _on_boolean_set(self, node: Node, scope: Names) -> str:
        return "frozenset({False, True})"

    def _on_nat_number_set(self, node: Node, scope: Names) -> str:
        return "Numbers(0)"

    def _on_int_number_set(self, node: Node, scope: Names) -> str:
        return "Numbers()"

    def _on_identifier_ref(self, node: Node, scope: Names) -> str:
        return self._reference(text_of(node), [], scope)

    def _on_bound_op(self, node: Node, scope: Names) -> str:
        given = [c for c in node.children_by_field_name("parameter") if c.is_named]
        return self._reference(text_of(_one(node, "name")), given, scope)

    def _reference(self, name: str, given: Sequence[Node], scope: Names) -> str:
        if name in scope:
            if not given:
                return scope[name]
            return scope[name] + ", ".join(self._argument(g, scope, 0) for g in given) + ")"
        if name in self.variables:
            return f'NOW["{name}"]'
        if name == "Cardinality" and "FiniteSets" in self.extended:
            return f"len({self._expression(given[0], scope)})"
        if name in OF_SEQUENCES and "Sequences" in self.extended and name not in self.definitions:
            return OF_SEQUENCES[name].format(*[self._expression(each, scope) for each in given])
        if name not in self.definitions:
            raise Refused(f"{name} is not defined")
        parameters = self._parameters(self.definitions[name])
        if len(parameters) != len(given):
            raise Refused(f"{name} takes {len(parameters)} arguments")
        each = [self._argument(g, scope, arity) for g, (_, arity) in zip(given, parameters, strict=True)]
        return f"{self._define(name)}({', '.join(each)})"

    def _argument(self, node: Node, scope: Names, arity: int) -> str:
        if not arity:
            return f"once(lambda: {self._expression(node, scope)})"
        name = text_of(node)
        return scope[name][:-1] if name in scope else self._define(name)

    def _on_bound_prefix_op(self, node: Node, scope: Names) -> str:
        symbol = self._operator(node)
        inner = self._expression(_one(node, "rhs"), scope)
        forms = {"lnot": f"(not truth({inner}))", "negative": f"(-number({inner}))", "powerset": f"Subsets({inner})"}
        if symbol not in forms:
            raise Refused(f"{symbol} in an expression")
        return forms[symbol]

    def _on_bound_postfix_op(self, node: Node, scope: Names) -> str:
        name = text_of(_one(node, "lhs"))
        if name not in self.variables:
            raise Refused(f"{text_of(node)} primes no variable")
        return f'NEXT["{name}"]'

    def _on_bound_infix_op(self, node: Node, scope: Names) -> str:
        symbol = self._operator(node)
        if symbol == "times":
            return f"frozenset(product({', '.join(self._factors(node, scope))}))"
        if symbol not in INFIX:
            raise Refused(f"{symbol} is not read: {text_of(node)}")
        a, b = (self._expression(_one(node, side), scope) for side in ("lhs", "rhs"))
        return INFIX[symbol].format(a=a, b=b)

    def _factors(self, node: Node, scope: Names) -> list[str]:
        if node.type == "bound_infix_op" and _one(node, "symbol").type == "times":
            return [*self._factors(_one(node, "lhs"), scope), self._expression(_one(node, "rhs"), scope)]
        return [self._expression(node, scope)]

    def _on_conj_list(self, node: Node, scope: Names) -> str:
        return self._listed(node, scope, " and ")

    def _on_disj_list(self, node: Node, scope: Names) -> str:
        return self._listed(node, scope, " or ")

    def _listed(self, node: Node, scope: Names, word: str) -> str:
        return f"({word.join(f'truth({self._expression(parts(c)[1], scope)})' for c in parts(node))})"

    def _on_finite_set_literal(self, node: Node, scope: Names) -> str:
        every = [self._expression(c, scope) for c in parts(node)]
        return f"frozenset([{', '.join(every)}])"

    def _on_tuple_literal(self, node: Node, scope: Names) -> str:
        each = [self._expression(c, scope) for c in parts(node) if not c.type.endswith("angle_bracket")]
        return "(" + "".join(f"{text}, " for text in each) + ")"

    def _on_if_then_else(self, node: Node, scope: Names) -> str:
        a, b, c = (self._expression(_one(node, name), scope) for name in ("if", "then", "else"))
        return f"({b} if truth({a}) else {c})"

    def _on_case(self, node: Node, scope: Names) -> str:
        text = ""
        for arm in parts(node):
            if arm.type == "case_arm":
                guard, _, value = parts(arm)
                text += f"{self._expression(value, scope)} if truth({self._expression(guard, scope)}) else "
            elif arm.type == "other_arm":
                return f"({text}{self._expression(parts(arm)[-1], scope)})"
        return f"({text}no_case())"

    def _bounds(self, bounds: Sequence[Node], scope: Names) -> tuple[str, dict[str, str]]:
        """``for ...`` of bounds, and the scope inside."""
        loops, inner = [], dict(scope)
        for bound in bounds:
            among = self._expression(_one(bound, "set"), scope)
            names = []
            for intro in bound.children_by_field_name("intro"):
                if intro.type == "tuple_of_identifiers":
                    each = [text_of(c) for c in parts(intro) if c.type == "identifier"]
                    names.append("(" + "".join(f"{self._bind(n, inner)}, " for n in each) + ")")
                elif intro.type == "identifier":
                    names.append(self._bind(text_of(intro), inner))
            loops += [f"for {name} in {among}" for name in names]
        return " ".join(loops), inner

    def _bind(self, name: str, inner: dict[str, str]) -> str:
        self._new(name, inner)
        self._count += 1
        inner[name] = f"v{self._count}_{name}"
        return inner[name]

    def _on_bounded_quantification(self, node: Node, scope: Names) -> str:
        bounds = [c for c in node.children_by_field_name("bound") if c.is_named]
        loops, inner = self._bounds(bounds, scope)
        word = {"forall": "all", "exists": "any"}[_one(node, "quantifier").type]
        return f"{word}(truth({self._expression(_one(node, 'expression'), inner)}) {loops})"

    def _on_choose(self, node: Node, scope: Names) -> str:
        among, inner = self._expression(_one(node, "set"), scope), dict(scope)
        name = self._bind(text_of(_one(node, "intro")), inner)
        condition = self._expression(_one(node, "expression"), inner)
        return f"chosen({name} for {name} in {among} if truth({condition}))"

    def _on_set_filter(self, node: Node, scope: Names) -> str:
        loops, inner = self._bounds([_one(node, "generator")], scope)
        what = loops.split(" in ")[0].removeprefix("for ")
        return f"frozenset({what} {loops} if truth({self._expression(_one(node, 'filter'), inner)}))"

    def _on_set_map(self, node: Node, scope: Names) -> str:
        bounds = [c for c in node.children_by_field_name("generator") if c.is_named]
        loops, inner = self._bounds(bounds, scope)
        return f"frozenset({self._expression(_one(node, 'map'), inner)} {loops})"

    def _on_function_literal(self, node: Node, scope: Names) -> str:
        bound, _, value = parts(node)
        loops, inner = self._bounds([bound], scope)
        what = loops.split(" in ")[0].removeprefix("for ")
        return f"Fun({{{what}: {self._expression(value, inner)} {loops}}})"

    def _on_function_evaluation(self, node: Node, scope: Names) -> str:
        f, x = (self._expression(c, scope) for c in parts(node))
        return f"apply({f}, {x})"

    def _on_record_value(self, node: Node, scope: Names) -> str:
        record, name = parts(node)
        return f"apply({self._expression(record, scope)}, {text_of(name)!r})"

    def _on_record_literal(self, node: Node, scope: Names) -> str:
        each = [c for c in parts(node) if c.type != "all_map_to"]
        pairs = zip(each[::2], each[1::2], strict=True)
        return "Fun({" + ", ".join(f"{text_of(n)!r}: {self._expression(v, scope)}" for n, v in pairs) + "})"

    def _on_set_of_records(self, node: Node, scope: Names) -> str:
        pairs = zip(parts(node)[::2], parts(node)[1::2], strict=True)
        return "Records((" + "".join(f"({text_of(n)!r}, {self._expression(v, scope)}), " for n, v in pairs) + "))"

    def _on_set_of_functions(self, node: Node, scope: Names) -> str:
        domain, _, values = parts(node)
        return f"Functions({self._expression(domain, scope)}, {self._expression(values, scope)})"

    def _on_except(self, node: Node, scope: Names) -> str:
        changes = []
        for update in parts(node)[1:]:
            specifier = next(c for c in update.children if c.type == "except_update_specifier")
            [one] = parts(specifier)
            if one.type == "except_update_record_field":
                key = repr(text_of(one)[1:])
            elif one.type == "except_update_fn_appl":
                [argument] = [c for c in parts(one) if c.is_named]
                key = self._expression(argument, scope)
            else:
                raise Refused(f"{text_of(update)} is not read")
            changes.append(f"{key}: {self._expression(_one(update, 'new_val'), scope)}")
        return f"changed({self._expression(_one(node, 'expr_to_update'), scope)}, {{{', '.join(changes)}}})"

    def _on_let_in(self, node: Node, scope: Names) -> str:
        inner, head, tail = dict(scope), "", ""
        for definition in node.children_by_field_name("definitions"):
            if self._parameters(definition):
                raise Refused("a local definition with parameters is not read")
            value = self._expression(_one(definition, "definition"), inner)
            name = self._bind(text_of(_one(definition, "name")), inner)
            inner[text_of(_one(definition, "name"))] += "()"
            head, tail = f"{head}(lambda {name}: ", f")(once(lambda: {value})){tail}"
        return f"{head}{self._expression(_one(node, 'expression'), inner)}{tail}"

    # Actions

    def successors(self, name: str = "Next") -> Callable[[Mapping[str, Any]], Iterator[Mapping[str, Any]]]:
        """What a definition allows to follow a state: each way of it, as TLC counts them.

        Raises:
            Refused: it leaves open what becomes of a variable.
        """
        lines = ["def successors(state):", "    global NOW", "    NOW = state"]
        self._act(_one(self.definitions[name], "definition"), {}, "    ", {}, lines, self._ended)
        self.python["NOW"] = {}
        exec("\n".join(lines), self.python)
        return self.python["successors"]  # type: ignore[no-any-return]

    def _ended(self, tab: str, known: Names, lines: list[str]) -> None:
        if missing := [v for v in self.variables if v not in known]:
            raise Refused(f"nothing says what becomes of {missing[0]}")
        lines.append(f"{tab}yield {{{', '.join(f'{v!r}: {known[v]}' for v in self.variables)}}}")
        lines.append(f"{tab}NOW = state")  # the caller may have evaluated another state before

    def _act(self, node: Node, scope: Names, tab: str, known: Names, lines: list[str], then: Any) -> None:
        """Writes an action, and within it what comes after."""
        if node.type == "parentheses":
            return self._act(parts(node)[0], scope, tab, known, lines, then)
        if node.type == "disj_list":
            for item in parts(node):
                self._act(parts(item)[1], scope, tab, known, lines, then)
            return None
        if node.type in ("conj_list", "bound_infix_op"):
            symbol = "land" if node.type == "conj_list" else self._operator(node)
            if symbol == "land":
                sides = [_one(node, "lhs"), _one(node, "rhs")] if node.type != "conj_list" else []
                each = sides or [parts(c)[1] for c in parts(node)]
                return self._act_all(each, scope, tab, known, lines, then)
            left = _one(node, "lhs")
            if symbol == "lor" and self._primes(node):
                for side in (left, _one(node, "rhs")):
                    self._act(side, scope, tab, known, lines, then)
                return None
            if symbol == "eq" and left.type == "bound_postfix_op":
                variable = text_of(_one(left, "lhs"))
                if variable in known or variable not in self.variables:
                    raise Refused(f"{variable}' has a value already, or is none")
                value = self._expression(_one(node, "rhs"), scope)
                self._count += 1
                lines.append(f"{tab}n{self._count} = {value}")
                return then(tab, {**known, variable: f"n{self._count}"}, lines)  # type: ignore[no-any-return]
        if node.type == "bound_prefix_op" and _one(node, "symbol").type == "unchanged":
            variable = text_of(_one(node, "rhs"))
            return then(tab, {**known, variable: f'NOW["{variable}"]'}, lines)  # type: ignore[no-any-return]
        if node.type == "bounded_quantification" and _one(node, "quantifier").type == "exists" and self._primes(node):
            bounds = [c for c in node.children_by_field_name("bound") if c.is_named]
            for bound in bounds:
                loop, scope = self._bounds([bound], scope)
                lines.append(f"{tab}{loop}:")
                tab += "    "
            return self._act(_one(node, "expression"), scope, tab, known, lines, then)
        if node.type in ("bound_op", "identifier_ref") and self._primes(node):
            name = text_of(_one(node, "name")) if node.type == "bound_op" else text_of(node)
            definition = self.definitions[name]
            given = [c for c in node.children_by_field_name("parameter") if c.is_named]
            inner: dict[str, str] = {}
            for (parameter, _), value_of in zip(self._parameters(definition), given, strict=True):
                value = self._argument(value_of, scope, 0)
                lines.append(f"{tab}{self._bind(parameter, inner)} = {value}")
                inner[parameter] += "()"
            return self._act(_one(definition, "definition"), inner, tab, known, lines, then)
        if self._primes(node):
            raise Refused(f"no action that is read: {text_of(node)}")
        lines.append(f"{tab}if truth({self._expression(node, scope)}):")
        return then(tab + "    ", known, lines)  # type: ignore[no-any-return]

    def _act_all(self, each: Sequence[Node], scope: Names, tab: str, known: Names, lines: list[str], then: Any) -> None:
        if not each:
            return then(tab, known, lines)  # type: ignore[no-any-return]

        def rest(deeper: str, more: Names, written: list[str]) -> None:
            self._act_all(each[1:], scope, deeper, more, written, then)

        return self._act(each[0], scope, tab, known, lines, rest)

    def _primes(self, node: Node) -> bool:
        """Whether it says something of the state after."""
        return "'" in self._reached(node)

    def initial(self) -> dict[str, Any]:
        """The state that ``Init`` describes, which gives each variable its value."""
        node, values = _one(self.definitions["Init"], "definition"), {}
        for item in parts(node):
            equation = parts(item)[1]
            source = self._expression(_one(equation, "rhs"), {})
            values[text_of(_one(equation, "lhs"))] = eval(source, self.python)
        if values.keys() != set(self.variables):
            raise Refused("Init says too little")
        return values


def _names(node: Node) -> frozenset[str]:
    """The names that a node speaks of itself; a prime, if it says something of the state after."""
    if node.type in ("prime", "unchanged"):
        return frozenset("'")
    if node.type == "identifier_ref":
        return frozenset([text_of(node)])
    return frozenset(name for child in node.children for name in _names(child))


def _one(node: Node, name: str) -> Node:
    """The child of that name."""
    children = [c for c in node.children_by_field_name(name) if c.is_named]
    if len(children) != 1:
        raise Refused(f"line {node.start_point[0] + 1}: {node.type} has {len(children)} of {name}")
    return children[0]


@dataclass
class Explored:
    """What a search through a module finds.

    Args:
        states: how many distinct ones.
        transitions: how many ways from state to state.
        broken: the invariants that do not hold in some state, with the least distance of one.
    """

    states: int
    transitions: int
    broken: dict[str, int]


def explored(reader: Reader, invariants: Sequence[str] = (), most: int = 100_000, constraint: str = "") -> Explored:
    """The states of a module, breadth first; invariants are checked in each whose successors are looked for.

    Args:
        constraint: as in TLC: what does not satisfy it is no state and has no successors, but invariants are checked in it.
        most: so many states, or a little more, have their successors looked for: whole layers of states that are as far.
    """
    first = Fun(reader.initial())
    seen, layer, result = {first}, [first], Explored(0, 0, {})
    following, depth, looked_at = reader.successors(), 0, 0
    while layer and looked_at < most:
        looked_at += len(layer)
        deeper = []
        for state in layer:
            for name in invariants:
                if name not in result.broken and not truth(reader.evaluate(name, state)):
                    result.broken[name] = depth
            for after in following(state):
                if constraint and not truth(reader.evaluate(constraint, after)):
                    for name in invariants:
                        if name not in result.broken and not truth(reader.evaluate(name, after)):
                            result.broken[name] = depth + 1
                    continue
                result.transitions += 1
                if (key := Fun(after)) not in seen:
                    seen.add(key)
                    deeper.append(key)
        layer, depth = deeper, depth + 1
    result.states = len(seen)
    return result
