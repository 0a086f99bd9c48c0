#!/usr/bin/env python3
"""Rollouts on real clusters: how soon after a webhook answers, how many requests, how fast beside others.

./dev bench rollout [--json] [--runs N] [--rounds N] [--objects N] [--only race|many|graph]
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime

from _figures import Arm, Figures, Run, interleave
from _mixed import NAMESPACES, Mixed
from _peers import kapp

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/rollout"))
import late_webhook  # noqa: E402
from late_webhook import LateWebhook, Shape, Story  # noqa: E402

FAIRLEAD = ROOT / "build/fairlead"
CLUSTER = ROOT / "cluster/cluster"
GRAPH_BENCH = ROOT / "build/release/src/graph/graph_bench"


def cluster_tool(*arguments):
    return subprocess.run([CLUSTER, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@contextlib.contextmanager
def cluster(size, *flags):
    name = f"bench-{size}-{os.getpid()}"
    cluster_tool("up", *flags, "--name", name)
    try:
        yield late_webhook.Cluster(pathlib.Path(cluster_tool("bin", *flags)) / "kubectl",
                                   cluster_tool("kubeconfig", "--name", name))
    finally:
        cluster_tool("down", "--name", name)


def summary(output):
    return json.loads(output.splitlines()[-1])


class Race:
    """A webhook that listens 1 to 5 s after its pod has started: milliseconds from then to the last guarded object."""

    def __init__(self, where, folder):
        self.where = where
        self.path = folder / "race.yaml"
        self.kinds = set()
        self.seed = random.SystemRandom().randrange(10**6)
        self.dice = random.Random(self.seed)
        self.ready = Arm("requests on a ready cluster", None)
        self.allowed = Arm("allowed", None)

    def start(self, name, policy):
        webhook = LateWebhook(Story(Shape(policy=policy), f"{name}-{self.seed}", late=self.dice.uniform(1, 5)))
        objects = [*webhook.widgets(), *webhook.foundation()]
        self.kinds = {one["kind"] for one in objects}
        self.path.write_text(late_webhook.documents(objects))
        return webhook

    def listening(self, webhook):
        record, = late_webhook.records(self.where, webhook.story.name)
        seen = [moment(review["at"]) for review in record["reviews"] if not review["dryRun"]]
        return moment(record["listening"]), max(seen)

    def end(self, webhook):
        kind, name = webhook.story.configuration
        self.where.kubectl("delete", f"{kind}/{name}", f"namespace/{webhook.story.name}", "--wait=false")

    def fairlead(self, policy):
        def measure(round_number):
            webhook = self.start(f"fairlead-{policy.lower()}-{round_number}", policy)
            stored = self.watch_apply()
            listening, _ = self.listening(webhook)
            again = Run([FAIRLEAD, "apply", "-f", self.path, "-o", "jsonl"], self.where.env, stdout=subprocess.PIPE)
            told = summary(again.output)
            objects = told["changed"] + told["unchanged"]
            self.ready.values.append(told["requests"])
            self.allowed.values.append(objects + 3 * len(self.kinds) + 30)
            self.end(webhook)
            return (stored - listening) * 1000
        return measure

    def watch_apply(self):
        """The moment at which it has said of the last guarded object that it is stored."""
        process = subprocess.Popen([FAIRLEAD, "apply", "-f", self.path, "-o", "jsonl"], env=self.where.env,
                                   stdout=subprocess.PIPE, text=True)
        stored = 0
        for line in process.stdout:
            event = json.loads(line)
            if event.get("event") == "stored" and event["object"]["kind"] == "Widget":
                stored = time.time()
        process.stdout.close()
        if process.wait() != 0:
            raise SystemExit(f"bench: fairlead apply ended with {process.returncode}: {line}")
        return stored

    def kapp(self, binary):
        def measure(round_number):
            webhook = self.start(f"kapp-{round_number}", "Fail")
            Run([binary, "deploy", "-a", webhook.story.name, "-f", self.path, "-y"], self.where.env)
            listening, last = self.listening(webhook)
            self.end(webhook)
            return (last - listening) * 1000
        return measure


def moment(text):
    # Nanoseconds are more than datetime reads.
    head, _, rest = text.partition(".")
    return datetime.fromisoformat(f"{head}+00:00").timestamp() + float(f"0.{rest.rstrip('Z')}")


class Many:
    """Thousands of objects on a control plane, created and then applied again."""

    def __init__(self, where, folder, objects):
        self.where, self.folder, self.objects = where, folder, objects
        self.loadgen = cluster_tool("tool", "loadgen")
        self.peak = Arm("peak memory, MiB", None)
        self.requests = Arm("requests", None)
        self.allowed = Arm("allowed", None)
        self.requests_again = Arm("requests", None)

    def manifest(self, name):
        path = self.folder / f"{name}.yaml"
        path.write_text(late_webhook.documents(object for _, object in Mixed(name, self.objects).objects()))
        return path

    def bare(self, round_number):
        pairs = [json.dumps({"path": path, "object": object})
                 for path, object in Mixed(f"bare-{round_number}", self.objects).objects()]
        seconds = 0
        # Whoever does not order has to be given the namespaces apart.
        for number, part in enumerate((pairs[:NAMESPACES], pairs[NAMESPACES:])):
            path = self.folder / f"bare-{number}.jsonl"
            path.write_text("\n".join(part) + "\n")
            run = Run([self.loadgen, "-kubeconfig", self.where.kubeconfig, "-in-flight", "64", "-objects", path],
                      stdout=subprocess.PIPE)
            told = json.loads(run.output)
            if told["codes"] != {"201": len(part)}:
                raise SystemExit(f"bench: loadgen: {run.output}")
            seconds += told["seconds"]
        return self.objects / seconds

    def fairlead(self, round_number):
        name = f"fairlead-{round_number}"
        run = Run([FAIRLEAD, "apply", "-o", "jsonl", "-f", self.manifest(name)], self.where.env, stdout=subprocess.PIPE)
        self.peak.values.append(run.peak_mib)
        self.requests.values.append(summary(run.output)["requests"])
        self.allowed.values.append(self.objects + 3 * Mixed(name, self.objects).kinds + 30)
        return self.objects / run.seconds

    def kubectl(self, round_number):
        argv = [self.where.command, "apply", "--server-side", "-f", self.manifest(f"kubectl-{round_number}")]
        return self.objects / Run(argv, self.where.env).seconds

    def fairlead_again(self, round_number):
        path = self.folder / f"fairlead-{round_number}.yaml"
        argv = [FAIRLEAD, "apply", "--name", f"bundle-{round_number}", "-o", "jsonl", "-f", path]
        Run(argv, self.where.env)  # it gets its name, and every object its label
        run = Run(argv, self.where.env, stdout=subprocess.PIPE)
        told = summary(run.output)
        if told["unchanged"] != self.objects:
            raise SystemExit(f"bench: not everything is unchanged: {told}")
        self.requests_again.values.append(told["requests"])
        return run.seconds

    def kubectl_again(self, round_number):
        argv = [self.where.command, "apply", "--server-side", "-f", self.folder / f"kubectl-{round_number}.yaml"]
        return Run(argv, self.where.env).seconds


def race(figures, folder, runs, peer):
    with cluster("whole") as where:
        races = Race(where, folder)
        arms = [Arm(f"fairlead apply, {policy}, ms", races.fairlead(policy)) for policy in ("Fail", "Ignore")]
        # Each takes half of the runs.
        interleave(arms, (runs + 1) // 2)
        peers = [Arm("kapp deploy, Fail, ms", races.kapp(peer))] if peer else []
        interleave(peers, min(5, runs))
    both = Arm("both", None)
    both.values = arms[0].values + arms[1].values
    figures.value_at_most(f"from a webhook's first answer to the last of {late_webhook.GUARDED} guarded objects, ms, median",
                          both, 100)
    worst = Arm("worst", None)
    worst.values = [max(both.values)]
    figures.value_at_most(f"the same, ms, worst of {len(both.values)}", worst, 500)
    for arm in peers:
        figures.at_most("the same with failurePolicy Fail, ms, to kapp deploy", arms[0], arm, 1)
    figures.at_most("requests on a ready cluster, to objects + 3 × kinds + 30", races.ready, races.allowed, 1)


def many(figures, folder, rounds, objects):
    with cluster("plane", "--control-plane") as where:
        runs = Many(where, folder, objects)
        bare = Arm("bare load generator, objects/s", runs.bare)
        fairlead = Arm("fairlead apply, objects/s", runs.fairlead)
        kubectl = Arm("kubectl apply --server-side, objects/s", runs.kubectl)
        again = Arm("fairlead apply --name again, s", runs.fairlead_again)
        kubectl_again = Arm("kubectl apply --server-side again, s", runs.kubectl_again)
        interleave([bare, fairlead, kubectl, again, kubectl_again], rounds)
    figures.at_least(f"{objects} objects created, objects/s, to a bare load generator", fairlead, bare, 0.9)
    figures.at_least("the same, to kubectl apply --server-side", fairlead, kubectl, 2.5)
    figures.at_most("the same, requests, to objects + 3 × kinds + 30", runs.requests, runs.allowed, 1)
    figures.value_at_most("the same, peak memory, MiB", runs.peak, 80)
    figures.value_at_most("again, nothing changed, requests", runs.requests_again, 40)
    figures.at_most("again, s, to kubectl apply --server-side", again, kubectl_again, 0.05)


def graph(figures, rounds):
    small = Arm("graph of 10,000 objects, s", None)

    def measure(_):
        told = [json.loads(line)["graph_seconds"] for line in
                Run([GRAPH_BENCH, "10000", "100000"], stdout=subprocess.PIPE).output.splitlines()]
        small.values.append(told[0])
        return told[1]
    large = Arm("graph of 100,000 objects, s", measure)
    interleave([large], rounds)
    figures.value_at_most("graph of 100,000 objects and 200 webhook configurations, s", large, 3)
    figures.at_most("the same, to the time for 10,000", large, small, 11)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench rollout", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--runs", type=int, default=50, help="of the race")
    parser.add_argument("--rounds", type=int, default=5, help="of everything else")
    parser.add_argument("--objects", type=int, default=3000)
    parser.add_argument("--only", choices=["race", "many", "graph"], help="one part of it")
    wanted = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if wanted.only in (None, "race"):
            race(figures, folder, wanted.runs, kapp())
        if wanted.only in (None, "many"):
            many(figures, folder, wanted.rounds, wanted.objects)
        if wanted.only in (None, "graph"):
            graph(figures, wanted.rounds)
    sys.exit(0 if figures.print(wanted.json) else 1)


main()
