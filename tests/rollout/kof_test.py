"""examples/kof with the real helm: on two sandboxes, and on a real cluster with a context for the mothership and one for the regional
cluster. Whether the custom resources were checked is judged by the webhook's own record.

helm is built from its Go module (about two minutes, once). A whole cluster is brought up, unless FAIRLEAD_RACE_CLUSTER names one.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from peers import peers
from tests.cli.on_sandbox import FAIRLEAD, sandbox
from tests.rollout import late_webhook

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER_TOOL = str(ROOT / "cluster/cluster")
EVENTS = ["kof_istio_installed", "kof_operators_installed", "kof_mothership_deployment_started", "kof_mothership_installed",
          "kof_webhook_ready", "kof_mothership_deployment_completed", "kof_regional_deployment_started", "kof_regional_deployment_completed"]
BUNDLES = {"kof-regional": "kof-regional", "kof-mothership": "kof", "kof-operators": "kof", "kof-istio": "istio-system"}


def cluster_tool(*arguments):
    return subprocess.run([CLUSTER_TOOL, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        helm = peers.binary("helm4")
        self.assertIsNotNone(helm, "helm cannot be built here")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/helm").symlink_to(helm)
        shutil.copytree(ROOT / "examples/kof", self.folder / "kof")
        homes = {f"HELM_{what}_HOME": f"{self.folder}/{what}" for what in ("CACHE", "CONFIG", "DATA")}
        self.env = {**os.environ, **homes, "HOME": str(self.folder), "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}

    def fairlead(self, *arguments):
        result = subprocess.run([FAIRLEAD, *arguments], capture_output=True, text=True, env=self.env, cwd=self.folder, timeout=180)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def install(self):
        """Installs everything, and says which events of the installer there were."""
        self.fairlead("run", "kof/kof.yaml", "--set", "kof.mothership.context=mothership", "--set", "kof.regional.context=regional",
                      "--set", "kof.mothership.install_retries=0", "--set", "kof.storage_class=fast")
        lines = (self.folder / "kof/kof.yaml.events").read_text().splitlines()
        return [event["action"] for event in map(json.loads, lines) if event["action"].startswith("kof_")]

    def check_installed(self):
        events = self.install()
        # istio and the operators run side by side.
        self.assertEqual([sorted(events[:2]), events[2:]], [EVENTS[:2], EVENTS[2:]])
        self.fairlead("wait", "vmcluster/kof-mothership", "vmalert/kof-mothership", "--context", "mothership", "-n", "kof", "--for", "create",
                      "--timeout", "0")
        self.fairlead("wait", "vmcluster/kof-mothership", "--context", "mothership", "-n", "kof", "--for",
                      "jsonpath={.spec.storageClass}=fast", "--timeout", "0")
        self.fairlead("wait", "deployment/kof-regional-collector", "--context", "regional", "-n", "kof-regional", "--timeout", "0")


class OnSandboxes(Case):
    def test_installs_in_two_clusters(self):
        files = []
        for name in ("mothership", "regional"):
            file = self.folder / f"{name}.kubeconfig"
            self.enterContext(sandbox(file))
            file.write_text(file.read_text().replace('"sandbox"', f'"{name}"'))
            files.append(str(file))
        self.env["KUBECONFIG"] = ":".join(files)
        self.check_installed()


class OnACluster(Case):
    def test_installs_with_a_webhook_that_is_late(self):
        name = os.environ.get("FAIRLEAD_RACE_CLUSTER", "")
        if not name:
            name = f"kof-{os.getpid()}"
            self.addCleanup(cluster_tool, "down", "--name", name)
            cluster_tool("up", "--name", name, "--owner", str(os.getpid()))
        cluster = late_webhook.Cluster(pathlib.Path(cluster_tool("bin")) / "kubectl", cluster_tool("kubeconfig", "--name", name))
        config = json.loads(cluster.kubectl("config", "view", "--raw", "--flatten", "--minify", "-o", "json").stdout)
        context = config["contexts"][0]["context"]
        config["contexts"] = [{"name": which, "context": context} for which in ("mothership", "regional")]
        config["current-context"] = "mothership"
        (self.folder / "kubeconfig").write_text(json.dumps(config))
        self.env["KUBECONFIG"] = str(self.folder / "kubeconfig")
        self.addCleanup(self.remove)
        self.check_installed()
        reasons = cluster.kubectl("get", "events", "-n", "kof", "--field-selector", "involvedObject.kind=Pipeline", "-o",
                                  "jsonpath={.items[*].reason}").stdout.split()
        self.assertIn("kof_webhook_ready", reasons)
        pods = json.loads(cluster.kubectl("get", "pods", "-n", "kof", "-l", "app=kof-mothership-victoria-metrics-operator", "-o", "json").stdout)
        path = f"/api/v1/namespaces/kof/pods/{pods['items'][0]['metadata']['name']}:8080/proxy/record"
        reviews = json.loads(cluster.kubectl("get", "--raw", path).stdout)["reviews"]
        self.assertEqual(len([review for review in reviews if not review["dryRun"] and review["name"] == "kof-mothership"]), 2)

    def remove(self):
        for bundle, namespace in BUNDLES.items():
            self.fairlead("delete", "--name", bundle, "-n", namespace, "--yes")


unittest.main()
