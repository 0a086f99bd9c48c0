"""examples/kof with the real helm: on two sandboxes, and on a real cluster with a context for the mothership and one for the regional
cluster, where runs are also killed at every step and gone on with. Whether the custom resources were checked is judged by the webhook's own record.

helm is built from its Go module (about two minutes, once). A whole cluster is brought up, unless FAIRLEAD_RACE_CLUSTER names one.
"""
import json
import os
import pathlib
import re
import signal
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
SETTINGS = ["--set", "kof.mothership.context=mothership", "--set", "kof.regional.context=regional",
            "--set", "kof.mothership.install_retries=0", "--set", "kof.storage_class=fast"]
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
        self.env = {**os.environ, **peers.helm_homes(self.folder), "HOME": str(self.folder),
                    "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}

    def fairlead(self, *arguments):
        result = subprocess.run([FAIRLEAD, *arguments], capture_output=True, text=True, env=self.env, cwd=self.folder, timeout=180)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def install(self):
        """Installs everything, and says which events of the installer there were."""
        self.fairlead("run", "kof/kof.yaml", *SETTINGS)
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


# The moments at which a run is killed: the line that it has just printed. There is one at the start of every step, and one amid its work.
MOMENTS = [
    r"\[istio\] manifests istio/ started", r"\[istio\] Deployment \S+ created",
    r"\[operators\] chart charts/operators started", r"\[operators\] Deployment \S+ created",
    r"\[mothership\] chart charts/mothership started", r"\[mothership\] ValidatingWebhookConfiguration \S+ created",
    r"\[mothership\] VMCluster \S+ created", r"\[mothership\] wait webhook/\S+ started",
    r"\[regional\] chart charts/regional started", r"\[regional\] Deployment \S+ created", r"\[regional\] wait \S+ started"]


class OnACluster(Case):
    cluster: late_webhook.Cluster

    @classmethod
    def setUpClass(cls):
        name = os.environ.get("FAIRLEAD_RACE_CLUSTER", "")
        if not name:
            name = f"kof-{os.getpid()}"
            cls.addClassCleanup(cluster_tool, "down", "--name", name)
            cluster_tool("up", "--name", name, "--owner", str(os.getpid()))
        cls.cluster = late_webhook.Cluster(pathlib.Path(cluster_tool("bin")) / "kubectl", cluster_tool("kubeconfig", "--name", name))

    def setUp(self):
        super().setUp()
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "--flatten", "--minify", "-o", "json").stdout)
        context = config["contexts"][0]["context"]
        config["contexts"] = [{"name": which, "context": context} for which in ("mothership", "regional")]
        config["current-context"] = "mothership"
        (self.folder / "kubeconfig").write_text(json.dumps(config))
        self.env["KUBECONFIG"] = str(self.folder / "kubeconfig")
        self.addCleanup(self.remove)

    def remove(self):
        for bundle, namespace in BUNDLES.items():
            self.fairlead("delete", "--name", bundle, "-n", namespace, "--yes")

    def reviews(self):
        """What the webhook was asked about the objects of the mothership, apart from dry runs."""
        pods = self.cluster.get("pods", "-n", "kof", "-l", "app=kof-mothership-victoria-metrics-operator")["items"]
        path = f"/api/v1/namespaces/kof/pods/{pods[0]['metadata']['name']}:8080/proxy/record"
        record = json.loads(self.cluster.kubectl("get", "--raw", path).stdout)
        return [review for review in record["reviews"] if not review["dryRun"] and review["name"] == "kof-mothership"]

    def test_installs_with_a_webhook_that_is_late(self):
        self.check_installed()
        reasons = self.cluster.kubectl("get", "events", "-n", "kof", "--field-selector", "involvedObject.kind=Pipeline", "-o",
                                       "jsonpath={.items[*].reason}").stdout.split()
        self.assertIn("kof_webhook_ready", reasons)
        self.assertEqual(len(self.reviews()), 2)

    def identities(self):
        """The uid of everything that is installed, and the certificate, which the chart makes anew if it does not find one."""
        items = self.cluster.get("deployments,services,secrets,configmaps,serviceaccounts,validatingwebhookconfigurations", "-A", "-l",
                                 "applyset.kubernetes.io/part-of")["items"]
        return {(item["kind"], item["metadata"]["name"]): (item["metadata"]["uid"], item.get("data", {}).get("tls.crt")) for item in items}

    def run_until(self, moments):
        """Starts a run, and kills it as soon as it prints one of these. Which one, or None if the run came to its end."""
        process = subprocess.Popen([FAIRLEAD, "run", "kof/kof.yaml", *SETTINGS], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env=self.env, cwd=self.folder)
        output, moment = "", None
        for line in process.stdout:
            output += line
            if moment := next((one for one in moments if re.match(one, line)), None):
                process.kill()
                break
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL if moment else 0, output)
        return moment

    def test_a_run_that_is_killed_in_every_phase_goes_on(self):
        seen: dict = {}
        killed: list[str] = []
        # What one phase does while another is killed beside it is not printed again, so that a moment may not come.
        while moment := self.run_until([one for one in MOMENTS if one not in killed]):
            killed.append(moment)
            now = self.identities()
            self.assertEqual({key: now.get(key) for key in seen}, seen, f"after {moment}")
            seen = now
        self.assertEqual({moment.split("]")[0] for moment in killed}, {moment.split("]")[0] for moment in MOMENTS})
        self.assertGreaterEqual(len(killed), len(MOMENTS) - 2)
        self.check_installed_once()
        self.assertEqual(self.identities(), seen)

    def check_installed_once(self):
        events = self.install()
        for name in EVENTS:
            if not name.endswith("_started"):
                self.assertEqual(events.count(name), 1, events)
        document = json.loads(self.fairlead("run", "status", "kof/kof.yaml", "-o", "json", *SETTINGS))
        self.assertEqual({phase["status"] for phase in document["phases"]}, {"completed"})
        self.assertEqual(len(self.reviews()), 2, "each object was written once")


unittest.main()
