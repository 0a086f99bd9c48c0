"""examples/mothership on a real cluster, with the real helm: helm loses the race of its own chart, Fairlead wins it, and helm wins it
under `fairlead retry`.

Whether the custom resources were checked is judged by the webhook's own record. helm is built from its Go module (about two minutes,
once). A whole cluster is brought up for it, unless FAIRLEAD_RACE_CLUSTER names one.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from peers import peers
from tests.rollout import late_webhook

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAIRLEAD = os.environ["FAIRLEAD"]
CHART = str(ROOT / "examples/mothership")
CLUSTER_TOOL = str(ROOT / "cluster/cluster")
FLEETS = ["north", "south", "west"]
cluster = None


def cluster_tool(*arguments):
    return subprocess.run([CLUSTER_TOOL, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def setUpModule():
    global cluster
    name = os.environ.get("FAIRLEAD_RACE_CLUSTER", "")
    if not name:
        name = f"chart-{os.getpid()}"
        unittest.addModuleCleanup(cluster_tool, "down", "--name", name)
        cluster_tool("up", "--name", name, "--owner", str(os.getpid()))
    cluster = late_webhook.Cluster(pathlib.Path(cluster_tool("bin")) / "kubectl", cluster_tool("kubeconfig", "--name", name))


class Mothership(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        helm = peers.binary("helm4")
        self.assertIsNotNone(helm, "helm cannot be built here")
        (pathlib.Path(folder.name) / "helm").symlink_to(helm)
        self.env = {**cluster.env, **peers.helm_homes(folder.name), "HOME": folder.name,
                    "PATH": f"{folder.name}:{os.environ['PATH']}"}
        self.namespace = f"{self.id().rsplit('_')[-1]}-{os.getpid()}"
        cluster.kubectl("create", "namespace", self.namespace)
        self.addCleanup(cluster.kubectl, "delete", "namespace", self.namespace, "--wait=false")

    def run_tool(self, *argv):
        return subprocess.run(argv, capture_output=True, text=True, env=self.env, timeout=180)

    def fairlead(self, command, *arguments):
        return self.run_tool(FAIRLEAD, command, "--chart", CHART, "--name", "mothership", "-n", self.namespace, "-o", "json",
                             "--timeout", "2m", *arguments)

    def succeeds(self, result):
        """What became of the objects, by kind and name."""
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return {f"{one['kind']} {one['name']}": one["outcome"] for one in json.loads(result.stdout)["objects"]}

    def uid(self, kind, name):
        return cluster.get(kind, name, "-n", self.namespace)["metadata"]["uid"]

    def reviewed(self):
        """Names of the Fleets that the webhook was asked about."""
        pods = cluster.get("pods", "-n", self.namespace, "-l", "app=mothership-operator")["items"]
        paths = [f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}:8080/proxy/record" for pod in pods]
        records = [json.loads(cluster.kubectl("get", "--raw", path).stdout) for path in paths]
        return {review["name"] for record in records for review in record["reviews"] or [] if not review["dryRun"]}

    def test_fairlead_wins(self):
        first = self.succeeds(self.fairlead("apply"))
        self.assertEqual({name: outcome for name, outcome in first.items() if outcome == "left out"},
                         {"Job mothership-farewell": "left out", "Pod mothership-test": "left out"})
        self.assertEqual({outcome for outcome in first.values()}, {"created", "left out"})
        self.assertEqual(self.reviewed(), set(FLEETS))
        greeting, secret = self.uid("job", "mothership-greeting"), cluster.get("secret", "mothership-webhook", "-n", self.namespace)

        with self.subTest("an upgrade finds the certificate in the cluster, and changes nothing but the hook, which runs again"):
            second = self.succeeds(self.fairlead("apply"))
            self.assertEqual({name for name, outcome in second.items() if outcome not in ("unchanged", "left out")},
                             {"Job mothership-greeting"})
            self.assertNotEqual(self.uid("job", "mothership-greeting"), greeting)
            self.assertEqual(cluster.get("secret", "mothership-webhook", "-n", self.namespace)["data"], secret["data"])

        with self.subTest("a hook that changed and fails is named"):
            failed = self.fairlead("apply", "--", "--set", "healthPort=1")
            self.assertEqual(failed.returncode, 1, failed.stdout + failed.stderr)
            self.assertIn(f"Job {self.namespace}/mothership-greeting", failed.stdout + failed.stderr)

        with self.subTest("the hook for deletion runs while the operator is there, and then everything is deleted"):
            gone = self.succeeds(self.fairlead("delete"))
            self.assertEqual(set(gone.values()), {"gone"})
            left = cluster.get("jobs,deployments,services,secrets", "-n", self.namespace)["items"]
            self.assertEqual([one["metadata"]["name"] for one in left], [])
            self.assertNotIn("fleets.mothership.example.com", [one["metadata"]["name"] for one in cluster.get("crd")["items"]])

    def test_fairlead_wins_on_the_sandbox(self):
        result = self.run_tool(FAIRLEAD, "sandbox", "--", FAIRLEAD, "apply", "--chart", CHART, "--name", "mothership", "-o", "json")
        self.assertEqual({name for name in self.succeeds(result) if name.startswith("Fleet ")}, {f"Fleet {name}" for name in FLEETS})

    def test_helm_loses(self):
        result = self.run_tool("helm", "install", "mothership", CHART, "-n", self.namespace)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn("failed calling webhook", result.stderr)

    def test_helm_wins_with_retry(self):
        journal = pathlib.Path(self.env["HOME"]) / "journal"
        result = self.run_tool(FAIRLEAD, "retry", "--delay", "2m", "--journal", str(journal), "--",
                               "helm", "upgrade", "--install", "mothership", CHART, "-n", self.namespace)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("failed calling webhook", result.stderr)
        self.assertIn("running helm again (retry 1 of 3)", result.stderr)
        self.assertEqual(self.reviewed(), set(FLEETS))
        events = [json.loads(line) for line in journal.read_text().splitlines()]
        self.assertEqual([one["exitCode"] for one in events[-1]["details"]["attempts"]], [1, 0])
        proved = next(one["seconds"] for one in events if one["event"] == "ready")
        runs = [one["seconds"] for one in events if one.get("state") == "running"]
        print(f"helm was run again {runs[1] - proved:.3f} s after the webhook was proved to work")

    def test_retry_does_not_run_into_a_failed_installation(self):
        result = self.run_tool(FAIRLEAD, "retry", "--", "helm", "install", "mothership", CHART, "-n", self.namespace)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(f"  because   Helm release {self.namespace}/mothership is left failed, so its name is in use\n", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
