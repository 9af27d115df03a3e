"""A configuration of the model as objects of Kubernetes: pods, gangs, nodes."""

from __future__ import annotations

from schedproof.impl.scheduler_interface import GangStyle, PartitionSpec, QueueSpec
from schedproof.impl.systems.yunikorn.shim import Application as ShimApplication
from schedproof.impl.systems.yunikorn.shim import Gang, KubeNode, Pod, TaskGroup
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.proofs.systems.yunikorn.refinement.names import Names

GROUP = "group"


class PodNames(Names):
    """The objects of a configuration by number; asks have the names of their pods, and the shim names placeholders."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.partition = "default"
        made = {
            a: iter(ShimApplication(name, "", gang).placeholders)
            for a, name in enumerate(self.applications)
            if (gang := self.task_groups(a)) is not None
        }
        for k, of in enumerate(self.application_of):
            if self.is_placeholder(k):
                self.asks[k] = next(made[of]).name

    def partition_spec(self) -> PartitionSpec:
        """Returns the partition with its queues, which everybody may use."""
        return PartitionSpec(self.partition, QueueSpec("root", tuple(self._below(None)), parent=True))

    def task_groups(self, application: int) -> Gang | None:
        """Returns what an application's pods say of its gang; None without a gang."""
        kinds, style = self.configuration.applications[application]
        if "p" not in kinds:
            return None
        return Gang((TaskGroup(GROUP, kinds.count("p")),), GangStyle(style))

    def pod(self, k: int) -> Pod:
        """Returns the pod that a user makes for a real ask."""
        of = self.application_of[k]
        gang = self.task_groups(of)
        group = "" if gang is None else GROUP
        return Pod(self.asks[k], self.applications[of], queue=self.queues[-1], task_group=group, gang=gang)

    def kube_nodes(self, room: int) -> list[KubeNode]:
        """Returns the cluster's nodes, each with room for ``room`` pods."""
        return [KubeNode(name, room) for name in self.nodes]
