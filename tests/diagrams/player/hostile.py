"""A model whose names and sentences are markup, and a run of it."""

from __future__ import annotations

from schedproof.model.lang import Action, Document, Invariant, Machine, Model, Row, Rule, Sort, State, variables

ATTACK = "</script><img src=x onerror=\"document.title='attacked'\">"
"""What ends a script, and what runs one."""

COMMENT = "<!--<script>"
"""What makes a parser skip the end of a script."""

Thing = Sort("Thing", "x")
x, y = variables(Thing, "x y")

move = Action(
    f"move{ATTACK}", [x], [x.is_(f"From{ATTACK}")], [x.fires("go")], f"{{x}} moves {ATTACK} {COMMENT}", line=1
)

HOSTILE = Model(
    system="hostile",
    variant="plain",
    about=ATTACK,
    document=Document(f"{ATTACK}.md", ATTACK),
    machines=[
        Machine(
            Thing,
            [State(f"From{ATTACK}", about=ATTACK), State(f"<b>To</b>{COMMENT}", about=COMMENT), State("\\N\\G")],
        )
    ],
    rows=[
        Row(Thing, "go", f"From{ATTACK}", f"<b>To</b>{COMMENT}", line=1),
        Row(Thing, "follow", f"From{ATTACK}", "\\N\\G", fact=ATTACK),
    ],
    actions=[move],
    rules=[Rule(f"rule {ATTACK}", x.fires("go"), [~(x == y)], y.fires("follow"), line=1)],
    properties=[
        Invariant(
            name=f"stays{ATTACK}",
            says=f"it stays {ATTACK}",
            line=1,
            sentence=f"{COMMENT} {ATTACK}",
            over=[x],
            then=x.is_(f"From{ATTACK}"),
        )
    ],
    default_scope={"Thing": 2},
    refuted=frozenset({f"stays{ATTACK}"}),
)
