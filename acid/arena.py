"""The fresh cluster of one run. The tool under test gets credentials of its own, so that its requests can be told apart."""
import base64
import contextlib
import functools
import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import urllib.parse

from acid import audit
from acid.story import ROOT
from cluster import settings
from peers import peers
from tests.rollout import late_webhook

CLUSTER = ROOT / "cluster/cluster"
CACHE = settings.CACHE / "acid"


def cluster_tool(*arguments):
    done = subprocess.run([CLUSTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise settings.Failure(f"cluster {arguments[0]} failed", done.stderr[-1000:])
    return done.stdout.strip()


@functools.cache
def kubectl():
    return pathlib.Path(cluster_tool("bin")) / "kubectl"


class Arena(late_webhook.Cluster):
    """`folder` is for the files of the run, and gone with it; get() and kubectl() are the admin's."""

    def __init__(self, name, folder):
        super().__init__(kubectl(), cluster_tool("kubeconfig", "--name", name))
        self.name, self.folder = name, folder
        self.tool_kubeconfig = cluster_tool("kubeconfig", "--token", "--name", name)
        self.log = audit.AuditLog(folder / "audit.log")
        self.connection = None

    def tool_env(self):
        # A home of its own: no cache of an earlier run tells the tool what this cluster has.
        return {**os.environ, **peers.helm_homes(self.folder / "helm"), "HOME": str(self.folder), "KUBECONFIG": self.tool_kubeconfig}

    def connect(self):
        config = json.loads(self.kubectl("config", "view", "--raw", "--flatten", "-o", "json").stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(b"\n".join(base64.b64decode(user[f"client-{what}-data"]) for what in ("certificate", "key")))
            pair.flush()
            context.load_cert_chain(pair.name)
        return http.client.HTTPSConnection(urllib.parse.urlparse(cluster["server"]).netloc, context=context, timeout=30)

    def ask(self, path):
        """The status code and the answer, over one connection that is kept: asking costs next to nothing."""
        try:
            self.connection = self.connection or self.connect()
            self.connection.request("GET", path, headers={"Accept": "application/json"})
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.connection = None
            return 0, {}
        if answer.getheader("Content-Type", "").startswith("application/json"):
            return answer.status, json.loads(text)
        return answer.status, text

    def items(self, path):
        """Of a list; none while there is no such list."""
        code, answer = self.ask(path)
        return answer.get("items") or [] if code == 200 else []

    def metrics(self):
        return self.ask("/metrics")[1]


@contextlib.contextmanager
def fresh(images, counted):
    """A whole cluster with an audit log; gone afterwards, whatever happens."""
    name = f"acid-{os.getpid()}"
    folder = CACHE / "runs" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "policy.json").write_text(json.dumps(audit.policy(counted)))
    try:
        cluster_tool("up", "--fresh", "--name", name, "--owner", str(os.getpid()), f"--apiserver-flag=--audit-policy-file={folder}/policy.json",
                     f"--apiserver-flag=--audit-log-path={folder}/audit.log")
        for archive in images:
            cluster_tool("load-image", "--name", name, str(archive))
        yield Arena(name, folder)
    finally:
        cluster_tool("down", "--name", name)
        shutil.rmtree(folder, ignore_errors=True)
