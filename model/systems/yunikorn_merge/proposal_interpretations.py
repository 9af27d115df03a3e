"""Where the text on proposals and their commits is silent, and which violations rest on our interpretations.

The interpretations of the merged design hold here as well, except that a commit checks again.
"""

from dataclasses import replace

from schedproof.model.lang import Reading, Row, Rule, StepInvariant, exists
from schedproof.model.lang.terms import both

from .machines import x, y
from .merged import PRESENT
from .merged_machines import send
from .merged_proposals import COMMITS_CHECK_AGAIN, FITS_ITS_QUEUE, commit, commit_preemption, propose
from .sorts import Allocation

VARIANT = "merged-proposals"

OBJECTS_ARE_THERE = [x.ask.application.is_(PRESENT), x.node.is_(PRESENT)]

PROPOSAL_INTERPRETATIONS = (
    Reading(
        "a-commit-carries-out-its-proposal",
        193,
        question="A proposal waits for the write lock. What does the commit do if it is no longer possible?",
        read="The commit makes the proposed allocation.",
        otherwise="The commit checks again, and drops a proposal that is no longer possible.",
        why="The text names the lock of a commit, and no check.",
        adds=COMMITS_CHECK_AGAIN.adds,
        drops=COMMITS_CHECK_AGAIN.drops,
        rests=COMMITS_CHECK_AGAIN.repairs,
        variant=VARIANT,
    ),
    Reading(
        "a-proposal-has-its-objects",
        208,
        question="How does the commit get the application and the node?",
        read="The proposal refers to them, so the commit changes them even if they have been removed.",
        otherwise="The commit gets them from the partition again, and drops the proposal if one of them is gone.",
        why="The text has no step of a commit that gets them.",
        adds=[
            Row(Allocation, "drop", "unknown", "unknown", line=193, proposed=False),
            replace(commit, fires=[]),
            Rule("a committed proposal is an allocation", commit, OBJECTS_ARE_THERE, x.fires("allocate"), line=193),
            Rule(
                "a proposal without its objects is dropped",
                commit,
                [~both(OBJECTS_ARE_THERE)],
                x.fires("drop"),
                line=208,
            ),
            Rule(
                "the ask of a committed proposal is satisfied",
                commit,
                [*OBJECTS_ARE_THERE, x.ask.is_("pending")],
                x.ask.fires("satisfy"),
                line=191,
            ),
        ],
        rests=["allocations-are-on-what-is-there", "decommissioned-nodes-go", "removed-applications-go"],
        variant=VARIANT,
    ),
    Reading(
        "proposals-wait-side-by-side",
        209,
        question="Can a second proposal be found before the first is committed?",
        read="Any number of proposals can wait, also two for one ask or one node.",
        otherwise="One proposal is committed before the next is found.",
        why="Searches need the read lock only, and the text does not limit their number.",
        adds=[replace(propose, when=[*propose.when, ~exists(y, y.proposed)])],
        rests=["allocated-once", "scheduler-nodes-hold-one-allocation"],
        variant=VARIANT,
    ),
    Reading(
        "a-limit-is-for-commits-too",
        216,
        question="A new configuration may limit a queue. Must a commit keep to the limit, or only the search?",
        read="No allocation is made in a queue without room. The smallest limit is one allocation.",
        otherwise="The limit is for the search. A queue that is limited later may get what was proposed before.",
        why="What a queue uses and its configuration are fields of the queue, and the commit changes the first.",
        adds=[
            StepInvariant(
                name="queues-keep-their-limit",
                says="no allocation is proposed in a queue that is limited to one and has one",
                line=191,
                sentence="- Do new allocation / remove allocation, will change application, queue and node",
                over=[x],
                given=x.fires("propose"),
                then=FITS_ITS_QUEUE,
            ),
        ],
        rests=["queues-keep-their-limit"],
        variant=VARIANT,
    ),
    Reading(
        "the-commit-of-a-preemption-checks",
        313,
        question="An allocation may end while the proposal to preempt it waits. Does that commit check again?",
        read="It removes the allocation like every other removal, which does nothing if the allocation has ended.",
        otherwise="It reports the end, also if the allocation has ended before.",
        why='remove_alloc begins with "if alloc.exist".',
        adds=[
            Rule(
                "an end is reported again",
                commit_preemption,
                [x.is_("ended")],
                send("AllocationReleased", x),
                line=193,
            )
        ],
        breaks=["ends-are-news", "nothing-is-released-twice"],
        variant=VARIANT,
    ),
)
"""The interpretations of the merged design in which a proposal waits for its commit."""
