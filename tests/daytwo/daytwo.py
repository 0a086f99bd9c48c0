"""What the day-two tests share: a namespace of their own on a real control plane, and ways to ask kubectl and Fairlead."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

from tests.manifests import named

FAIRLEAD = os.environ["FAIRLEAD"]
KUBECTL = str(pathlib.Path(os.environ.get("FAIRLEAD_CLUSTER_BIN", "")) / "kubectl")


def run(*argv, stdin="", timeout=120, **more):
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=timeout, **more)


SEPARATOR = "\n---\n"


def kubectl(*arguments, stdin="", check=True):
    if SEPARATOR in stdin:  # Old kubectls read no stream of JSON documents.
        stdin = json.dumps({"apiVersion": "v1", "kind": "List", "items": [json.loads(one) for one in stdin.split(SEPARATOR)]})
    return run(KUBECTL, *arguments, stdin=stdin, check=check).stdout


def documents(*objects):
    return SEPARATOR.join(json.dumps(one) for one in objects)


def config_map(name, namespace="", **data):
    return named("v1", "ConfigMap", name, namespace, data=data)


def own_address():
    """An address of this machine that an EndpointSlice may have: none of loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return probe.getsockname()[0]


class DayTwo(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.home = f"{self.id().rsplit('.')[-1].removeprefix('test_').replace('_', '-')[:40]}-{os.getpid()}"
        kubectl("create", "namespace", self.home)
        self.addCleanup(run, KUBECTL, "delete", "namespace", self.home, "--wait=false")
        # The home of the bundles is the context's namespace: with -n, manifests may not name another one.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        kubeconfig = shutil.copy(os.environ["KUBECONFIG"], self.folder)
        kubectl("--kubeconfig", kubeconfig, "config", "set-context", "--current", f"--namespace={self.home}")
        self.env = {**os.environ, "KUBECONFIG": kubeconfig}

    def apply(self, bundle, *objects, more=()):
        return run(FAIRLEAD, "apply", "--name", bundle, *more, "-f", "-", stdin=documents(*objects), env=self.env)

    def delete(self, *arguments, stdin=""):
        return run(FAIRLEAD, "delete", "--timeout", "60s", *arguments, stdin=stdin, env=self.env)

    def must(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def is_there(self, *what):
        return run(KUBECTL, "-n", self.home, "get", *what).returncode == 0
