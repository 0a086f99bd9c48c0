"""What people notice of the binary that they download: its size, its start, its image, a run in a pod, and one in fifty clusters.

./dev bench ship [--json] [--rounds N]
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time

from bench._clusters import cluster, cluster_name, cluster_tool
from bench._figures import Arm, Figures, Run, interleave

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAIRLEAD = ROOT / "build/fairlead"
os.environ["FAIRLEAD"] = str(FAIRLEAD)

from cluster.images import ARCHITECTURE  # noqa: E402
from scripts import container_image  # noqa: E402
from tests.cli.clusters_test import merged  # noqa: E402
from tests.cli.on_sandbox import sandbox  # noqa: E402
from tests.scripts.server import Server  # noqa: E402

CLUSTERS = [f"c{number:02}" for number in range(50)]
OBJECTS = 100
ALONE = 10
STARTS = 200
IMAGE = "fairlead.dev/fairlead:bench"
HOME = "bench-ship"


def mebibytes(path):
    return path.stat().st_size / 2**20


class Fleet:
    """Fifty sandboxes, each with a bundle of a hundred objects that goes in and out."""

    def __init__(self, folder, enter):
        def start(name):
            process = sandbox(folder / name, "--nodes", "0")
            process.__enter__()
            return process

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for process in pool.map(start, CLUSTERS):
                enter.push(process.__exit__)
        config = merged({name: json.loads((folder / name).read_text()) for name in CLUSTERS})
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))
        self.manifest = folder / "bundle.json"
        self.manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}, "data": {"text": "x" * 200}} for number in range(OBJECTS)]}))
        self.peak = Arm("peak memory of a run in 50 clusters, MiB", None)

    def run(self, command, *where):
        return Run([FAIRLEAD, command, "-f", self.manifest, "-o", "quiet", *(["--yes"] if command == "delete" else []), *where],
                   env={"KUBECONFIG": str(self.kubeconfig)})

    def alone(self, _):
        """Seconds that fifty clusters take one after the other, divided by the cores, from a sample of them."""
        seconds = 0
        for name in CLUSTERS[::len(CLUSTERS) // ALONE]:
            seconds += self.run("apply", "--context", name).seconds
            self.run("delete", "--context", name)
        return seconds / ALONE * len(CLUSTERS) / os.cpu_count()

    def together(self, _):
        run = self.run("apply", "--contexts", "all")
        self.peak.values.append(run.peak_mib)
        self.run("delete", "--contexts", "all")
        return run.seconds


class Pods:
    """A pod of the image applies one object in the cluster that it runs in."""

    def __init__(self, server):
        self.server = server
        role = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "patch"]}]
        group = {"apiVersion": "rbac.authorization.k8s.io/v1"}
        access = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{HOME}"
        self.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}})
        self.post(f"/api/v1/namespaces/{HOME}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": HOME}})
        self.post(f"{access}/roles", group | {"kind": "Role", "metadata": {"name": HOME}, "rules": role})
        self.post(f"{access}/rolebindings", group | {
            "kind": "RoleBinding", "metadata": {"name": HOME}, "subjects": [{"kind": "ServiceAccount", "name": HOME, "namespace": HOME}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": HOME}})
        self.objects = f"/api/v1/namespaces/{HOME}/configmaps"
        manifest = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stored"}, "data": {"sky": "blue"}})
        self.post(self.objects, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "manifests"}, "data": {"one.json": manifest}})

    def post(self, path, value):
        status, answer = self.server.json("POST", path, value)
        if status != 201:
            raise SystemExit(f"bench: {path}: {answer}")

    def until_stored(self, number):
        """Seconds from the creation of the pod to the object in the cluster."""
        self.server.json("DELETE", f"{self.objects}/stored")
        start = time.monotonic()
        self.post(f"/api/v1/namespaces/{HOME}/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"apply-{number}"}, "spec": {
            "serviceAccountName": HOME, "restartPolicy": "Never",
            "containers": [{"name": "fairlead", "image": IMAGE, "imagePullPolicy": "Never", "args": ["apply", "-f", "/manifests/one.json"],
                            "volumeMounts": [{"name": "manifests", "mountPath": "/manifests"}]}],
            "volumes": [{"name": "manifests", "configMap": {"name": "manifests"}}]}})
        while self.server.json("GET", f"{self.objects}/stored")[0] != 200:
            if time.monotonic() - start > 60:
                raise SystemExit(f"bench: the pod has not stored its object: {self.server.json('GET', f'/api/v1/namespaces/{HOME}/pods')[1]}")
            time.sleep(0.005)
        return time.monotonic() - start


def image_size(folder):
    container_image.write({ARCHITECTURE: FAIRLEAD}, folder / "image.tar", IMAGE, container_image.labels_of("bench"))
    return mebibytes(folder / "image.tar")


def start_milliseconds(_):
    return min(Run([FAIRLEAD, "version"]).seconds for _ in range(STARTS)) * 1000


def main():
    parser = argparse.ArgumentParser(prog="./dev bench ship", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    figures = Figures()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        size = Arm("binary, MiB", lambda _: mebibytes(FAIRLEAD))
        image = Arm("image, MiB", lambda _: image_size(folder))
        interleave([size, image], 1)
        start = Arm("fairlead version, ms", start_milliseconds)
        interleave([start], wanted.rounds)
        with cluster("whole") as (_, kubeconfig):
            cluster_tool("load-image", "--name", cluster_name("whole"), str(folder / "image.tar"))
            cold = Arm("pod created to object stored, s", Pods(Server(kubeconfig)).until_stored)
            interleave([cold], wanted.rounds)
        fleet = Fleet(folder, stack)
        alone = Arm("50 clusters alone / cores, s", fleet.alone)
        together = Arm("50 clusters in one run, s", fleet.together)
        interleave([alone, together], wanted.rounds)
        figures.value_at_most("binary, MiB", size, 16)
        figures.value_at_most("image archive, MiB", image, 10)
        figures.value_at_most("fairlead version, ms", start, 3)
        figures.value_at_most(cold.name, cold, 2)
        figures.at_least("50 clusters x 100 objects: one by one / cores, to one run, s", alone, together, 0.8)
        figures.value_at_most(fleet.peak.name, fleet.peak, 300)
    sys.exit(0 if figures.print(wanted.json) else 1)


if __name__ == "__main__":
    main()
