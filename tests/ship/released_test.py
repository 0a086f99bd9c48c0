"""What earlier versions wrote is read: inventories with their history, journals, and the states of pipelines. Each folder in
tests/fixtures/released is what one version has left (tests/record_released.py)."""
import json
import pathlib
import re
import unittest
import urllib.parse

from tests.cli.on_sandbox import OnSandbox
from tests.scripts.server import Server

RELEASED = sorted((pathlib.Path(__file__).resolve().parents[1] / "fixtures/released").iterdir())

ID = "applyset.kubernetes.io/id"
PART_OF = "applyset.kubernetes.io/part-of"


class Released(OnSandbox):
    def setUp(self):
        super().setUp()
        self.server = Server(self.env["KUBECONFIG"])

    def put(self, version):
        """The cluster as that version left it. The server makes new uids and times."""
        uid = ""
        # The inventory first: the server deletes what is owned by something that does not exist.
        for one in sorted(json.loads((version / "bundle.json").read_text()), key=lambda one: ID not in one["metadata"].get("labels", {})):
            for owner in one["metadata"].get("ownerReferences", []):
                owner["uid"] = uid
            manager = urllib.parse.quote(one["metadata"].pop("managedFields")[0]["manager"], safe="")
            path = f"/api/v1/namespaces/default/{one['kind'].lower()}s"
            # A member belongs to the bundle because it was applied by it, and not by its label alone.
            if PART_OF in one["metadata"].get("labels", {}):
                status, answer = self.server.json("PATCH", f"{path}/{one['metadata']['name']}?fieldManager={manager}", one,
                                                  {"Content-Type": "application/apply-patch+yaml"})
            else:
                status, answer = self.server.json("POST", f"{path}?fieldManager={manager}", one)
            self.assertEqual(status, 201, answer)
            uid = uid or answer["metadata"]["uid"]

    def names(self):
        return sorted(one["metadata"]["name"] for kind in ("configmaps", "secrets")
                      for one in self.server.json("GET", f"/api/v1/namespaces/default/{kind}")[1]["items"]
                      if one["metadata"]["name"] != "kube-root-ca.crt")

    def test_there_are_some(self):
        self.assertTrue(RELEASED)

    def test_inventories(self):
        for version in RELEASED:
            with self.subTest(version=version.name):
                self.put(version)
                self.assertRegex(self.fairlead("list").stdout, r"(?m)^.*\bshop\b")
                status = json.loads(self.fairlead("status", "shop", "-o", "json").stdout)
                self.assertEqual(sorted(one["name"] for one in status["objects"]), ["colours", "key", "other"])
                history = self.fairlead("history", "shop").stdout
                self.assertEqual(re.findall(r"^(\d) .* done +(\d)", history, re.M), [("2", "3"), ("1", "2")])
                self.assertIn("grey", self.fairlead("history", "shop", "--diff", "2").stdout)
                self.fairlead("rollback", "shop", "1")
                self.assertNotIn("other", self.names())
                kept = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours"}})
                self.assertIn("1 pruned", self.fairlead("apply", "-f", "-", "--name", "shop", "--prune", stdin=kept).stdout)
                self.fairlead("delete", "--name", "shop", "--yes")
                self.assertEqual(self.names(), [])

    def test_journals(self):
        for version in RELEASED:
            for name in ("apply", "delete"):
                with self.subTest(version=version.name, name=name):
                    self.fairlead("timeline", str(version / f"{name}.jsonl"), "-o", f"{name}.html")
                    self.assertIn("colours", (self.folder / f"{name}.html").read_text())

    def test_states_of_pipelines(self):
        for version in RELEASED:
            with self.subTest(version=version.name):
                for name in ("harbour.yaml", "harbour.yaml.state"):
                    (self.folder / name).write_text((version / name).read_text())
                status = json.loads(self.fairlead("run", "status", "harbour.yaml", "-o", "json", code=1).stdout)
                phases = status["phases"] if "phases" in status else status["summary"]["phases"]
                self.assertEqual([one["status"] for one in phases], ["completed", "failed"])


del OnSandbox
unittest.main()
