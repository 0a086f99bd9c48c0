"""The gate beside the same cluster without it: what it adds to a write, how soon a request goes on, and 500 clients that wait at once.

./dev bench gate [--json] [--rounds N] [--clients N] [--crowd]

The gate and a webhook run on this machine, beside a control plane. "Without" is a namespace that is switched off by its label, so both
arms go to the same API server at the same time.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

from bench._clusters import cluster
from bench._figures import Arm, Figures, interleave

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITES = 150  # per arm and round
RELEASES = 9


class Bench:
    def __init__(self, kubeconfig, folder):
        from tests.daytwo.daytwo import documents, kubectl, named
        from tests.gate.late_operator import HostGate, LateOperator, Writer
        from tests.scripts.server import Server
        self.kubectl, self.documents, self.named = kubectl, documents, named
        self.make_operator, self.make_gate, self.make_writer = LateOperator, HostGate, Writer
        self.folder = pathlib.Path(folder)
        self.server = Server(kubeconfig)
        self.gate = None
        self.number = 0

    def namespace(self, name, **labels):
        self.kubectl("apply", "-f", "-", stdin=self.documents(self.named("v1", "Namespace", name, metadata={"labels": labels})))

    def operator(self, name, policy="Fail"):
        self.namespace(name)
        operator = self.make_operator(name, self.folder, policy)
        self.kubectl("apply", "-f", "-", stdin=self.documents(*operator.objects()))
        self.kubectl("wait", "--for=condition=Established", "crd", f"widgets.{operator.group}")
        return operator

    def start_gate(self, *flags):
        self.gate = self.make_gate("bench", self.folder, *flags)
        self.gate.start()
        self.gate.await_ready()

    def await_state(self, operator, state):
        for _ in range(600):
            for one in self.gate.status()["webhooks"]:
                if one["configuration"] == operator.namespace and one["state"] == state:
                    return
            time.sleep(0.05)
        raise AssertionError(f"the webhook of {operator.namespace} is not seen as: {state}")

    def path(self, operator, namespace):
        return f"/apis/{operator.group}/v1/namespaces/{namespace}/widgets"

    def widget(self, operator, name):
        return json.dumps({"apiVersion": f"{operator.group}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 3}})

    def next_name(self):
        self.number += 1
        return f"one-{self.number}"

    def paired(self, make_path, make_body):
        """Milliseconds of writes in the gated and in the switched-off namespace, one after the other."""
        writer = self.make_writer(self.server)
        took: dict = {"on": [], "off": []}
        for _ in range(WRITES):
            for namespace, times in took.items():
                seconds, status, _ = writer.post(make_path(namespace), make_body(self.next_name()))
                assert status == 201, status
                times.append(seconds * 1000)
        return took

    def lag(self, *flags):
        """Seconds from the moment when the webhook can be called until the object of a waiting client is stored."""
        lags = []
        self.start_gate(*flags)
        for number in range(RELEASES):
            operator = self.operator(f"lag-{len(flags)}-{number}-{self.number}")
            self.await_state(operator, "coming up")
            time.sleep(0.5)  # until the configuration for long holds is in effect
            ended: list = []
            thread = threading.Thread(target=lambda o=operator, e=ended: (
                e.append(self.make_writer(self.server).persist(self.path(o, o.namespace), self.widget(o, "one"))), e.append(time.perf_counter())))
            thread.start()
            time.sleep(1 + number)
            operator.listen()
            listens = time.perf_counter()
            thread.join()
            assert ended[0] == 201, ended
            lags.append(ended[1] - listens)
            operator.stop()
        self.gate.close()
        return lags

    def crowd(self, clients):
        """Clients that wait at once: those that were lost, the gate's memory, and how long other writes took meanwhile."""
        self.start_gate()
        operator = self.operator("crowd")
        self.await_state(operator, "coming up")
        self.namespace("others")
        before = self.others()
        answers: list = []

        def persist(number):
            writer = self.make_writer(self.server)
            answers.append((writer.persist(self.path(operator, "crowd"), self.widget(operator, f"w-{number}")), writer.text))
        threads = [threading.Thread(target=persist, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        time.sleep(6)
        during = self.others()
        memory = int(next(line for line in pathlib.Path(f"/proc/{self.gate.process.pid}/status").read_text().splitlines()
                          if line.startswith("VmHWM")).split()[1]) / 1024
        operator.listen()
        for thread in threads:
            thread.join()
        operator.stop()
        self.gate.close()
        lost = [(status, text[:400].decode()) for status, text in answers if status != 201]
        for status, text in lost[:3]:
            print(f"  lost: {status} {text}", file=sys.stderr)
        return len(lost), memory, before, during

    def others(self):
        """The median of writes that no webhook guards."""
        writer = self.make_writer(self.server)
        times = []
        for _ in range(200):
            body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.next_name()}})
            seconds, status, _ = writer.post("/api/v1/namespaces/others/configmaps", body)
            assert status == 201, status
            times.append(seconds * 1000)
        return statistics.median(times)


def fixed(name, values):
    arm = Arm(name, None)
    arm.values = list(values)
    return arm


def added(bench, figures, rounds):
    bench.start_gate()
    operator = bench.operator("works")
    operator.listen()
    bench.await_state(operator, "works")
    bench.namespace("on")
    bench.namespace("off", **{"fairlead.dev/gate": "off"})
    time.sleep(1)

    def secret(size):
        return lambda name: json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                                        "stringData": {"a": "x" * size}})
    medians, tails = [], []
    for number in range(rounds):
        took = bench.paired(lambda namespace: bench.path(operator, namespace), lambda name: bench.widget(operator, name))
        medians.append(statistics.median(took["on"]) - statistics.median(took["off"]))
        tails.append(statistics.quantiles(took["on"], n=100)[98] - statistics.quantiles(took["off"], n=100)[98])
        print(f"  round {number + 1}/{rounds}  custom resource: +{medians[-1]:.2f} ms, 99th percentile +{tails[-1]:.2f} ms", file=sys.stderr)
    figures.value_at_most("added to a custom resource whose webhook works, median (ms)", fixed("gate", medians), 1)
    figures.value_at_most("the same, 99th percentile (ms)", fixed("gate", tails), 3)
    for title, size, goal in (("a Secret of 100 bytes", 100, 1.02), ("a Secret of 1 MB", 1_000_000, 1.02)):
        arms: dict = {"on": [], "off": []}

        def measure(namespace, size=size):
            writer = bench.make_writer(bench.server)
            times = []
            for _ in range(WRITES if size < 1000 else 20):
                seconds, status, _ = writer.post(f"/api/v1/namespaces/{namespace}/secrets", secret(size)(bench.next_name()))
                assert status == 201, status
                times.append(seconds * 1000)
            return statistics.median(times)
        arms = {name: Arm(name, lambda _, name=name: measure(name)) for name in ("on", "off")}
        interleave(list(arms.values()), max(rounds, 5))
        figures.at_most(f"{title} that no webhook guards (ms)", arms["on"], arms["off"], goal)
    operator.stop()
    bench.gate.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--crowd", action="store_true", help="only the clients that wait at once")
    arguments = parser.parse_args()
    figures = Figures()
    os.environ.setdefault("FAIRLEAD", str(ROOT / "build/fairlead"))
    with cluster("gate", "--control-plane") as (kubectl, kubeconfig), tempfile.TemporaryDirectory() as folder:
        os.environ.update(KUBECONFIG=kubeconfig, FAIRLEAD_CLUSTER_BIN=str(kubectl.parent))
        bench = Bench(kubeconfig, folder)
        if not arguments.crowd:
            added(bench, figures, arguments.rounds)
            figures.value_at_most("from the webhook's first possible call to the stored object: held (s)", fixed("gate", bench.lag()), 0.3)
            figures.value_at_most("the same by 429 alone (s)", fixed("gate", bench.lag("--holds", "0")), 1.1)
        lost, memory, before, during = bench.crowd(arguments.clients)
        figures.value_at_most(f"of {arguments.clients} clients that wait at once, lost", fixed("gate", [lost]), 0)
        figures.value_at_most("the gate's memory then (MB)", fixed("gate", [memory]), 60)
        figures.at_most("other writes meanwhile (ms)", fixed("meanwhile", [during]), fixed("before", [before]), 1.1)
    sys.exit(0 if figures.print(arguments.json) else 1)


main()
