"""The channel between core and shim, on a model of nothing but messages: what can arrive before what."""

from collections.abc import Sequence

import pytest

from schedproof.model.lang import Action, Attribute, Document, Machine, Model, Ref, Row, Rule, State
from schedproof.model.semantics import Choice, Instance, Stepper
from schedproof.model.systems.yunikorn.channel import (
    CHANNELS,
    KINDS,
    OF_APPLICATIONS,
    OF_ASKS,
    OF_NODES,
    RANKS,
    TO_CORE,
    TO_SHIM,
    delivery,
    lose,
    lost_with,
    messages,
    send,
)
from schedproof.model.systems.yunikorn.machines import a, k
from schedproof.model.systems.yunikorn.sorts import Application, Ask, Node
from schedproof.proofs.checking.model_check import check_axioms, model_check
from schedproof.proofs.induction import prove

KINDS_SENT = ("ApplicationAccepted", "ApplicationResuming", "SubmitApplication", "AskReleased", "AllocationReleased")

saying = {
    kind: Action(f"say_{kind}", [a], [], [a.fires(f"says_{kind}")], "{a} is spoken of") for kind in KINDS_SENT[:3]
}
resume = Action("resume", [a], [], [a.fires("says_all")], "{a} resumes")
crash = Action("crash", [], [], [], "the shim dies")

OF_ITS_ASKS = [k.application == a]


def model(rigid) -> Model:
    """Applications and asks that send messages, and nothing else."""
    return Model(
        system="channel",
        variant="alone",
        about="messages only",
        document=Document("none", "None"),
        machines=[
            Machine(Application, [State("there")]),
            Machine(Ask, attributes=[Attribute("application", Ref(Application), rigid=True)]),
            Machine(Node),
            *CHANNELS.machines,
        ],
        rows=[
            *[Row(Application, f"says_{kind}", "there", "there") for kind in (*KINDS_SENT[:3], "all")],
            *CHANNELS.rows,
        ],
        actions=[*saying.values(), resume, crash, lose, *[delivery(kind, f"{kind} {{e}}") for kind in KINDS_SENT]],
        rules=[
            *[Rule(f"send {kind}", a.fires(f"says_{kind}"), [], send(kind, a)) for kind in KINDS_SENT[:3]],
            Rule("resume: say so", resume, [], send("ApplicationResuming", a)),
            Rule("resume: asks", resume, OF_ITS_ASKS, send("AskReleased", k)),
            Rule("resume: allocations", resume, OF_ITS_ASKS, send("AllocationReleased", k)),
            lost_with(crash, to_core=False),
            *CHANNELS.rules,
        ],
        properties=CHANNELS.properties,
        default_scope={"Application": 1, "Ask": 1, "Node": 1, "Message": len(KINDS_SENT)},
        axioms=CHANNELS.axioms,
        configurations=lambda sizes: [rigid],
    )


class Talk:
    """Messages sent and delivered one after the other; each is named by its kind."""

    def __init__(self, *, ordered: bool = True, losable: Sequence[str] = ()) -> None:
        rigid = messages({"Application": 1, "Ask": 1}, kinds=KINDS_SENT, ordered=ordered, losable=losable)
        rigid = {**rigid, ("Ask", "application"): [0]}
        self.kinds = [str(kind) for kind in rigid["Message", "kind"]]
        sizes = {"Application": 1, "Ask": 1, "Node": 1, "Message": len(self.kinds)}
        self.instance = Instance(model(rigid), sizes, rigid)
        self.stepper = Stepper(self.instance)
        self.state = self.instance.initial()

    def do(self, action: str) -> "Talk":
        (step,) = [s for s in self.stepper.steps(self.state) if s.choice.action == action]
        self.state = step.after
        return self

    def arrives(self) -> set[str]:
        """What can arrive now."""
        able = [s.choice for s in self.stepper.steps(self.state)]
        return {self.kinds[dict(c.parameters)["e"]] for c in able if c.action.startswith("deliver_")}

    def deliver(self, kind: str) -> "Talk":
        (step,) = [
            s
            for s in self.stepper.steps(self.state)
            if s.choice.action.startswith("deliver_") and self.kinds[dict(s.choice.parameters)["e"]] == kind
        ]
        self.state = step.after
        return self


def test_in_order_messages_arrive_as_they_were_sent():
    it = Talk().do("say_ApplicationResuming").do("say_ApplicationAccepted")
    assert it.arrives() == {"ApplicationResuming"}
    assert it.deliver("ApplicationResuming").arrives() == {"ApplicationAccepted"}
    assert it.deliver("ApplicationAccepted").arrives() == set()


def test_each_direction_has_an_order_of_its_own():
    it = Talk().do("say_SubmitApplication").do("say_ApplicationAccepted").do("say_ApplicationResuming")
    assert it.arrives() == {"SubmitApplication", "ApplicationAccepted"}


def test_without_order_anything_can_arrive():
    it = Talk(ordered=False).do("say_ApplicationResuming").do("say_ApplicationAccepted")
    assert it.arrives() == {"ApplicationResuming", "ApplicationAccepted"}


def test_a_message_sent_again_after_its_arrival_is_the_last():
    it = Talk().do("say_ApplicationResuming").do("say_ApplicationAccepted").deliver("ApplicationResuming")
    it.do("say_ApplicationResuming")
    assert it.arrives() == {"ApplicationAccepted"}


def test_a_message_sent_again_under_way_keeps_its_place():
    it = Talk().do("say_ApplicationResuming").do("say_ApplicationAccepted").do("say_ApplicationResuming")
    assert it.arrives() == {"ApplicationResuming"}


def test_a_step_sends_the_state_first_and_allocations_last():
    it = Talk().do("resume")
    for kind in ("ApplicationResuming", "AskReleased", "AllocationReleased"):
        assert it.arrives() == {kind}
        it.deliver(kind)
    it.do("say_ApplicationAccepted").do("resume")
    assert it.arrives() == {"ApplicationAccepted"}


def test_without_order_a_step_sends_in_no_order_either():
    assert Talk(ordered=False).do("resume").arrives() == {"ApplicationResuming", "AskReleased", "AllocationReleased"}


def test_what_is_lost_does_not_hold_up_the_others():
    it = Talk(losable=["ApplicationResuming"]).do("say_ApplicationResuming").do("say_ApplicationAccepted")
    assert it.do("lose").arrives() == {"ApplicationAccepted"}


def test_only_what_may_be_lost_is():
    it = Talk(losable=["ApplicationResuming"]).do("say_ApplicationAccepted")
    assert "lose" not in {s.choice.action for s in it.stepper.steps(it.state)}


def test_a_crash_loses_what_is_under_way_to_who_died():
    it = Talk().do("say_SubmitApplication").do("say_ApplicationAccepted").do("crash")
    assert it.arrives() == {"SubmitApplication"}


@pytest.mark.parametrize("ordered", [True, False])
def test_the_order_is_one_in_every_state(ordered):
    rigid = {
        **messages({"Application": 1, "Ask": 1}, kinds=KINDS_SENT, ordered=ordered, losable=KINDS_SENT),
        ("Ask", "application"): [0],
    }
    results = {r.name: r for r in model_check(model(rigid), {"Message": len(KINDS_SENT)})}
    for name in ("well-formed", *(p.name for p in CHANNELS.properties)):
        # Without order nothing is behind anything.
        assert str(results[name].verdict) == "proved" or (results[name].vacuous and not ordered), name


def test_the_order_is_one_for_any_number_of_messages():
    induction = prove(model({**messages({"Application": 1, "Ask": 1}, kinds=KINDS_SENT), ("Ask", "application"): [0]}))
    assert all(induction.proved(name) for name in ("well-formed", *(p.name for p in CHANNELS.properties)))


def test_every_kind_of_message_goes_one_way_about_one_thing():
    assert sorted(KINDS) == sorted({*TO_CORE, *TO_SHIM}) and not {*TO_CORE} & {*TO_SHIM}
    assert sorted(KINDS) == sorted([*OF_APPLICATIONS, *OF_ASKS, *OF_NODES])
    assert RANKS.keys() <= {*TO_SHIM}


def test_the_messages_of_a_configuration_keep_the_axioms():
    rigid = messages({"Application": 2, "Ask": 3, "Node": 1}, losable=["AddAsk"], ordered=False)
    assert len(rigid["Message", "kind"]) == 2 * len(OF_APPLICATIONS) + 3 * len(OF_ASKS) + len(OF_NODES)
    rigid = {**rigid, ("Ask", "application"): [0, 0, 1]}
    sizes = {"Application": 2, "Ask": 3, "Node": 1, "Message": len(rigid["Message", "kind"])}
    check_axioms(Instance(model(rigid), sizes, rigid))


def test_two_messages_of_one_kind_about_one_thing_break_them():
    rigid = messages({"Application": 1}, kinds=["SubmitApplication"])
    doubled = {key: [*values, *values] for key, values in rigid.items()}
    doubled = {**doubled, ("Ask", "application"): [0]}
    sizes = {"Application": 1, "Ask": 1, "Node": 1, "Message": 2}
    with pytest.raises(Exception, match="axiom"):
        check_axioms(Instance(model(doubled), sizes, doubled))


def test_choices_name_their_message():
    it = Talk().do("say_ApplicationAccepted")
    (step,) = [s for s in it.stepper.steps(it.state) if s.choice.action.startswith("deliver_")]
    number = it.kinds.index("ApplicationAccepted")
    assert step.choice == Choice("deliver_application_accepted", (("e", number),))
