"""Records what this version writes, so that later versions are tested to read it: tests/fixtures/released/VERSION.

    FAIRLEAD=build/fairlead python3 -B -m tests.record_released

Run it once for each release that changes the inventory, the history, the journal or the state of a pipeline, and never again for a version
that was released. tests/ship/released_test.py reads all of them.
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess

from tests.cli.on_sandbox import FAIRLEAD, begin
from tests.scripts.server import Server

FOLDER = pathlib.Path(__file__).resolve().parent / "fixtures/released"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours"}, "data": {"sky": "blue"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "stringData": {"key": "no secret at all"}}
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}, "data": {"sea": "green"}}
PIPELINE = """\
name: harbour
phases:
- {name: quay, steps: [{command: ["true"]}]}
- {name: ships, needs: [quay], steps: [{command: ["false"]}]}
"""
# What the server makes anew for every object.
OF_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation")


def bundle(*objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def stored(server):
    """Everything that a bundle has in the cluster, as somebody could put it there again."""
    objects = []
    for kind, plural in (("ConfigMap", "configmaps"), ("Secret", "secrets")):
        _, listed = server.json("GET", f"/api/v1/namespaces/default/{plural}")
        for one in listed["items"]:
            if one["metadata"]["name"] == "kube-root-ca.crt":
                continue
            for field in OF_THE_SERVER:
                one["metadata"].pop(field, None)
            objects.append({"apiVersion": "v1", "kind": kind} | one)
    return objects


def record(folder, enter):
    work, env = begin(enter)
    env |= {"USER": "ann"}

    def fairlead(*arguments, stdin="", code=0):
        subprocess.run([FAIRLEAD, *arguments], input=stdin, cwd=work, env=env, text=True, capture_output=True, check=code == 0)

    fairlead("apply", "-f", "-", "--name", "shop", "--journal", "apply.jsonl", stdin=bundle(CONFIG_MAP, SECRET))
    fairlead("apply", "-f", "-", "--name", "shop", stdin=bundle(CONFIG_MAP | {"data": {"sky": "grey"}}, SECRET, OTHER))
    (folder / "bundle.json").write_text(json.dumps(stored(Server(env["KUBECONFIG"])), indent=1, sort_keys=True) + "\n")
    fairlead("delete", "--name", "shop", "--yes", "--journal", "delete.jsonl")
    (work / "harbour.yaml").write_text(PIPELINE)
    fairlead("run", "harbour.yaml", "--journal", "run.jsonl", code=1)
    for name in ("apply.jsonl", "delete.jsonl", "run.jsonl", "harbour.yaml", "harbour.yaml.state"):
        (folder / name).write_text((work / name).read_text())
    # The name of the machine is nobody's business.
    for path in folder.iterdir():
        path.write_text(re.sub(re.escape(os.uname().nodename) + r"\b", "quay", path.read_text()))


def main():
    told = json.loads(subprocess.run([FAIRLEAD, "version", "-o", "json"], check=True, capture_output=True, text=True).stdout)
    folder = FOLDER / told["version"]
    folder.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        record(folder, stack.enter_context)
    print(f"{folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


if __name__ == "__main__":
    main()
