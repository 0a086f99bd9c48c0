"""fairlead doctor on the sandbox: a healthy cluster, and one with troubles."""
import json
import unittest

from tests.cli.on_sandbox import OnSandbox
from tests.scripts.server import Server

WEBHOOK = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "orphan"},
           "webhooks": [{"name": "v.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                         "clientConfig": {"service": {"namespace": "lost", "name": "hook"}},
                         "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]}


class Doctor(OnSandbox):
    def break_it(self):
        """A webhook without a backend. It is created with its namespace, and the namespace then deleted."""
        parts = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lost"}},
                 {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": "lost"},
                  "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443}]}}, WEBHOOK]
        self.fairlead("apply", "-f", "-", "--no-wait", "-o", "quiet", stdin="\n---\n".join(map(json.dumps, parts)))
        self.fairlead("delete", "namespace/lost", "--yes", "-o", "quiet")

    def codes(self, *arguments, code=0):
        document = json.loads(self.fairlead("doctor", *arguments, "-o", "json", code=code).stdout)
        self.assertLessEqual(document["requests"], 40)
        return [one["code"] for one in document["findings"] if one["severity"] != "info" or "info" in arguments]

    def test_a_healthy_cluster(self):
        self.assertEqual(self.fairlead("doctor").stdout, "no problems found\n")
        self.assertEqual(self.codes("--fail-on", "info"), [])

    def test_what_is_broken_is_found(self):
        self.break_it()
        orphan = ["webhook-orphaned"]
        self.assertEqual(self.codes(code=1), orphan)
        self.assertEqual(self.codes("--fail-on", "never"), orphan)
        self.assertEqual(self.codes("webhook", "v.example.com", code=1), orphan)
        self.assertEqual(self.codes("webhook/orphan", code=1), orphan)
        self.assertEqual(self.codes("namespace", "default", code=1), orphan)
        self.assertEqual(self.codes("configmap/kube-root-ca.crt", code=1), orphan)
        self.assertEqual(self.codes("--ignore", "ca-bundle-empty", code=1), orphan)
        self.assertEqual(self.codes("--ignore", "ca-bundle-empty", "--ignore", "webhook-orphaned"), [])
        self.assertEqual(self.codes("--ignore", "ca-bundle-empty,webhook-orphaned"), [])
        self.assertEqual(self.codes("-n", "default", code=1), orphan)
        self.assertEqual(self.codes("-n", "kube-system", "-A", code=1), orphan)
        self.assertIn("there is no namespace nope", self.fairlead("doctor", "-n", "nope", code=1).stderr)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        (self.folder / "secret.json").write_text(json.dumps(secret))
        self.assertEqual(self.codes("-f", "secret.json"), [])
        (self.folder / "map.json").write_text(json.dumps({**secret, "kind": "ConfigMap"}))
        self.assertEqual(self.codes("-f", "map.json", code=1), orphan)
        # The controllers of the sandbox meet the webhook, too, and the API server counts that.
        text = self.fairlead("doctor", "-f", "map.json", "--ignore", "webhook-calls-failed", code=1).stdout
        self.assertEqual(text, """\
error: webhook v.example.com (ValidatingWebhookConfiguration orphan) cannot be called
  because   namespace lost, where its service hook should be, does not exist
  blocks    ConfigMap default/s
  next      kubectl delete validatingwebhookconfiguration orphan, if nothing uses it any more
  code      webhook-orphaned

1 error
""")

    def test_a_deprecated_version_that_is_used(self):
        schema = {"openAPIV3Schema": {"type": "object"}}
        versions = [{"name": "v1", "served": True, "storage": True, "schema": schema},
                    {"name": "v1alpha1", "served": True, "storage": False, "deprecated": True, "schema": schema}]
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gadgets.example.com"},
                      "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Gadget", "plural": "gadgets"},
                               "versions": versions}}
        self.fairlead("apply", "-f", "-", "-o", "quiet", stdin=json.dumps(definition))
        server = Server(self.env["KUBECONFIG"])
        self.assertEqual(server.json("GET", "/apis/example.com/v1/gadgets")[0], 200)
        self.assertEqual(self.codes("--fail-on", "info"), [])
        self.assertEqual(server.json("GET", "/apis/example.com/v1alpha1/gadgets")[0], 200)
        self.assertEqual(self.codes("--fail-on", "info", code=1), ["deprecated-api-used"])
        self.assertEqual(self.codes(), [])

    def test_a_wrong_command_line(self):
        for words, message in ((["a", "b", "c"], 'error: "a b c" names nothing to examine\n'),
                               (["deployment"], 'error: "deployment" names nothing to examine\n'),
                               (["--ignore", "webhook-orphan"], 'error: there is no finding with the code "webhook-orphan"\n'),
                               (["pod/x", "-f", "y"], "error: manifests and an object cannot be examined at the same time\n")):
            self.assertEqual(self.fairlead("doctor", *words, code=64).stderr.splitlines(True)[0], message)
        self.assertIn("there is no webhook and no webhook configuration nope", self.fairlead("doctor", "webhook", "nope", code=1).stderr)


unittest.main()
