"""The gate on a real control plane: unmodified kubectl wins the race against a webhook that comes late, and without a gate it loses.

Whether an object was stored past its webhook is judged by the webhook's own record.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, documents, kubectl, run
from tests.gate.late_operator import HostGate, LateOperator
from tests.scripts.server import Server

CLIENT_SIDE = ("apply",)
SERVER_SIDE = ("apply", "--server-side")
CLUSTER_TOOL = str(pathlib.Path(__file__).resolve().parents[2] / "cluster/cluster")


def cluster_tool(*arguments):
    return subprocess.run([CLUSTER_TOOL, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def setUpModule():
    """A control plane of its own: a gate is there for all requests of a cluster, those of other tests included."""
    name = os.environ.get("FAIRLEAD_GATE_CLUSTER", "")
    if not name:
        name = f"gate-{os.getpid()}"
        unittest.addModuleCleanup(cluster_tool, "down", "--name", name)
        cluster_tool("up", "--control-plane", "--name", name, "--owner", str(os.getpid()))
    os.environ["KUBECONFIG"] = cluster_tool("kubeconfig", "--name", name)


class Beside:
    """Something that runs in a thread of its own."""

    def __init__(self, work):
        self.answer = None
        self.thread = threading.Thread(target=lambda: setattr(self, "answer", work()))
        self.thread.start()

    def result(self):
        self.thread.join()
        return self.answer


class GateCase(DayTwo):
    def setUp(self):
        super().setUp()
        self.operator = None
        self.gate = None

    def start_gate(self, *flags):
        self.gate = HostGate(self.home, self.folder, *flags)
        self.addCleanup(self.forget_gate)
        self.gate.start()
        self.gate.await_ready()

    def forget_gate(self):
        self.gate.close()
        run(KUBECTL, "delete", "mutatingwebhookconfigurations", "-l", f"fairlead.dev/gate={self.gate.name}")

    def own_configurations(self):
        listed = kubectl("get", "mutatingwebhookconfigurations", "-l", f"fairlead.dev/gate={self.gate.name}", "-o", "json")
        return [one["metadata"]["name"] for one in json.loads(listed)["items"]]

    def await_configuration(self, part):
        for _ in range(200):
            if any(part in name for name in self.own_configurations()):
                return
            time.sleep(0.05)
        self.fail(f"no configuration with {part}: {self.own_configurations()}")

    def install_operator(self, policy="Fail"):
        self.operator = LateOperator(self.home, self.folder, policy)
        self.addCleanup(self.operator.stop)
        self.addCleanup(run, KUBECTL, "delete", "crd", f"widgets.{self.operator.group}", "--wait=false")
        self.addCleanup(run, KUBECTL, "delete", "validatingwebhookconfiguration", self.home)
        kubectl("apply", "-f", "-", stdin=documents(*self.operator.objects()))
        kubectl("wait", "--for=condition=Established", "crd", f"widgets.{self.operator.group}")

    def write(self, verb, *names):
        return run(KUBECTL, *verb, "-f", "-", stdin=documents(*(self.operator.widget(name) for name in names)), timeout=400)

    def write_while_late(self, verb, seconds):
        thread = self.operator.listen_after(seconds)
        result = self.write(verb, "a", "b", "c")
        thread.join()
        return result

    def assert_won(self, result):
        self.assertEqual(result.returncode, 0, result.stderr + self.gate.text())
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.operator.names, {"a", "b", "c"})

    def wins(self, verb, seconds, policy="Fail", flags=()):
        self.start_gate(*flags)
        self.install_operator(policy)
        self.assert_won(self.write_while_late(verb, seconds))


class Race(GateCase):
    def test_without_a_gate_it_is_lost(self):
        self.install_operator()
        result = self.write(CLIENT_SIDE, "a")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed calling webhook", result.stderr)

    def test_without_a_gate_objects_slip_past(self):
        self.install_operator("Ignore")
        self.assertEqual(self.write(CLIENT_SIDE, "a").returncode, 0)
        self.assertEqual(self.operator.names, set())

    def test_client_side_5_s(self):
        self.wins(CLIENT_SIDE, 5)

    def test_server_side_5_s(self):
        self.wins(SERVER_SIDE, 5)

    def test_client_side_12_s(self):
        self.wins(CLIENT_SIDE, 12)

    def test_server_side_12_s(self):
        self.wins(SERVER_SIDE, 12)

    def test_by_refusals_alone(self):
        self.wins(CLIENT_SIDE, 12, flags=("--holds", "0"))

    def test_ignored(self):
        self.wins(SERVER_SIDE, 5, policy="Ignore")

    def test_after_the_patience(self):
        self.start_gate("--patience", "3s")
        self.install_operator()
        result = self.write(CLIENT_SIDE, "a")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed calling webhook", result.stderr)


class NeverWorse(GateCase):
    """With a webhook that works, nothing fails, whatever becomes of the gate."""

    def setUp(self):
        super().setUp()
        self.start_gate()
        self.install_operator()
        self.operator.listen()
        self.await_configuration("kinds-")

    def written(self, name):
        result = self.write(SERVER_SIDE, name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(name, self.operator.names)

    def test_killed(self):
        self.written("a")
        self.gate.kill()
        self.written("b")

    def test_frozen(self):
        self.written("a")
        self.gate.kill(signal.SIGSTOP)
        self.written("b")
        self.gate.kill(signal.SIGCONT)
        self.written("c")

    def test_stopped_and_started_again(self):
        self.gate.kill(signal.SIGTERM)
        self.assertEqual(self.gate.process.wait(timeout=60), 0)
        self.written("a")
        self.gate.start()
        self.written("b")

    def test_killed_frozen_and_replaced_under_load(self):
        """FAIRLEAD_GATE_ROUNDS=200 does it that often; FAIRLEAD_SEED=N repeats the choices."""
        seed = int(os.environ.get("FAIRLEAD_SEED", random.SystemRandom().randrange(10**9)))
        dice = random.Random(seed)
        stopped, failures, written = threading.Event(), [], []
        server = Server(os.environ["KUBECONFIG"])

        def write(writer):
            number = 0
            while not stopped.is_set():
                number += 1
                name = f"w-{writer}-{number}"
                status, answer = server.json("POST", f"/apis/{self.operator.group}/v1/namespaces/{self.home}/widgets",
                                             self.operator.widget(name), {"Content-Type": "application/json"})
                written.append(name)
                if status != 201:
                    failures.append(f"{name}: {status} {answer.get('message')}")

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        rounds = int(os.environ.get("FAIRLEAD_GATE_ROUNDS", "6"))
        # A gate that is frozen most of the time leaves few writes to judge.
        while rounds > 0 or len(written) <= 50:
            rounds -= 1
            time.sleep(dice.uniform(0, 0.5))
            how = dice.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
            self.gate.kill(how)
            if how == signal.SIGSTOP:
                time.sleep(dice.uniform(0, 1))
                self.gate.kill(signal.SIGCONT)
                continue
            self.gate.process.wait(timeout=60)
            time.sleep(dice.uniform(0, 0.5))
            self.gate.start()
        stopped.set()
        for writer in writers:
            writer.join()
        self.assertEqual(failures, [], f"seed {seed}")
        self.assertEqual([name for name in written if name not in self.operator.names], [], f"seed {seed}")


class Waiting(GateCase):
    def test_a_gate_that_is_replaced_loses_nobody(self):
        self.start_gate()
        self.install_operator()
        self.await_configuration("hold-")
        thread = self.operator.listen_after(8)
        writer = Beside(lambda: self.write(CLIENT_SIDE, "a"))
        time.sleep(2)
        self.gate.kill(signal.SIGTERM)
        self.gate.process.wait(timeout=60)
        self.gate.start()
        result = writer.result()
        thread.join()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.operator.names, {"a"})

    def test_people_see_it(self):
        self.start_gate()
        self.install_operator()
        writer = Beside(lambda: self.write(CLIENT_SIDE, "a"))
        waiting: list = []
        for _ in range(100):
            waiting = self.gate.status()["waiting"]
            if waiting:
                break
            time.sleep(0.1)
        self.assertEqual([one["object"] for one in waiting], [f"Widget {self.home}/a"])
        shown = run(FAIRLEAD, "gate", "status", "--from", f"http://127.0.0.1:{self.gate.probes}").stdout
        self.assertIn(f"hook.{self.operator.group} (ValidatingWebhookConfiguration {self.home}): coming up since", shown)
        self.assertIn(f"  because   service {self.home}/hook does not accept connections\n", shown)
        self.operator.listen()
        self.assertEqual(writer.result().returncode, 0)
        events = json.loads(kubectl("get", "events", "-n", "default", "-o", "json", "--field-selector",
                                    f"involvedObject.name={self.home},reason=RequestsWait"))["items"]
        self.assertEqual(len(events), 1)


unittest.main()
