"""The real kubectl on the sandbox: the same commands on a real control plane give the same output, to the letter.

Neither has a node there, so pods stay pending in both. What needs pods that run is at the end, on a sandbox alone.
"""
import os
import pathlib
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from tests.kubectl.servers import Sandbox, Server, normal

HERE = pathlib.Path(__file__).resolve().parent

NAMESPACE = f"kubectl-{os.getpid()}"
READS = ("api-resources ", "get ", "describe ", "explain ", "rollout history ")


class BothServers(unittest.TestCase):
    """Runs the stories of stories/*.txt, a command a line, on a real control plane and on the sandbox."""

    maxDiff = None
    sandbox: Sandbox
    real: Server

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox("--nodes", "0")
        cls.addClassCleanup(cls.sandbox.close)
        cls.real = Server(os.environ["KUBECONFIG"])
        cls.addClassCleanup(cls.real.close)

    def story(self, name):
        namespace = f"{NAMESPACE}-{name}"
        for server in (self.real, self.sandbox):
            self.assertEqual(server.kubectl(f"create namespace {namespace}"), f"[0]\nnamespace/{namespace} created\n")
            self.addCleanup(server.kubectl, f"delete namespace {namespace} --wait=false")
        commands = (HERE / "stories" / f"{name}.txt").read_text().splitlines()
        commands = [line for line in commands if line and not line.startswith("#")]
        self.assertGreater(len(commands), 3)
        for command in commands:
            # Manifests stand beside the stories; a command that is to fail ends with its exit code.
            command, _, code = command.partition(" => ")
            status = f"[{code or 0}]"
            full = f"-n {namespace} {command}".replace("@", f"{HERE}/stories/")
            with self.subTest(command):
                wanted, got = self.settled(full, status) if command.startswith(READS) else self.both(full)
                self.assertEqual(wanted.splitlines()[0], status, wanted)
                self.assertEqual(got, wanted)

    def both(self, command):
        """What the real server and the sandbox answer."""
        with ThreadPoolExecutor() as pool:
            return map(normal, pool.map(Server.kubectl, (self.real, self.sandbox), (command, command)))

    def settled(self, command, status):
        """Servers take things up in their own time: what only reads is run until both agree, or for a minute."""
        end = time.monotonic() + 60
        while True:
            wanted, got = self.both(command)
            if wanted == got and wanted.startswith(status) or time.monotonic() > end:
                return wanted, got
            time.sleep(0.2)

    def test_create(self):
        self.story("create")

    def test_apply(self):
        self.story("apply")

    def test_change(self):
        self.story("change")

    def test_look(self):
        self.story("look")

    def test_custom(self):
        self.addCleanup(self.real.kubectl, "delete crd things.kubectl.fairlead.dev --wait=false --ignore-not-found")
        self.story("custom")

    def test_delete(self):
        self.story("delete")


class SandboxAlone(unittest.TestCase):
    """With a node, so that pods run."""

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox()
        cls.addClassCleanup(cls.sandbox.close)

    def expect(self, command, wanted):
        self.assertEqual(normal(self.sandbox.kubectl(command)), normal(wanted))

    def test_a_deployment_rolls_out(self):
        self.expect("create deployment web --image=nginx --replicas=2", "[0]\ndeployment.apps/web created")
        got = self.sandbox.kubectl("rollout status deployment web --timeout=60s")
        self.assertTrue(got.startswith("[0]\n"), got)
        self.assertEqual(got.splitlines()[-1], 'deployment "web" successfully rolled out')
        self.expect("wait --for=condition=Available deployment/web --timeout=60s",
                    "[0]\ndeployment.apps/web condition met")
        self.expect("get deployment web", "[0]\nNAME  READY  UP-TO-DATE  AVAILABLE  AGE\nweb  2/2  2  2  AGE")
        self.expect("get pods -o jsonpath={.items[*].status.phase}", "[0]\nRunning Running")
        self.expect("scale deployment web --replicas=0", "[0]\ndeployment.apps/web scaled")
        self.expect("wait --for=delete pod -l app=web --timeout=60s", self.two_pods_gone())
        self.expect("delete deployment web", '[0]\ndeployment.apps "web" deleted from default namespace')

    def two_pods_gone(self):
        return "[0]\n" + "\n".join(2 * ["pod/web-0000000000-zzzzz condition met"])

    def test_a_job_completes(self):
        self.expect("create job once --image=busybox -- true", "[0]\njob.batch/once created")
        self.expect("wait --for=condition=Complete job/once --timeout=60s", "[0]\njob.batch/once condition met")
        self.expect("get job once -o jsonpath={.status.succeeded}", "[0]\n1")

    def test_who_am_i(self):
        self.expect("auth whoami", "[0]\nATTRIBUTE  VALUE\nUsername  admin\nGroups  [system:masters system:authenticated]")
        self.expect("auth whoami --as=joe --as-group=crew",
                    "[0]\nATTRIBUTE  VALUE\nUsername  joe\nGroups  [crew system:authenticated]")
        self.expect("auth whoami --as=system:serviceaccount:a:b -o jsonpath={.status.userInfo.groups}",
                    '[0]\n["system:serviceaccounts","system:serviceaccounts:a","system:authenticated"]')

    def test_a_node_is_drained(self):
        self.sandbox = Sandbox()
        self.addCleanup(self.sandbox.close)
        self.expect("get nodes -o name", "[0]\nnode/sandbox-1")
        self.expect("taint node sandbox-1 a=b:PreferNoSchedule", "[0]\nnode/sandbox-1 tainted")
        self.expect("create deployment web --image=nginx", "[0]\ndeployment.apps/web created")
        self.expect("wait --for=condition=Available deployment/web --timeout=60s",
                    "[0]\ndeployment.apps/web condition met")
        self.expect("drain sandbox-1", "[0]\nnode/sandbox-1 cordoned\nevicting pod default/web-0000000000-zzzzz\n"
                                       "pod/web-0000000000-zzzzz evicted\nnode/sandbox-1 drained")
        self.expect("wait --for=condition=Available=False deployment/web --timeout=60s",
                    "[0]\ndeployment.apps/web condition met")
        self.expect("uncordon sandbox-1", "[0]\nnode/sandbox-1 uncordoned")
        self.expect("wait --for=condition=Available deployment/web --timeout=60s",
                    "[0]\ndeployment.apps/web condition met")

    def test_what_it_does_not_do_it_says(self):
        self.expect("run shell --image=busybox --annotations=sandbox.fairlead.dev/logs=hello", "[0]\npod/shell created")
        self.expect("wait --for=condition=Ready pod/shell --timeout=60s", "[0]\npod/shell condition met")
        self.expect("logs shell", "[0]\nhello")
        self.expect("logs shell --timestamps",
                    "[1]\nError from server (NotImplemented): the sandbox does not do this: timestamps of pods/log")

    def test_a_token_of_a_service_account(self):
        self.assertRegex(self.sandbox.kubectl("create token default"), r"^\[0\]\n[\w-]+\.[\w-]+\.[\w-]+\s*$")
        self.expect("create token nobody", '[1]\nerror: failed to create token: serviceaccounts "nobody" not found')


if __name__ == "__main__":
    unittest.main()
