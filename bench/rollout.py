"""Rollouts on real clusters: how soon after a webhook answers, how many requests, how fast beside others.

./dev bench rollout [--json] [--runs N] [--rounds N] [--objects N] [--only race|many|graph]
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime

from bench._clusters import CLUSTER, cluster, cluster_name, cluster_tool, heed_signals
from bench._figures import Arm, Figures, Run, interleave, running
from bench._mixed import NAMESPACES, Mixed, write_chart
from peers import peers
from tests.rollout import late_webhook
from tests.rollout.late_webhook import LateWebhook, Shape, Story

ROOT = pathlib.Path(__file__).resolve().parent.parent

FAIRLEAD = ROOT / "build/fairlead"
GRAPH_BENCH = ROOT / "build/release/src/graph/graph_bench"


def summary(output):
    return json.loads(output.splitlines()[-1])


# Prints when the first connection to the address came about. Whoever meets a Service before the network knows it hangs for
# seconds, so that each attempt is given up quickly.
PROBE = """
import socket, sys, time
while True:
    with socket.socket() as probe:
        probe.settimeout(0.02)
        try:
            probe.connect((sys.argv[1], 443))
            break
        except OSError:
            time.sleep(0.005)
print(time.time())
"""


class Race:
    """A webhook that listens 1 to 5 s after its pod has started: milliseconds from the first moment at which it can be called
    through its Service, which is when it listens or when the node's network knows of it, to the last guarded object."""

    def __init__(self, where, folder):
        self.where = where
        self.started = 0
        self.path = folder / "race.yaml"
        self.kinds = set()
        self.seed = random.SystemRandom().randrange(10**6)
        self.dice = random.Random(self.seed)
        self.ready = Arm("requests on a ready cluster", None)
        self.allowed = Arm("allowed", None)

    def start(self, name, policy, guarded=late_webhook.GUARDED):
        story = Story(Shape(policy=policy), f"{name}-{self.seed}", late=self.dice.uniform(1, 5), guarded=guarded)
        webhook = LateWebhook(story)
        objects = [*webhook.widgets(), *webhook.foundation()]
        self.started += 1
        address = f"10.96.200.{self.started}"
        next(one for one in objects if one["kind"] == "Service")["spec"]["clusterIP"] = address
        self.kinds = {one["kind"] for one in objects}
        self.path.write_text(late_webhook.documents(objects))
        return webhook, running([CLUSTER, "net", "--name", cluster_name("whole"), "python3", "-c", PROBE, address],
                                stdout=subprocess.PIPE)

    def end(self, webhook):
        kind, name = webhook.story.configuration
        self.where.kubectl("delete", f"{kind}/{name}", f"namespace/{webhook.story.name}", "--wait=false")

    def fairlead(self, policy):
        def measure(round_number):
            webhook, probing = self.start(f"fairlead-{policy.lower()}-{round_number}", policy)
            with probing as probe:
                stored = self.watch_apply()
                answers = float(probe.stdout.read())
            again = Run([FAIRLEAD, "apply", "-f", self.path, "-o", "jsonl"], self.where.env, stdout=subprocess.PIPE)
            told = summary(again.output)
            objects = told["changed"] + told["unchanged"]
            self.ready.values.append(told["requests"])
            self.allowed.values.append(objects + 3 * len(self.kinds) + 30)
            self.end(webhook)
            return (stored - answers) * 1000
        return measure

    def watch_apply(self):
        """The moment at which it has said of the last guarded object that it is stored."""
        stored = 0.0
        with running([FAIRLEAD, "apply", "-f", self.path, "-o", "jsonl"], self.where.env, subprocess.PIPE) as process:
            for line in process.stdout:
                event = json.loads(line)
                if event.get("event") == "stored" and event["object"]["kind"] == "Widget":
                    stored = time.time()
            if process.wait() != 0:
                raise SystemExit(f"bench: fairlead apply ended with {process.returncode}: {line}")
        return stored

    def kapp(self, guarded):
        """To the last object's creation, as the webhook has seen it; kapp's second write of each is not counted."""
        def measure(round_number):
            webhook, probing = self.start(f"kapp-{guarded}-{round_number}", "Fail", guarded)
            with probing as probe:
                Run([peers.binary("kapp"), "deploy", "-a", webhook.story.name, "-f", self.path, "-y"], self.where.env)
                answers = float(probe.stdout.read())
            record, = late_webhook.records(self.where, webhook.story.name)
            created = {review["name"]: moment(review["at"]) for review in record["reviews"]
                       if review["operation"] == "CREATE" and not review["dryRun"]}
            if len(created) != guarded:
                raise SystemExit(f"bench: kapp has got {guarded - len(created)} objects past the webhook")
            self.end(webhook)
            return (max(created.values()) - answers) * 1000
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

    def kapp(self, round_number):
        return self.objects / self.kapp_deploy(round_number, self.manifest(f"kapp-{round_number}")).seconds

    def kapp_deploy(self, round_number, path):
        argv = [peers.binary("kapp"), "deploy", "-a", f"kapp-{round_number}", "-f", path, "-y"]
        return Run(argv, self.where.env, stdout=subprocess.PIPE)

    def helm(self, round_number):
        """Without --wait, which is quicker: nothing here has to become ready, and the others look for that as well."""
        name = f"helm-{round_number}"
        chart = write_chart(self.folder / name, name, Mixed(name, self.objects))
        homes = peers.helm_homes(self.folder / "helm")
        return self.objects / Run([peers.binary("helm4"), "install", name, chart], {**self.where.env, **homes}).seconds

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

    def kapp_again(self, round_number):
        run = self.kapp_deploy(round_number, self.folder / f"kapp-{round_number}.yaml")
        if "0 create, 0 delete, 0 update" not in run.output:
            raise SystemExit(f"bench: kapp found something to do: {run.output[-500:]}")
        return run.seconds


def race(figures, folder, runs):
    with cluster("whole") as paths:
        where = late_webhook.Cluster(*paths)
        races = Race(where, folder)
        arms = [Arm(f"fairlead apply, {policy}, ms", races.fairlead(policy)) for policy in ("Fail", "Ignore")]
        # Each takes half of the runs.
        interleave(arms, (runs + 1) // 2)
        # kapp has five objects in hand at a time, and tries each for five seconds before it takes another. Five guarded
        # ones often keep the webhook's own Service out for so long; with four it is as quick as it can be. Both are shown.
        kapp = {count: Arm(f"kapp deploy, Fail, {count} objects, ms", races.kapp(count)) for count in (4, 5)
                if peers.binary("kapp")}
        interleave(kapp.values(), min(5, runs))
    both = Arm("both", None)
    both.values = arms[0].values + arms[1].values
    name = f"from a webhook's first answer to the last of {late_webhook.GUARDED} guarded objects, ms"
    figures.value_at_most(f"{name}, median", both, 100)
    worst = Arm("worst", None)
    worst.values = [max(both.values)]
    figures.value_at_most(f"the same, ms, worst of {len(both.values)}", worst, 500)
    for count, arm in kapp.items():
        figures.at_most(f"the same with failurePolicy Fail, ms, to kapp deploy with {count} objects", arms[0], arm, 1)
    figures.at_most("requests on a ready cluster, to objects + 3 × kinds + 30", races.ready, races.allowed, 1)


def many(figures, folder, rounds, objects):
    with cluster("plane", "--control-plane") as paths:
        where = late_webhook.Cluster(*paths)
        runs = Many(where, folder, objects)
        bare = Arm("bare load generator, objects/s", runs.bare)
        fairlead = Arm("fairlead apply, objects/s", runs.fairlead)
        kubectl = Arm("kubectl apply --server-side, objects/s", runs.kubectl)
        again = Arm("fairlead apply --name again, s", runs.fairlead_again)
        kubectl_again = Arm("kubectl apply --server-side again, s", runs.kubectl_again)
        kapp = Arm("kapp deploy, objects/s", runs.kapp)
        kapp_again = Arm("kapp deploy again, s", runs.kapp_again)
        helm = Arm("helm 4 install, objects/s", runs.helm)
        kapps = [kapp, kapp_again] if peers.binary("kapp") else []
        helms = [helm] if peers.binary("helm4") else []
        interleave([bare, fairlead, kubectl, again, kubectl_again, *kapps, *helms], rounds)
    figures.at_least(f"{objects} objects created, objects/s, to a bare load generator", fairlead, bare, 0.9)
    figures.at_least("the same, to kubectl apply --server-side", fairlead, kubectl, 2.5)
    for name, arms in (("kapp deploy", kapps[:1]), ("helm 4 install", helms)):
        for arm in arms:
            figures.at_least(f"the same, to {name}", fairlead, arm, 1)
    figures.at_most("the same, requests, to objects + 3 × kinds + 30", runs.requests, runs.allowed, 1)
    figures.value_at_most("the same, peak memory, MiB", runs.peak, 80)
    figures.value_at_most("again, nothing changed, requests", runs.requests_again, 40)
    figures.at_most("again, s, to kubectl apply --server-side", again, kubectl_again, 0.05)
    for arm in kapps[1:]:
        figures.at_most("again, s, to kapp deploy", again, arm, 0.143)


def graph(figures, rounds):
    small = Arm("10,000 objects from YAML to needs, s", None)

    def measure(_):
        lines = Run([GRAPH_BENCH, "10000", "100000"], stdout=subprocess.PIPE).output.splitlines()
        told = [one["read_seconds"] + one["graph_seconds"] for one in map(json.loads, lines)]
        small.values.append(told[0])
        return told[1]
    large = Arm("100,000 objects from YAML to needs, s", measure)
    interleave([large], rounds)
    figures.value_at_most("100,000 objects and 200 webhook configurations, from YAML to needs, s", large, 3)
    figures.at_most("the same, to the time for 10,000", large, small, 11)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench rollout", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--runs", type=int, default=50, help="of the race")
    parser.add_argument("--rounds", type=int, default=3, help="of everything else")
    parser.add_argument("--objects", type=int, default=3000)
    parser.add_argument("--only", choices=["race", "many", "graph"], help="one part of it")
    wanted = parser.parse_args()
    heed_signals()
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if wanted.only in (None, "race"):
            race(figures, folder, wanted.runs)
        if wanted.only in (None, "many"):
            many(figures, folder, wanted.rounds, wanted.objects)
        if wanted.only in (None, "graph"):
            graph(figures, wanted.rounds)
    sys.exit(0 if figures.print(wanted.json) else 1)


main()
