"""Requests to an API server, as admin: for the scripts that record what a real one answers, and for tests."""
import base64
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLUSTER = ROOT / "cluster" / "cluster"


class Connection:
    """One connection to the only cluster of a kubeconfig, given as data, as its only user."""

    def __init__(self, config):
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(base64.b64decode(user["client-certificate-data"]) + b"\n" + base64.b64decode(user["client-key-data"]))
        try:
            context.load_cert_chain(file.name)
        finally:
            os.unlink(file.name)
        self.connection = http.client.HTTPSConnection(urllib.parse.urlparse(cluster["server"]).netloc, context=context)

    def request(self, method, path, body=None, content_type="application/json", accept="application/json", agent="recorder"):
        """The status code and the answer, read as JSON."""
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        headers = {"Accept": accept, "Content-Type": content_type, "User-Agent": agent}
        self.connection.request(method, path, data, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode()

    def get(self, path, **options):
        status, answer = self.request("GET", path, **options)
        if status != 200:
            raise SystemExit(f"GET {path}: {status}: {answer}")
        return answer


class Api(Connection):
    """The cluster is the one that `cluster/cluster --name` knows, started if need be."""

    def __init__(self, name):
        subprocess.run([CLUSTER, "up", "--control-plane", "--name", name], check=True, stdout=subprocess.DEVNULL)
        kubectl = [CLUSTER, "kubectl", "--name", name, "config", "view", "--raw", "--flatten", "--minify", "-o", "json"]
        super().__init__(json.loads(subprocess.run(kubectl, check=True, capture_output=True, text=True).stdout))
