"""Bundles as projects publish them, on a real control plane: nulls, hooks of Helm, kinds that a controller defines."""
import json
import subprocess
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, documents, kubectl, run


def definition(group, kind, schema=None):
    plural = kind.lower() + "s"
    schema = schema or {"x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Cluster",
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": {"type": "object", **schema}}}]}}


def job(image, **annotations):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hook", "annotations": annotations},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image}]}}}}


class Graph(DayTwo):
    def setUp(self):
        super().setUp()
        self.group = f"{self.home}.example.com"
        self.addCleanup(self.delete_definitions)

    def delete_definitions(self):
        for name in kubectl("get", "crd", "-o", "name").split():
            if name.endswith(self.group):
                run(KUBECTL, "delete", name, "--wait=false")

    def apply(self, *objects, more=()):
        result = run(FAIRLEAD, "apply", "--name", "b", *more, "-f", "-",
                     stdin=documents(*objects), env=self.env)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def get(self, *what):
        return json.loads(kubectl("-n", self.home, "get", *what, "-o", "json"))

    def test_nulls_are_fields_that_are_not_there(self):
        schema = {"properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer"}, "placement": {"type": "object"}, "maybe": {"type": "string", "nullable": True},
            "standard": {"type": "string", "default": "x"}}}}}
        store = {"apiVersion": f"{self.group}/v1", "kind": "Store", "metadata": {"name": "s", "labels": None},
                 "spec": {"size": None, "placement": None, "maybe": None, "standard": None}}
        deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "annotations": None},
                      "spec": {"replicas": None, "selector": {"matchLabels": {"app": "d"}}, "strategy": None,
                               "template": {"metadata": {"labels": {"app": "d"}, "creationTimestamp": None},
                                            "spec": {"nodeSelector": None, "containers": [
                                                {"name": "c", "image": "c:1", "resources": None, "env": None}]}}}}
        bundle = (definition(self.group, "Store", schema), store, deployment)
        self.apply(*bundle, more=["--no-wait"])
        self.assertEqual(self.get(f"stores.{self.group}", "s")["spec"], {"maybe": None, "standard": "x"})
        # Nobody owns what is not set.
        owned = json.loads(kubectl("-n", self.home, "get", "deployment", "d", "-o", "json", "--show-managed-fields"))
        ours = [e for e in owned["metadata"]["managedFields"] if e["operation"] == "Apply"][0]["fieldsV1"]
        self.assertEqual(sorted(ours["f:spec"]), ["f:selector", "f:template"])
        for _ in range(2):
            self.assertIn("3 unchanged", self.apply(*bundle, more=["--no-wait"]))

    def test_a_hook_is_made_anew(self):
        before = job("c:1", **{"helm.sh/hook": "post-install,post-upgrade"})
        self.apply(before, more=["--no-wait"])
        first = self.get("job", "hook")["metadata"]["uid"]
        self.apply(job("c:2", **{"helm.sh/hook": "post-install,post-upgrade"}), more=["--no-wait"])
        second = self.get("job", "hook")
        self.assertNotEqual(second["metadata"]["uid"], first)
        self.assertEqual(second["spec"]["template"]["spec"]["containers"][0]["image"], "c:2")

    def test_installations_and_upgrades_have_hooks_of_their_own(self):
        main = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "main"}}
        bundle = (job("c:1", **{"helm.sh/hook": "post-upgrade"}), main)
        self.assertIn("Job " + self.home + "/hook is skipped", self.apply(*bundle, more=["--no-wait"]))
        self.assertEqual(kubectl("-n", self.home, "get", "jobs", "-o", "name"), "")
        self.apply(*bundle, more=["--no-wait"])
        self.assertEqual(kubectl("-n", self.home, "get", "jobs", "-o", "name"), "job.batch/hook\n")

    def test_an_object_waits_for_the_kind_that_another_makes(self):
        made = {"apiVersion": f"{self.group}/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"a": 1}}
        maker = {"apiVersion": "v1", "kind": "ConfigMap",
                 "metadata": {"name": "maker", "annotations": {"fairlead.dev/makes": f"Gadget.{self.group}"}}}
        rollout = subprocess.Popen([FAIRLEAD, "apply", "--name", "b", "-f", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.env)
        rollout.stdin.write(json.dumps(made) + "\n---\n" + json.dumps(maker))
        rollout.stdin.close()
        said = ""
        for line in rollout.stdout:
            said += line
            if "does not serve kind Gadget" in line:
                kubectl("apply", "-f", "-", stdin=json.dumps(definition(self.group, "Gadget")))
        self.assertEqual(rollout.wait(timeout=120), 0, said)
        rollout.stdout.close()
        self.assertIn("a controller has to define it for ConfigMap " + self.home + "/maker", said)
        self.assertEqual(self.get(f"gadgets.{self.group}", "g")["spec"], {"a": 1})


if __name__ == "__main__":
    unittest.main()
