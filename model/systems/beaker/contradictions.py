"""The contradictions in the text of the proposal. Each has its lines, what contradicts what, and our interpretation."""

from schedproof.model.lang import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "idle-systems-are-not-all-automated",
        (
            (
                85,
                'The phrase "idle system" refers to a system that is configured for automated use and is currently in the pool of systems available to handle new jobs.',
            ),
            (172, "When the system condition is Broken, systems will always be ``idle``."),
            (
                174,
                "When the system condition is Manual, systems will be ``running`` when reserved by a user, ``waiting`` and then ``installing`` when being provisioned in response to a reservation request, but otherwise ``idle``.",
            ),
        ),
        "By its definition, an idle system is configured for automated use. Broken and Manual systems are idle too.",
        "Idle is a usage state, as in lines 172 and 176. Only Automated systems are in the idle pool. The property idle-is-automated keeps the definition, and is violated.",
        violates=["idle-is-automated"],
    ),
    Contradiction(
        "running-systems-become-idle",
        (
            (87, "Systems currently running a recipe are never considered idle."),
            (172, "When the system condition is Broken, systems will always be ``idle``."),
            (
                174,
                "When the system condition is Manual, systems will be ``running`` when reserved by a user, ``waiting`` and then ``installing`` when being provisioned in response to a reservation request, but otherwise ``idle``.",
            ),
        ),
        "A system that becomes Broken or Manual while it runs a recipe is idle, and must not be idle. The text never ends the recipe.",
        "The model follows lines 172 and 176: the system is idle at once, and the recipe stays. The property idle-is-not-running is violated.",
        violates=["idle-is-not-running"],
    ),
    Contradiction(
        "pending-and-running-at-once",
        (
            (180, "* ``running`` when the associated recipe is ``running``"),
            (
                192,
                'Systems will be marked as ``pending`` (triggering a "Pending system" scheduling event) in the following cases:',
            ),
            (196, "* The condition of an existing system is changed to Automated"),
        ),
        "A system can become Automated while a recipe that it had before still runs. One sentence makes it running, the other pending.",
        "The model follows line 196: the system is pending. The property running-with-its-recipe is violated.",
        violates=["running-with-its-recipe"],
    ),
    Contradiction(
        "systems-in-use-are-pending-by-definition",
        (
            (
                93,
                'The phrase "pending system" refers to a system that is configured for automation, but is currently neither running a recipe nor part of the idle pool.',
            ),
            (181, "* ``installing`` when the associated recipe is ``installing``"),
            (182, "* ``waiting`` when the associated recipe is ``waiting``"),
            (183, "* ``scheduled`` when the associated recipe is ``scheduled``"),
        ),
        "A scheduled, waiting or installing system runs no recipe yet and is not idle. So the definition calls it pending, and the list does not.",
        "The model follows the list. Running a recipe means every usage from scheduled to running.",
    ),
    Contradiction(
        "solely-by-priority-but-assigned-first",
        (
            (
                203,
                "* the currently ``assigned`` recipes for the system's lab controller are searched for a suitable recipe.",
            ),
            (
                206,
                "* if the system remains ``pending``, all currently ``queued`` recipes are searched for a suitable recipe.",
            ),
            (
                212,
                "In this initial proposal, the ``assigned`` and ``queued`` recipes are still sorted solely by overall job priority when looking for a suitable recipe.",
            ),
            (
                214,
                "While this is valuable in its own right (it eliminates a number of race conditions and queue jumping that is possible in the current design), it also creates a foundation for more sophisticated control over the system preferences for execution of recipes (for example, see :ref:`proposal-effective-job-priorities`).",
            ),
        ),
        "An assigned recipe gets a system before a queued one of a higher priority. So the order is not solely by priority, and there is a new way to jump the queue.",
        "The assigned and the queued are sorted apart, and the assigned come first. The property no-queue-jumping is violated.",
        violates=["no-queue-jumping"],
    ),
    Contradiction(
        "pending-for-a-queued-recipe",
        (
            (
                184,
                "* ``pending`` when a determination is needed as to whether the system should start running a queued recipe or be marked as ``idle``",
            ),
            (
                203,
                "* the currently ``assigned`` recipes for the system's lab controller are searched for a suitable recipe.",
            ),
        ),
        "The list says that a pending system runs a queued recipe or becomes idle. The event first gives it to an assigned recipe.",
        "The model follows line 203. A queued recipe in line 185, and the recipe queue in line 55, include assigned recipes.",
    ),
    Contradiction(
        "reserved-and-being-provisioned",
        (
            (
                174,
                "When the system condition is Manual, systems will be ``running`` when reserved by a user, ``waiting`` and then ``installing`` when being provisioned in response to a reservation request, but otherwise ``idle``.",
            ),
        ),
        "A system that a user has reserved and that is being provisioned is running by the first clause, and waiting or installing by the second.",
        "A reserved system is waiting, then installing, and running only after that.",
    ),
)
