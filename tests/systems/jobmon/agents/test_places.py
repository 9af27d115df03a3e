"""What Jobmon's distributors do about jobs of another place: nothing, and others are not kept waiting for that."""

from __future__ import annotations

from schedproof.impl.systems.jobmon.distributor import Distributor
from schedproof.impl.systems.jobmon.requests import TaskSpec
from schedproof.impl.systems.jobmon.server import Asks
from schedproof.impl.systems.jobmon.simulated_cluster import Phase, SimulatedCluster
from schedproof.impl.systems.jobmon.world import ClientSpec, Kind, Sides, World
from tests.systems.jobmon.agents.scenarios import Scenario, goes_on, workflow


class Hiding(SimulatedCluster):
    """Some of its jobs are in another place, of which it knows nothing."""

    elsewhere: tuple[str, ...] = ()

    def reaches(self, job: str) -> bool:
        return job not in self.elsewhere


class OneByOne(Distributor):
    """It asks for one instance at a time."""

    def __init__(self, server: Asks, cluster: Hiding, name: str) -> None:
        super().__init__(server, cluster, name, limit=1)


def test_what_is_elsewhere_is_left_there_and_others_are_found() -> None:
    tasks = [TaskSpec(name, "x") for name in "abc"]
    cluster = Hiding()
    scenario = Scenario(World({"c1": ClientSpec(workflow(*tasks))}, sides=Sides(distributor=OneByOne), cluster=cluster))
    scenario.endings = goes_on
    scenario.bring_to("R R RRR RRR")
    cluster.elsewhere = ("0", "1")
    for number in (1, 2, 3):
        scenario.do(Kind.INSTANCE_LAPSES, f"instance {number}")
    for _ in range(4):
        scenario.step("reaper")
    assert scenario.states() == "R R RRR TTT"
    for _ in range(10):
        scenario.step("d1")
    assert [job.killed for job in cluster.jobs] == [False, False, True]
    for number in range(3):
        cluster.put(number, acts=False, phase=Phase.OVER, worker=None)
    for _ in range(10):
        scenario.step("d1")
    assert scenario.states() == "R R RRG TTU"
    cluster.elsewhere = ()
    for _ in range(20):
        scenario.step("d1")
    assert scenario.states() == "R R GGG UUU"
