"""fairlead plan on a real control plane: what it says comes true, and it writes nothing."""
import json
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, config_map, documents, kubectl, named, run


class Plan(DayTwo):
    def plan(self, *objects, command="plan", more=()):
        return run(FAIRLEAD, command, *more, "-f", "-", stdin=documents(*objects), env=self.env)

    def versions(self):
        """The resourceVersion of everything that a plan could touch."""
        kinds = "configmaps,secrets,deployments,services,customresourcedefinitions,validatingwebhookconfigurations"
        listed = json.loads(kubectl("get", kinds, "-n", self.home, "-o", "json"))["items"]
        return sorted((one["kind"], one["metadata"]["name"], one["metadata"]["resourceVersion"]) for one in listed)

    def test_new_changed_unchanged_and_pruned_objects(self):
        deployment = named("apps/v1", "Deployment", "web", spec={
            "replicas": 0, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}})
        secret = named("v1", "Secret", "db", stringData={"password": "open sesame"})
        bundle = ("--name", "shop", "--prune")
        self.assertEqual(self.plan(config_map("same", a="1"), config_map("old"), deployment, secret, command="apply",
                                   more=(*bundle, "--no-wait")).returncode, 0)
        before = self.versions()
        self.assertEqual(self.plan(config_map("same", a="1"), config_map("old"), deployment, secret, more=bundle).returncode, 0)
        changed = json.loads(json.dumps(deployment).replace("web:1", "web:2"))
        wanted = (config_map("same", a="1"), config_map("new"), changed, {**secret, "stringData": {"password": "x"}})
        for more in ((), ("--dry-run=client",)):
            result = self.plan(*wanted, more=(*bundle, "-o", "json", *more))
            self.assertEqual((result.returncode, result.stderr), (2, ""))
            self.assertNotIn("b3BlbiBzZXNhbWU", result.stdout)
            actions = {one["name"]: (one["action"], [field["path"] for field in one.get("changes", [])])
                       for one in json.loads(result.stdout)["objects"]}
            self.assertEqual(actions, {"same": ("none", []), "new": ("create", []), "old": ("delete", []),
                                       "web": ("change", ["spec.template.spec.containers[name=web].image"]),
                                       "db": ("change", ["data.password"])})
        self.assertEqual(self.versions(), before)
        self.assertEqual(self.plan(*wanted, command="apply", more=(*bundle, "--no-wait")).returncode, 0)
        again = self.plan(*wanted, more=bundle)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_it_writes_nothing_to_prove_a_webhook(self):
        hook = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": self.home}, "webhooks": [{
                    "name": "guard.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                    "clientConfig": {"service": {"name": "guard", "namespace": self.home}},
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.home}},
                    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]}
        service = named("v1", "Service", "guard", spec={"selector": {"app": "guard"}, "ports": [{"port": 443}]})
        labels = {"app": "guard"}
        backend = named("apps/v1", "Deployment", "guard", spec={"selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "guard", "image": "guard:1"}]}}})
        before = self.versions()
        result = self.plan(hook, service, backend, config_map("guarded"))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("(unchecked)", result.stdout)
        self.assertIn("is created by this bundle and has not checked it", result.stdout)
        self.assertEqual(self.versions(), before)

    def test_the_owner_of_each_field_in_conflict(self):
        run(KUBECTL, "apply", "--server-side", "--field-manager", "ann", "-n", self.home, "-f", "-",
            stdin=json.dumps(config_map("shared", a="1", b="1")), check=True)
        result = self.plan(config_map("shared", a="2", b="2"), more=("-o", "json"))
        self.assertEqual(result.returncode, 4, result.stdout)
        shared, = json.loads(result.stdout)["objects"]
        self.assertEqual(shared["conflicts"], [{"field": ".data.a", "manager": "ann"}, {"field": ".data.b", "manager": "ann"}])
        self.assertEqual([field["path"] for field in shared["changes"]], ["data.a", "data.b"])

    def test_whoever_may_only_read_gets_a_plan(self):
        self.assertEqual(self.plan(config_map("one", a="1"), command="apply").returncode, 0)
        kubectl("create", "role", "reader", "--verb=get", "--resource=configmaps", "-n", self.home)
        kubectl("create", "rolebinding", "reader", "--role=reader", "--user=reader", "-n", self.home)
        for _ in range(100):  # The API server learns of the role a moment later.
            allowed = run(KUBECTL, "auth", "can-i", "get", "configmaps", "-n", self.home, "--as", "reader").stdout.strip()
            if allowed == "yes":
                break
        result = self.plan(config_map("one", a="2"), more=("--as", "reader"))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn('-  a: "1"\n+  a: "2"\n', result.stdout)
        self.assertIn(f"warning: this user may not patch configmaps in namespace {self.home}\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
