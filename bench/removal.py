"""Removals on a real control plane: how fast beside others, how many requests, how soon it is noticed that all is gone.

./dev bench removal [--json] [--rounds N] [--objects N] [--quick]

A namespace's own controller lets it rest for 5 s before it does anything, so that nobody's removal of a namespace is faster.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from bench._clusters import cluster, cluster_tool
from bench._figures import Arm, Figures, Run, interleave, running
from bench._mixed import NAMESPACES, Mixed
from peers import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent

FAIRLEAD = ROOT / "build/fairlead"
COLLECTION = "/api/v1/namespaces"
PATIENCE = "10m"


class Removals:
    """Bundles that are put there by the load generator, and taken out by whoever is measured."""

    def __init__(self, kubectl, kubeconfig, folder, objects):
        self.kubectl_path, self.kubeconfig, self.folder, self.objects = kubectl, kubeconfig, folder, objects
        self.env = {"KUBECONFIG": str(kubeconfig)}
        self.loadgen = cluster_tool("tool", "loadgen")
        self.peak = Arm("peak memory, MiB", None)
        self.requests = Arm("requests", None)
        self.allowed = Arm("allowed", None)
        self.noticed = Arm("noticed after, ms", None)

    def load(self, path, *arguments):
        argv = [self.loadgen, "-kubeconfig", self.kubeconfig, "-in-flight", "64", "-limit", PATIENCE, "-objects", path]
        return json.loads(Run([*argv, *arguments], stdout=subprocess.PIPE).output)

    def prepare(self, name):
        """The namespaces' and the others' (path, object) as files for the load generator, and all of it as a manifest."""
        pairs = list(Mixed(name, self.objects).objects())
        parts = []
        for part, some in (("namespaces", pairs[:NAMESPACES]), ("contents", pairs[NAMESPACES:])):
            parts.append(self.folder / f"{name}-{part}.jsonl")
            parts[-1].write_text("".join(json.dumps({"path": path, "object": object}) + "\n" for path, object in some))
        manifest = self.folder / f"{name}.yaml"
        manifest.write_text("".join(f"---\n{json.dumps(object)}\n" for _, object in pairs))
        return (*parts, manifest)

    def put(self, name):
        namespaces, contents, manifest = self.prepare(name)
        for part in (namespaces, contents):
            self.load(part)
        self.furnished(name)
        return namespaces, contents, manifest

    def furnished(self, name):
        """Until the controllers have put into the namespaces what every namespace has."""
        argv = [self.kubectl_path, "get", "configmaps", "-A", "--field-selector", "metadata.name=kube-root-ca.crt",
                "-o", "jsonpath={.items[*].metadata.namespace}"]
        while True:
            found = Run(argv, self.env, stdout=subprocess.PIPE).output.split()
            if sum(one.startswith(f"{name}-") for one in found) == NAMESPACES:
                return
            time.sleep(0.1)

    def watched(self, namespaces, argv, codes=(0,)):
        """Runs a command; it, when it began, and the moment at which the server told that the last namespace was gone."""
        watch = [self.loadgen, "-kubeconfig", self.kubeconfig, "-mode", "watch", "-gone", COLLECTION, "-limit", PATIENCE,
                 "-objects", namespaces]
        with running(watch, stdout=subprocess.PIPE) as watcher:
            began = time.time()
            run = Run(argv, self.env, stdout=subprocess.PIPE, codes=codes)
            ended = time.time()
            told = watcher.stdout.read()
            if watcher.wait() != 0:
                raise SystemExit("bench: the watch ended before the namespaces were gone")
        return run, began, ended, json.loads(told)["gone_at"]

    def bare(self, round_number):
        namespaces, contents, _ = self.put(f"bare-{round_number}")
        sent = self.load(contents, "-mode", "delete")["seconds"]
        return sent + self.load(namespaces, "-mode", "delete", "-gone", COLLECTION)["gone_s"]

    def fairlead(self, round_number):
        name = f"fairlead-{round_number}"
        namespaces, _, manifest = self.put(name)
        run, _, ended, gone = self.watched(namespaces, [FAIRLEAD, "delete", "-o", "jsonl", "-f", manifest])
        told = json.loads(run.output.splitlines()[-1])
        if told["gone"] != self.objects:
            raise SystemExit(f"bench: not everything is gone: {told}")
        self.peak.values.append(run.peak_mib)
        self.requests.values.append(told["requests"])
        self.allowed.values.append(self.objects + 3 * Mixed(name, self.objects).kinds + 30)
        self.noticed.values.append((ended - gone) * 1000)
        return run.seconds

    def kubectl(self, *flags):
        """Until it has ended and all is gone. It fails without waiting where a namespace has taken an object before it; else it
        asks about one object after the other, five times a second."""
        def measure(round_number):
            namespaces, _, manifest = self.put(f"kubectl{''.join(flags).replace('=', '-')}-{round_number}")
            argv = [self.kubectl_path, "delete", *flags, "-f", manifest]
            _, began, ended, gone = self.watched(namespaces, argv, codes=(0, 1))
            return max(ended, gone) - began
        return measure

    def kapp(self, round_number):
        name = f"kapp-{round_number}"
        _, _, manifest = self.prepare(name)
        Run([peers.binary("kapp"), "deploy", "-a", name, "-f", manifest, "-y"], self.env)
        self.furnished(name)
        return Run([peers.binary("kapp"), "delete", "-a", name, "-y"], self.env).seconds


def worst(arm):
    one = Arm(f"worst of {arm.name}", None)
    one.values = [max(arm.values)]
    return one


def measure(figures, plane, folder, wanted):
    kubectl, kubeconfig = plane
    runs = Removals(kubectl, kubeconfig, folder, wanted.objects)
    bare = Arm("bare load generator, then the namespaces, s", runs.bare)
    fairlead = Arm("fairlead delete -f, s", runs.fairlead)
    unwatched = Arm("kubectl delete -f --wait=false, until all is gone, s", runs.kubectl("--wait=false"))
    kapps = [Arm("kapp delete, s", runs.kapp)] if peers.binary("kapp") else []
    interleave([bare, fairlead, unwatched, *kapps], wanted.rounds)
    figures.at_most(f"{wanted.objects} objects in {NAMESPACES} namespaces removed, s, to a bare load generator", fairlead, bare, 1.2)
    figures.at_most("the same, to kubectl delete -f --wait=false, until all is gone", fairlead, unwatched, 1.05)
    for arm in kapps:
        figures.at_most("the same, to kapp delete", fairlead, arm, 1)
    if not wanted.quick:
        kubectl = Arm("kubectl delete -f, until all is gone, s", runs.kubectl())
        interleave([kubectl], 1)
        figures.at_most("the same, to kubectl delete -f, until all is gone", fairlead, kubectl, 1)
    figures.value_at_most("the same, peak memory, MiB", runs.peak, 60)
    figures.at_most("the same, requests, to objects + 3 × kinds + 30", runs.requests, runs.allowed, 1)
    few = Removals(kubectl, kubeconfig, folder, 500)
    interleave([Arm("fairlead delete -f, 500 objects, s", few.fairlead)], 1)
    figures.at_most("500 objects, requests, to objects + 3 × kinds + 30", few.requests, few.allowed, 1)
    runs.noticed.values += few.noticed.values
    figures.value_at_most("from the last namespace's end to the end of the run, ms, worst", worst(runs.noticed), 100)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench removal", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="without kubectl delete -f, which may take 7 minutes")
    wanted = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as name, cluster("removal", "--control-plane") as plane:
        measure(figures, plane, pathlib.Path(name), wanted)
    sys.exit(0 if figures.print(wanted.json) else 1)


main()
