"""Programs of the real pulumi, on a sandbox or on a real cluster.

./dev pulumi makes what they need, and sets
  PATH                         with pulumi and the provider in it
  FAIRLEAD_SDK                 the SDK for Node.js
  FAIRLEAD_PULUMI_PYTHON       a Python that has pulumi and the SDK
  FAIRLEAD_PULUMI_KUBERNETES   the provider of Kubernetes: the real one, or the one that stands in for it
  FAIRLEAD_CLUSTER…            what `./dev cluster env` prints, for the tests on a real cluster
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from tests.cli.on_sandbox import OnSandbox
from tests.kube_api import Connection

HERE = pathlib.Path(__file__).parent
IN_NODE = ["node", str(HERE / "driver.js")]
IN_PYTHON = [os.environ["FAIRLEAD_PULUMI_PYTHON"], str(HERE / "driver.py")]


class Api:
    """A connection per request: a server ends those that are idle while pulumi takes its time."""

    def __init__(self, config):
        self.config = config

    def request(self, *arguments):
        one = Connection(self.config)
        try:
            return one.request(*arguments)
        finally:
            one.connection.close()


class Programs(unittest.TestCase):
    """Each test has a folder and a state of its own. `driver` is the command that runs a program."""
    driver: list[str] = []
    folder: pathlib.Path
    env: dict[str, str]

    def prepare(self):
        """The folder has a kubeconfig."""
        (self.folder / "state").mkdir()
        (self.folder / "program").mkdir()
        (self.folder / "plugins").mkdir()
        (self.folder / "plugins" / "pulumi-resource-kubernetes").symlink_to(os.environ["FAIRLEAD_PULUMI_KUBERNETES"])
        self.env.update(PULUMI_BACKEND_URL=f"file://{self.folder}/state", PULUMI_CONFIG_PASSPHRASE="x", PULUMI_SKIP_UPDATE_CHECK="true",
                        PULUMI_HOME=str(self.folder / "home"), PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true",
                        PATH=f"{self.folder}/plugins:{os.environ['PATH']}")
        self.api = Api(json.loads((self.folder / "kubeconfig").read_text()))

    def request(self, verb, resources, **more):
        return json.dumps({"verb": verb, "folder": str(self.folder / "program"), "resources": resources, **more})

    def pulumi(self, verb, *resources, ok=True, **more):
        result = subprocess.run(self.driver, input=self.request(verb, resources, **more), capture_output=True, text=True, timeout=300,
                                env=self.env, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return self.told(result.stdout, ok)

    def told(self, output, ok):
        told = json.loads(output)
        self.assertEqual(told["ok"], ok, told["text"] + told.get("error", ""))
        return told

    def when_it_says(self, said, act, verb, *resources, ok=True, **more):
        """What is told of a command, during which `act` is called with its process once it says this."""
        with subprocess.Popen(self.driver, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=self.env, cwd=self.folder) as driver:
            self.addCleanup(driver.kill)
            driver.stdin.write(self.request(verb, resources, live=True, **more))
            driver.stdin.close()
            driver.stdin = None
            lines = []
            for line in driver.stderr:
                lines.append(line)
                if said in line:
                    act(driver)
                    break
            else:
                self.fail(f"it did not say {said!r}: {''.join(lines)}")
            out, _ = driver.communicate(timeout=300)
        return self.told(out, ok)

    def assert_changes(self, told, **changes):
        self.assertEqual({name: count for name, count in told["changes"].items() if name != "same"}, changes, told["text"])

    def get(self, path):
        return self.api.request("GET", path)


class OnPulumi(OnSandbox, Programs):
    def setUp(self):
        super().setUp()
        self.prepare()


@unittest.skipUnless(os.environ.get("FAIRLEAD_CLUSTER_SIZE") == "whole", "there is no real cluster: ./dev pulumi --cluster")
class OnCluster(Programs):
    """A cluster of the tests' own: what is in its namespace default belongs to the test."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "kubeconfig").write_text(self.kubectl("config", "view", "--raw", "--output=json"))
        self.env = {**os.environ, "KUBECONFIG": str(self.folder / "kubeconfig")}
        self.prepare()
        self.addCleanup(self.kubectl, "delete", "configmaps", "--namespace=default", "--field-selector=metadata.name!=kube-root-ca.crt")

    def kubectl(self, *arguments):
        program = pathlib.Path(os.environ["FAIRLEAD_CLUSTER_BIN"]) / "kubectl"
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
