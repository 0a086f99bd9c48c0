"""`fairlead gate serve` as a process in front of the sandbox: what it does when it is stopped, and when nobody reads its log."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

from tests.cli.on_sandbox import sandbox
from tests.gate.late_operator import HostGate, free_port
from tests.scripts.server import Server


class Serve(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        kubeconfig = self.folder / "kubeconfig"
        self.enterContext(sandbox(kubeconfig))
        self.server = Server(kubeconfig)
        self.env = {**os.environ, "KUBECONFIG": str(kubeconfig)}

    def gate(self, **settings):
        gate = HostGate("serve", self.folder, env=self.env, **settings)
        self.addCleanup(gate.close)
        return gate

    def until(self, what):
        for _ in range(300):
            if what():
                return
            time.sleep(0.1)
        self.fail("waited for nothing")

    def holder(self):
        status, lease = self.server.json("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/gate-serve")
        return lease["spec"].get("holderIdentity", "") if status == 200 else ""

    def test_a_gate_that_drains_gives_its_lease_back_at_once(self):
        gate = self.gate(drain="10m")
        gate.start()
        self.until(self.holder)
        gate.kill(signal.SIGTERM)
        self.until(lambda: not self.holder())
        self.assertIsNone(gate.process.poll(), "the gate has ended already: its Lease may just have lapsed")

    def test_it_serves_on_where_nobody_reads_its_log(self):
        reads, writes = os.pipe()
        os.close(reads)
        port = free_port()
        gate = self.gate(metrics_port=port)
        gate.process = subprocess.Popen(gate.arguments, stdout=writes, env=self.env)
        os.close(writes)

        def is_ready():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
                    return answer.read() == b"ok\n"
            except OSError:
                return False

        self.until(is_ready)
        self.assertIsNone(gate.process.poll())


if __name__ == "__main__":
    unittest.main()
