"""All interpretations of the document: ``readings`` has those whose other answer changes the model, here are the others."""

from schedproof.model.lang import Reading

from .readings import READINGS

UNTRIED = (
    Reading(
        "the-figures-are-those-of-2021",
        78,
        "The figures are those for which the text was written (facts 1.3, 1.4).",
        "They are the files that have these names today, drawn from the code in 2022 (facts 1.5, 1.6).",
        question="Which figures does the text mean? Two generations of figures have had the names that it gives.",
        why="Only those of 2021 have what the text describes: boxes of deployment units, a Triaging of all errors, and states of other agents.",
        untried="the figures of today need other states for each machine; the variant shipped has these states",
    ),
    Reading(
        "instances-are-made-with-their-task",
        59,
        "The client makes the first instance of a task when it registers the task, and a run with its workflow.",
        "The scheduler makes an instance when it instantiates the task.",
        question="When is an instance created? Line 62 has the scheduler instantiate one, line 135 has it created after a resource error.",
        why="The figure of instances begins with the creation of one, in the client's box (facts 1.3).",
        untried="what an agent has claimed is kept at the instance: a task without one needs attributes that the model lacks",
    ),
    Reading(
        "runs-get-no-more-resources",
        105,
        "A run that had too few resources is tried again with the same ones.",
        "The resources of a run are increased as well.",
        question="The figure of runs has Resource Error (facts 1.4). Does the section on resources apply to runs?",
        why="The section has jobs and task instances only.",
        untried="workflows and runs need an attribute for resources; only tasks and task instances have one",
    ),
)

INTERPRETATIONS = (*READINGS, *UNTRIED)
