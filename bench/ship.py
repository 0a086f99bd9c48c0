"""What people notice of the binary that they download: its size, its start, its image, a run in a pod, and one in fifty clusters.

./dev bench ship [--json] [--rounds N] [--only fleet]

A run in fifty clusters is compared with fifty runs one after the other, spread over the cores: it should reach 0.8 of that. The clusters are
sandboxes on this machine, so a run alone would use a second core for its cluster, and dividing by the cores would count that one twice. So a
run alone has one core, together with its cluster. Two figures without a goal show the same with all cores for a run alone: what is reached,
and what would be if the run in fifty clusters let no core idle.
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

CORES = os.sched_getaffinity(0)
CLUSTERS = [f"c{number:02}" for number in range(50)]
OBJECTS = 100
ALONE = 10
STARTS = 200
IMAGE = "fairlead.dev/fairlead:bench"
HOME = "bench-ship"


def threads(process):
    return [int(thread) for thread in os.listdir(f"/proc/{process}/task")]


def processor_seconds(process):
    return sum(int(pathlib.Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()[0]) for thread in threads(process)) / 1e9


@contextlib.contextmanager
def confined(server, cores):
    """All threads of the server, and what is started here, have only these cores."""
    def confine(cores):
        for thread in [0, *threads(server)]:
            os.sched_setaffinity(thread, cores)

    confine(cores)
    try:
        yield
    finally:
        confine(CORES)


def mebibytes(path):
    return path.stat().st_size / 2**20


class Fleet:
    """Fifty sandboxes, each with a bundle of a hundred objects that goes in and out."""

    def __init__(self, folder, enter):
        def start(name):
            running = sandbox(folder / name, "--nodes", "0")
            return running, running.__enter__()

        self.servers = {}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for name, (running, process) in zip(CLUSTERS, pool.map(start, CLUSTERS)):
                enter.push(running.__exit__)
                self.servers[name] = process.pid
        config = merged({name: json.loads((folder / name).read_text()) for name in CLUSTERS})
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))
        self.manifest = folder / "bundle.json"
        self.manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}, "data": {"text": "x" * 200}} for number in range(OBJECTS)]}))
        self.used = Arm("50 clusters in one run, processor seconds / cores", None)
        self.peak = Arm("peak memory of a run in 50 clusters, MiB", None)

    def run(self, command, *where):
        return Run([FAIRLEAD, command, "-f", self.manifest, "-o", "quiet", *(["--yes"] if command == "delete" else []), *where],
                   env={"KUBECONFIG": str(self.kubeconfig)})

    def alone(self, cores):
        """Seconds that fifty clusters take one after the other, each run and its cluster on these cores, divided by all cores. From a sample."""
        seconds = 0
        for name in CLUSTERS[::len(CLUSTERS) // ALONE]:
            with confined(self.servers[name], cores):
                seconds += self.run("apply", "--context", name).seconds
            self.run("delete", "--context", name)
        return seconds / ALONE * len(CLUSTERS) / len(CORES)

    def served(self):
        """Processor seconds of all clusters so far."""
        return sum(map(processor_seconds, self.servers.values()))

    def together(self, _):
        before = self.served()
        run = self.run("apply", "--contexts", "all")
        self.peak.values.append(run.peak_mib)
        self.used.values.append((run.processor_seconds + self.served() - before) / len(CORES))
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


def measure_one(figures, folder, rounds):
    size = Arm("binary, MiB", lambda _: mebibytes(FAIRLEAD))
    image = Arm("image, MiB", lambda _: image_size(folder))
    interleave([size, image], 1)
    start = Arm("fairlead version, ms", start_milliseconds)
    interleave([start], rounds)
    with cluster("whole") as (_, kubeconfig):
        cluster_tool("load-image", "--name", cluster_name("whole"), str(folder / "image.tar"))
        cold = Arm("pod created to object stored, s", Pods(Server(kubeconfig)).until_stored)
        interleave([cold], rounds)
    figures.value_at_most("binary, MiB", size, 16)
    figures.value_at_most("image archive, MiB", image, 10)
    figures.value_at_most("fairlead version, ms", start, 3)
    figures.value_at_most(cold.name, cold, 2)


def measure_many(figures, fleet, rounds):
    alone = Arm("50 clusters one by one, each on one core, / cores, s", lambda _: fleet.alone({min(CORES)}))
    free = Arm("50 clusters one by one, each on all cores, / cores, s", lambda _: fleet.alone(CORES))
    together = Arm("50 clusters in one run, s", fleet.together)
    interleave([alone, free, together], rounds)
    figures.at_least("50 clusters x 100 objects: one by one on a core / cores, to one run, s", alone, together, 0.8)
    figures.ratio("the same, one by one on all cores", free, together)
    figures.ratio("that, if the one run let no core idle", free, fleet.used)
    figures.value_at_most(fleet.peak.name, fleet.peak, 300)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench ship", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["fleet"], help="only the run in fifty clusters")
    wanted = parser.parse_args()
    figures = Figures()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if not wanted.only:
            measure_one(figures, folder, wanted.rounds)
        measure_many(figures, Fleet(folder, stack), wanted.rounds)
    sys.exit(0 if figures.print(wanted.json) else 1)


if __name__ == "__main__":
    main()
