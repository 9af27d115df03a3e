"""Keeps track of hosts and jobs. It counts the jobs of a host, so that it need not look through all jobs."""

from __future__ import annotations


class NotEmpty(Exception):
    """A host that still has jobs cannot shut down."""


class Hosts:
    def __init__(self, hosts: list[str], jobs: list[str]) -> None:
        self.state = dict.fromkeys(hosts, "Up")
        self.jobs_on = dict.fromkeys(hosts, 0)
        self.job = dict.fromkeys(jobs, "Pending")
        self.host: dict[str, str] = {}

    def start(self, j: str, h: str) -> None:
        self.job[j], self.host[j] = "Running", h
        self.jobs_on[h] += 1

    def finish(self, j: str) -> None:
        self.jobs_on[self.host.pop(j)] -= 1
        self.job[j] = "Finished"

    def drain(self, h: str) -> None:
        self.state[h] = "Draining"

    def evict(self, j: str, h: str) -> None:
        del self.host[j]
        self.job[j] = "Pending"

    def shut_down(self, h: str) -> None:
        if self.jobs_on[h]:
            raise NotEmpty(f"{h} has {self.jobs_on[h]} jobs")
        self.state[h] = "Down"

    def boot(self, h: str) -> None:
        self.state[h] = "Up"
