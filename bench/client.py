"""The client beside kubectl and beside a bare load generator, on a real control plane.

./dev bench client [--json] [--rounds N] [--objects N]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from bench._figures import Arm, Figures, Run, interleave

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAIRLEAD = ROOT / "build/fairlead"
CLUSTER = ROOT / "cluster/cluster"
MANIFEST_BENCH = ROOT / "build/release/src/manifest/manifest_bench"


def cluster(*arguments):
    return subprocess.run([CLUSTER, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def config_map(namespace, number):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": f"cm-{number:05}", "namespace": namespace, "labels": {"app": "load"}},
            "data": {"index": str(number), "text": "the quick brown fox jumps over the lazy dog"}}


class Bench:
    def __init__(self, folder, objects, instance):
        self.folder = folder
        self.objects = objects
        self.kubeconfig = cluster("kubeconfig", "--name", instance)
        self.kubectl = pathlib.Path(cluster("bin", "--control-plane")) / "kubectl"
        self.loadgen = cluster("tool", "loadgen")
        self.env = {"KUBECONFIG": self.kubeconfig}
        self.peak = Arm("peak memory of fairlead apply, MiB", None)

    def fresh_namespace(self, name):
        """A namespace of its own for each run, so that every run creates and none has to delete."""
        Run([self.kubectl, "create", "namespace", name], self.env)
        return name

    def manifest(self, namespace):
        path = self.folder / f"{namespace}.yaml"
        with open(path, "w") as file:
            for number in range(self.objects):
                file.write(json.dumps(config_map(namespace, number)) + "\n---\n")
        return path

    def bare(self, round_number):
        namespace = self.fresh_namespace(f"bare-{round_number}")
        path = self.folder / f"{namespace}.jsonl"
        with open(path, "w") as file:
            for number in range(self.objects):
                target = f"/api/v1/namespaces/{namespace}/configmaps/cm-{number:05}"
                file.write(json.dumps({"path": target, "object": config_map(namespace, number)}) + "\n")
        run = Run([self.loadgen, "-kubeconfig", self.kubeconfig, "-in-flight", "64", "-objects", path],
                  stdout=subprocess.PIPE)
        return json.loads(run.output)["per_s"]

    def rate_of(self, name, round_number, argv):
        namespace = self.fresh_namespace(f"{name}-{round_number}")
        run = Run([*argv, "-f", self.manifest(namespace)], self.env)
        return run, self.objects / run.seconds

    def fairlead(self, round_number):
        run, rate = self.rate_of("fairlead", round_number, [FAIRLEAD, "apply"])
        self.peak.values.append(run.peak_mib)
        return rate

    def kubectl_server_side(self, round_number):
        return self.rate_of("server-side", round_number, [self.kubectl, "apply", "--server-side"])[1]

    def kubectl_client_side(self, round_number):
        return self.rate_of("client-side", round_number, [self.kubectl, "apply"])[1]


def reading(folder):
    """50 MB of manifests in 115,000 documents, read by one core, from the file to objects."""
    path = folder / "large.yaml"
    with open(path, "w") as file:
        for number in range(115_000):
            file.write(f"""apiVersion: v1
kind: ConfigMap
metadata:
  name: settings-{number:06}
  namespace: team-{number % 20}
  labels:
    app.kubernetes.io/name: settings
    app.kubernetes.io/part-of: a-large-bundle
  annotations:
    example.com/description: "one of very many, number {number}"
data:
  log-level: info
  timeout: "30"
  greeting: hello from the other side of the river
  lines: |
    first line of a longer text
    second line, number {number}
immutable: false
---
""")
    return lambda _: json.loads(Run([MANIFEST_BENCH, path], stdout=subprocess.PIPE).output)["mb_per_s"]


def memory_of_reading(folder, documents):
    """MiB for reading so many small documents. The server is not there: what comes behind the reading is left out."""
    path = folder / f"{documents}.yaml"
    with open(path, "w") as file:
        for number in range(documents):
            file.write(f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map-{number}\n  namespace: default\n"
                       f"data:\n  key: value-{number}\n---\n")
    return lambda _: Run([FAIRLEAD, "apply", "-f", path, "--server", "http://127.0.0.1:1"], codes=(1,)).peak_mib


def start_up(argv):
    """Milliseconds for one start, as the mean of twenty in a row."""
    def measure(_):
        return sum(Run(argv).seconds for _ in range(20)) / 20 * 1000
    return measure


def main():
    parser = argparse.ArgumentParser(prog="./dev bench client", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--objects", type=int, default=3000)
    wanted = parser.parse_args()
    instance = f"bench-{os.getpid()}"
    cluster("up", "--control-plane", "--name", instance, "--owner", str(os.getpid()))
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(pathlib.Path(folder), wanted.objects, instance)
            bare = Arm("bare load generator, objects/s", bench.bare)
            fairlead = Arm("fairlead apply, objects/s", bench.fairlead)
            server_side = Arm("kubectl apply --server-side, objects/s", bench.kubectl_server_side)
            client_side = Arm("kubectl apply, objects/s", bench.kubectl_client_side)
            interleave([bare, fairlead, server_side, client_side], wanted.rounds)
            start = Arm("fairlead version, ms", start_up([FAIRLEAD, "version"]))
            kubectl_start = Arm("kubectl version --client, ms", start_up([bench.kubectl, "version", "--client"]))
            interleave([start, kubectl_start], wanted.rounds)
            read = Arm("reading manifests, MB/s", reading(pathlib.Path(folder)))
            interleave([read], wanted.rounds)
            many, very_many = (Arm(f"reading {count:,} small documents, MiB", memory_of_reading(pathlib.Path(folder), count))
                               for count in (100_000, 1_000_000))
            interleave([many, very_many], 2)
    finally:
        cluster("down", "--name", instance)
    figures = Figures()
    figures.at_least("create, objects/s, to a bare load generator", fairlead, bare, 0.95)
    figures.at_least("create, objects/s, to kubectl apply --server-side", fairlead, server_side, 3)
    figures.at_least("create, objects/s, to kubectl apply", fairlead, client_side, 6)
    figures.value_at_most("peak memory while creating, MiB", bench.peak, 60)
    figures.value_at_least("reading 50 MB of manifests, MB/s", read, 20)
    figures.value_at_most("peak memory, reading 100,000 small documents, MiB", many, 200)
    figures.value_at_most("peak memory, reading 1,000,000 small documents, MiB", very_many, 2000)
    figures.at_most("start-up, ms, to kubectl version --client", start, kubectl_start, 0.2)
    sys.exit(0 if figures.print(wanted.json) else 1)


main()
