"""fairlead retry: how soon the command runs again once the webhook that it failed for works.

In each round, on the sandbox, a real HTTPS server begins to listen at another moment, up to a few seconds after the command has failed.

./dev bench retry [--json] [--rounds N]
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

from bench._clusters import heed_signals
from bench._figures import Arm, Figures, running

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAIRLEAD = ROOT / "build/fairlead"
os.environ["FAIRLEAD"] = str(FAIRLEAD)

from tests.cli.on_sandbox import sandbox  # noqa: E402
from tests.scripts.server import Server  # noqa: E402
from tests.scripts.webhooks import Webhooks, certificate_of_this_run  # noqa: E402

GUARDS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
# Notes when it begins, and stores an object that the webhook guards.
INSTALLER = """
import os, sys, time
with open("runs", "a") as runs:
    print(time.time(), file=runs)
from tests.scripts.server import Server
config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "guarded-"}}
status, answer = Server(os.environ["KUBECONFIG"]).json("POST", "/api/v1/namespaces/default/configmaps", config)
if status != 201:
    sys.exit(answer["message"])
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def configuration(port, ca):
    hook = {"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": f"https://127.0.0.1:{port}/guard", "caBundle": ca},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "guards"},
            "webhooks": [hook]}


def measure(folder, kubeconfig, late, proved):
    """Seconds from the moment at which the webhook listens to the second run of the command."""
    port, server = free_port(), Server(str(kubeconfig))
    status, answer = server.json("POST", GUARDS, configuration(port, certificate_of_this_run()[1]))
    if status != 201:
        sys.exit(f"bench: {answer['message']}")
    (folder / "runs").unlink(missing_ok=True)
    (folder / "journal").unlink(missing_ok=True)
    command = [FAIRLEAD, "retry", "--delay", "1m", "--journal", folder / "journal", "--", sys.executable, folder / "installer.py"]
    env = {"KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(ROOT)}
    os.chdir(folder)
    with running(command, env, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            if line.startswith("fairlead: waiting"):
                break
        time.sleep(late)
        hooks = Webhooks(("127.0.0.1", port))
        hooks.set("guard", {})
        works = time.time()
        rest = process.stderr.read()
        process.stderr.close()
        if process.wait() != 0:
            sys.exit(f"bench: fairlead retry ended with {process.returncode}:\n{rest}")
        hooks.close()
    server.json("DELETE", f"{GUARDS}/guards")
    events = [json.loads(line) for line in (folder / "journal").read_text().splitlines()]
    ready = [one["seconds"] for one in events if one["event"] == "ready"]
    runs = [one["seconds"] for one in events if one.get("state") == "running"]
    proved.append(runs[1] - ready[0])
    return float((folder / "runs").read_text().splitlines()[1]) - works


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    heed_signals()
    proved: list[float] = []
    waited: list[float] = []
    with tempfile.TemporaryDirectory() as name, sandbox(pathlib.Path(name, "kubeconfig"), "--nodes", "0"):
        folder = pathlib.Path(name)
        (folder / "installer.py").write_text(INSTALLER)
        for number in range(options.rounds):
            # The pauses between the tries become longer, and then stay the same.
            late = 0.4 * number
            waited.append(measure(folder, folder / "kubeconfig", late, proved))
            print(f"  round {number + 1}/{options.rounds}  listens after {late:.1f} s: runs again {waited[-1]:.3f} s later, "
                  f"{proved[-1]:.3f} s after the proof", file=sys.stderr)
        os.chdir(ROOT)
    figures = Figures()
    for what, values in (("from the webhook listening to the next run", waited), ("from the proof to the next run", proved)):
        longest = Arm(what, None)
        longest.values = [max(values)]
        figures.value_at_most(f"{what}, longest of {len(values)}, s", longest, 1)
    return 0 if figures.print(options.json) else 1


if __name__ == "__main__":
    sys.exit(main())
