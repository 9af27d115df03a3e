"""The Kubernetes manifest of the cluster page: what KubeRay and the command need of it.

KubeRay's schema is in no package that tests can install. So these check the structure; ``docs/howto/cluster.md`` says what was
validated by the schema itself.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import yaml

import schedproof
from tests.support.places import ROOT
from tests.support.rows import each_row

FILE = ROOT / "docs/howto/cluster.yaml"
CLUSTER, CLAIM = yaml.safe_load_all(FILE.read_text())

UNITS = {"Gi": 30, "Mi": 20}


def groups(cluster: Any) -> list[Any]:
    """The groups of machines, the head's first."""
    return [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"]]


def size(text: str) -> int:
    """Bytes of a quantity."""
    number, unit = re.fullmatch(r"(\d+)(Gi|Mi)", text).groups()  # type: ignore[union-attr]
    return int(number) << UNITS[unit]


def version(text: str) -> list[int]:
    """A version to compare."""
    return [int(each) for each in text.split(".")]


def problems(cluster: Any, claim: Any) -> list[str]:
    """What is wrong with a manifest."""
    wrong = []
    if (cluster["apiVersion"], cluster["kind"]) != ("ray.io/v1", "RayCluster"):
        wrong.append("kind")
    least = re.search(r'"ray>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    if least is None or version(cluster["spec"]["rayVersion"]) < version(least[1]):
        wrong.append("version of Ray")
    if cluster["spec"]["headGroupSpec"]["rayStartParams"].get("num-cpus") != "0":
        wrong.append("a worker on the head")
    for group in cluster["spec"]["workerGroupSpecs"]:
        if not group["minReplicas"] == group["replicas"] == group["maxReplicas"]:
            wrong.append("workers come and go")
    for group in groups(cluster):
        pod = group["template"]["spec"]
        [container] = pod["containers"]
        asked, limit = container["resources"]["requests"], container["resources"]["limits"]
        if asked != limit or not size(limit["memory"]) or not int(limit["cpu"]):
            wrong.append("resources")
        if not container["image"].endswith(f":{schedproof.__version__}"):
            wrong.append("version of schedproof")
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        claims = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"]}
        if [mounts[name] for name, its in claims.items() if its == claim["metadata"]["name"]] != ["/shared"]:
            wrong.append("checkpoints")
    if claim["spec"]["accessModes"] != ["ReadWriteMany"]:
        wrong.append("one machine writes")
    return wrong


def test_the_manifest_has_what_is_needed() -> None:
    assert problems(CLUSTER, CLAIM) == []


def _workers_by_one(cluster: Any, claim: Any) -> None:
    cluster["spec"]["workerGroupSpecs"][0]["maxReplicas"] += 1


def _another_ray(cluster: Any, claim: Any) -> None:
    cluster["spec"]["rayVersion"] = "2.9.0"


def _no_checkpoints(cluster: Any, claim: Any) -> None:
    claim["metadata"]["name"] = "another"


def _head_works(cluster: Any, claim: Any) -> None:
    del cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"]


def _once(cluster: Any, claim: Any) -> None:
    claim["spec"]["accessModes"] = ["ReadWriteOnce"]


@each_row(
    ("change", "expected"),
    [
        (_workers_by_one, ["workers come and go"]), (_another_ray, ["version of Ray"]), (_no_checkpoints, ["checkpoints"] * 2),
        (_head_works, ["a worker on the head"]), (_once, ["one machine writes"]),
    ],
)  # fmt: skip
def test_a_wrong_manifest_is_noticed(change: Callable[[Any, Any], None], expected: list[str]) -> None:
    cluster, claim = copy.deepcopy(CLUSTER), copy.deepcopy(CLAIM)
    change(cluster, claim)
    assert problems(cluster, claim) == expected


def test_the_page_names_the_manifest() -> None:
    assert "(cluster.yaml)" in (ROOT / "docs/howto/cluster.md").read_text()
