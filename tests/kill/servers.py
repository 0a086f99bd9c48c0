"""The servers that cases run on: a sandbox for each case, or one real control plane for all of them."""
import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import time

import yaml

from tests.scripts.server import Server

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

FAIRLEAD = os.environ.get("FAIRLEAD", str(ROOT / "build" / "fairlead"))
# Whoever ends the test without asking it ends what it has started as well.
DIES_WITH_US = ["setpriv", "--pdeathsig", "KILL", "--"]
CLUSTER = ROOT / "cluster" / "cluster"
PATHS = {
    "Namespace": "/api/v1/namespaces", "ConfigMap": "/api/v1/configmaps", "Secret": "/api/v1/secrets",
    "ServiceAccount": "/api/v1/serviceaccounts", "Service": "/api/v1/services", "Deployment": "/apis/apps/v1/deployments",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
}
SHADOW_LABEL = "fairlead.dev/shadow"


class Failed(Exception):
    """Something that must hold does not."""


class World:
    """What a case sees of its server: its own objects, by key."""

    def __init__(self, kubeconfig, place):
        self.server, self.place = Server(kubeconfig), place
        self.connection = self.server.connect()

    def path(self, value):
        kind, namespace = value["kind"], value["metadata"].get("namespace", "")
        path = f"/apis/{self.place.group}/v1/widgets" if kind == "Widget" else PATHS[kind]
        before, _, plural = path.rpartition("/")
        return f"{before}/namespaces/{namespace}/{plural}" if namespace else path

    def send(self, method, path, body=None):
        """The status and the answer. Over one connection, since a case asks some hundred times."""
        headers = {"Accept": "application/json", "Content-Type": "application/json", **self.server.headers}
        try:
            self.connection.request(method, path, body and json.dumps(body), headers)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):  # also "404 page not found", of an API that is gone
            self.connection.close()
            return self.server.json(method, path, body)

    def ask(self, method, path, body=None, allowed=()):
        status, answer = self.send(method, path, body)
        if status >= 300 and status not in allowed:
            raise Failed(f"the test's own {method} {path} was refused: {answer}")
        return None if status >= 300 else answer

    def create(self, value):
        """Tried again while the server asks for it, as when a new namespace or kind is not known everywhere yet."""
        deadline = time.monotonic() + 60
        while True:
            status, answer = self.send("POST", self.path(value), value)
            if status == 201:
                return answer
            if status == 409 or time.monotonic() > deadline:
                raise Failed(f"the test could not create {value['kind']} {value['metadata']['name']}: {answer}")
            time.sleep(0.05)

    def delete(self, value):
        """Tried again while the server still asks a webhook whose configuration has just been deleted."""
        path, deadline = f"{self.path(value)}/{value['metadata']['name']}", time.monotonic() + 30
        while self.send("DELETE", path)[0] == 500 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.ask("DELETE", path, allowed=(404, 409))

    def is_own(self, value):
        metadata = value["metadata"]
        return self.place.token in (metadata.get("namespace") or metadata["name"])

    def all(self):
        """(kind, namespace, name) -> object, of everything that has to do with this case."""
        found = {}
        for kind, path in {**PATHS, "Widget": f"/apis/{self.place.group}/v1/widgets"}.items():
            answer = self.ask("GET", path, allowed=(404,)) or {"items": []}
            for value in filter(self.is_own, answer["items"]):
                value |= {"kind": kind, "apiVersion": answer["apiVersion"]}  # A list says it once for all.
                found[kind, value["metadata"].get("namespace", ""), value["metadata"]["name"]] = value
        return found

    def shadows(self):
        """The names of what Fairlead has put into the cluster for a moment, to prove webhooks."""
        lists = [self.ask("GET", f"{PATHS[kind]}?labelSelector={SHADOW_LABEL}")["items"] for kind in PATHS
                 if kind.endswith("WebhookConfiguration")]
        return [value["metadata"]["name"] for items in lists for value in items]

    def judge_shadows(self):
        if shadows := self.shadows():
            raise Failed(f"shadows are left: {', '.join(shadows)}")


def with_namespace(kubeconfig, namespace, path):
    """A copy of a kubeconfig whose context has that namespace: it is the home of bundles."""
    config = yaml.safe_load(pathlib.Path(kubeconfig).read_text())
    for context in config["contexts"]:
        context["context"]["namespace"] = namespace
    path.touch(mode=0o600)
    path.write_text(json.dumps(config))
    return path


@contextlib.contextmanager
def sandbox(*flags):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kubeconfig"
        process = subprocess.Popen([*DIES_WITH_US, FAIRLEAD, "sandbox", "--kubeconfig-file", path, *flags], stdout=subprocess.PIPE)
        try:
            if not process.stdout.readline():
                raise Failed("the sandbox did not start")
            yield path
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


@contextlib.contextmanager
def control_plane():
    name = f"kill-{os.getpid()}"
    subprocess.run([CLUSTER, "up", "--control-plane", "--name", name, "--owner", str(os.getpid())], check=True)
    try:
        path = subprocess.run([CLUSTER, "kubeconfig", "--name", name], check=True, capture_output=True, text=True).stdout
        yield pathlib.Path(path.strip())
    finally:
        subprocess.run([CLUSTER, "down", "--name", name], check=True)
