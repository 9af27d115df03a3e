"""Formulas in words: plain, and with one meaning."""

from __future__ import annotations

from schedproof.model.lang import EnumType, IntRange, Sort, Term, after, exists, forall, iff, implies, those, variable
from schedproof.model.lang.wording import quoted, show_exactly, show_term
from tests.support.rows import each_row

Lamp = Sort("Lamp", "l")
x, y = variable(Lamp, "x"), variable(Lamp, "y")
n = variable(IntRange(0, 3), "n")
mode = variable(EnumType(("low", "very high")), "mode")


@each_row(
    ("term", "plain", "exact"),
    [
        (x.is_("On"), "x On", "x On"),
        (~(x.owner == y), "x.owner not y", "x.owner not y"),
        (
            implies(x.is_("On"), y.is_("On")) & x.is_("Off"),
            "if x On, then y On and x Off",
            "(if x On, then y On) and x Off",
        ),
        (x.is_("On", "Dim") & y.is_("On"), "x On or Dim and y On", "(x On or Dim) and y On"),
        (after(x.owner) == x.owner, "(afterwards x.owner) = x.owner", "(afterwards x.owner) = x.owner"),
        (after(x.is_("On") & y.is_("On")), "afterwards x On and y On", "afterwards (x On and y On)"),
        (x.size - (x.size - 1) == 1, "x.size - (x.size - 1) = 1", "(x.size - (x.size - 1)) = 1"),
        (2 * x.size - 1 <= 0, "x.size + x.size - 1 <= 0", "(x.size + x.size - 1) <= 0"),
        (forall([x, y, n], x.size == n), "for every x, y, n: x.size = n", "for every Lamp x, y, 0..3 n: x.size = n"),
        (exists(mode, x.mode == mode), "some mode: x.mode = mode", 'some {low, "very high"} mode: x.mode = mode'),
        (x.mode == "very high", "x.mode = very high", 'x.mode = "very high"'),
        (x.urgent == True, "x.urgent = True", "x.urgent = true"),  # noqa: E712
        (x.fires("dim", by=2), "dim on x", "dim(by = 2) on x"),
        (those(x, x.is_("On")).has(y), "y in those x with x On", "y in (those Lamp x with x On)"),
        (iff(iff(x.is_("On"), y.is_("On")), x.is_("Off")), "x On exactly when y On exactly when x Off", "(x On exactly when y On) exactly when x Off"),
    ],
)  # fmt: skip
def test_only_exact_words_have_one_meaning(term: Term, plain: str, exact: str) -> None:
    assert (show_term(term), show_exactly(term)) == (plain, exact)


@each_row(
    ("name", "text"), [("On", "On"), ("best-effort", "best-effort"), ("and", '"and"'), ("a b", '"a b"'), ('"', '"\\""')]
)
def test_a_name_that_is_no_word_is_quoted(name: str, text: str) -> None:
    assert quoted(name) == text
