"""A crowd waits at the gate, each client over a connection of its own: a real process of the gate, in front of the sandbox and of a
webhook that comes late. Nobody is lost, and nothing is stored that the webhook has not seen.
"""
import json
import os
import pathlib
import tempfile
import threading
import time
import unittest

from tests.cli.on_sandbox import sandbox
from tests.daytwo.daytwo import named, own_address
from tests.gate.late_operator import HostGate, LateOperator, Writer
from tests.scripts.server import Server

CLIENTS = int(os.environ.get("FAIRLEAD_CLIENTS", "60"))


class OperatorOnSandbox(LateOperator):
    """The sandbox has no network for Services: it calls the process that an annotation names."""

    def service(self):
        service = super().service()
        service["metadata"]["annotations"] = {"sandbox.fairlead.dev/backend": f"127.0.0.1:{self.port}"}
        return service

    def addresses(self):
        return [("127.0.0.1", self.port), (own_address(), self.port)]


class Crowd(unittest.TestCase):
    def setUp(self):
        self.answers: dict = {}
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        kubeconfig = self.folder / "kubeconfig"
        self.enterContext(sandbox(kubeconfig))
        self.server = Server(kubeconfig)
        self.gate = HostGate("crowd", self.folder, "--holds", str(max(4, CLIENTS // 2)), env={**os.environ, "KUBECONFIG": str(kubeconfig)})
        self.addCleanup(self.gate.close)
        self.gate.start()
        self.gate.await_ready()
        self.operator = OperatorOnSandbox("crowd", self.folder)
        self.addCleanup(self.operator.stop)

    def post(self, path, value):
        status, answer = self.server.json("POST", path, value, {"Content-Type": "application/json"})
        self.assertEqual(status, 201, answer)

    def await_gate(self, is_so):
        for _ in range(100):
            if is_so(self.gate.status()):
                return
            time.sleep(0.1)
        self.fail(f"{json.dumps(self.gate.status(), indent=1)} {self.answers}")

    def install(self):
        self.post("/api/v1/namespaces", named("v1", "Namespace", "crowd"))
        groups = ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api/v1/namespaces/crowd/services",
                  "/apis/discovery.k8s.io/v1/namespaces/crowd/endpointslices",
                  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")
        for path, one in zip(groups, self.operator.objects()):
            self.post(path, one)
        self.await_gate(lambda status: any("-hold-" in name for name in status["configurations"]))

    def test_nobody_is_lost(self):
        self.install()
        path = f"/apis/{self.operator.group}/v1/namespaces/crowd/widgets"
        names = [f"w-{number}" for number in range(CLIENTS)]

        def write(name):
            writer = Writer(self.server)
            self.answers[name] = writer.persist(path, json.dumps(self.operator.widget(name))), writer.text

        threads = [threading.Thread(target=write, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        # The sandbox calls the gate for a few of them at a time.
        self.await_gate(lambda status: status["held"] >= min(CLIENTS, 4))
        peak = next(line for line in pathlib.Path(f"/proc/{self.gate.process.pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
        self.operator.listen()
        for thread in threads:
            thread.join()
        lost = {name: answer for name, answer in self.answers.items() if answer[0] != 201}
        self.assertEqual(lost, {}, f"{self.gate.text()[-2000:]}\n{peak}")
        self.assertEqual(sorted(self.operator.names & set(names)), sorted(names))
        if "FAIRLEAD_CLIENTS" in os.environ:
            print(f"{CLIENTS} clients, none lost; {peak}")


unittest.main()
