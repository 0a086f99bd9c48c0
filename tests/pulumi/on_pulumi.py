"""Programs of the real pulumi, on a sandbox.

./dev pulumi makes what they need, and sets
  PATH                     with pulumi and the provider in it
  FAIRLEAD_SDK             the SDK for Node.js
  FAIRLEAD_PULUMI_PYTHON   a Python that has pulumi and the SDK
"""
import json
import pathlib
import subprocess

from tests.cli.on_sandbox import OnSandbox
from tests.kube_api import Connection

HERE = pathlib.Path(__file__).parent


class OnPulumi(OnSandbox):
    """Each test has a folder, a sandbox and a state of its own. `driver` is the command that runs a program."""
    driver: list[str] = []

    def setUp(self):
        super().setUp()
        (self.folder / "state").mkdir()
        (self.folder / "program").mkdir()
        self.env.update(PULUMI_BACKEND_URL=f"file://{self.folder}/state", PULUMI_CONFIG_PASSPHRASE="x", PULUMI_SKIP_UPDATE_CHECK="true",
                        PULUMI_HOME=str(self.folder / "home"), PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true")
        self.api = Connection(json.loads((self.folder / "kubeconfig").read_text()))
        self.addCleanup(self.api.connection.close)

    def request(self, verb, resources, **more):
        return json.dumps({"verb": verb, "folder": str(self.folder / "program"), "resources": resources, **more})

    def pulumi(self, verb, *resources, ok=True, **more):
        result = subprocess.run(self.driver, input=self.request(verb, resources, **more), capture_output=True, text=True, timeout=300,
                                env=self.env, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual(told["ok"], ok, told["text"] + told.get("error", ""))
        return told

    def assert_changes(self, told, **changes):
        self.assertEqual({name: count for name, count in told["changes"].items() if name != "same"}, changes, told["text"])

    def get(self, path):
        return self.api.request("GET", path)
