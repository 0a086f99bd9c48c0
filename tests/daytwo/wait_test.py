"""fairlead wait on a real API server: a webhook that comes late, one with the wrong authority, one that fails open."""
import base64
import json
import subprocess
import tempfile
import time
import unittest

from tests.daytwo.daytwo import FAIRLEAD, DayTwo, config_map, documents, kubectl, named, run
from tests.scripts.webhooks import Webhooks


def another_authority():
    """The base64 of a certificate that nobody serves."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", "tls.key", "-out", "tls.crt", "-subj", "/CN=other"], cwd=folder, check=True, capture_output=True)
        with open(f"{folder}/tls.crt", "rb") as file:
            return base64.b64encode(file.read()).decode()


class Waiting(DayTwo):
    def setUp(self):
        super().setUp()
        self.hooks = Webhooks()
        self.addCleanup(self.hooks.close)
        self.hooks.set("guard", {})
        self.addCleanup(kubectl, "delete", "validatingwebhookconfiguration", self.home, "--ignore-not-found")

    def register(self, url="", authority="", policy="Fail"):
        hook = {"name": f"guard.{self.home}.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "failurePolicy": policy, "timeoutSeconds": 2,
                "clientConfig": {"url": url or self.hooks.url("guard"), "caBundle": authority or self.hooks.ca},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.home}}}
        kubectl("create", "-f", "-", stdin=documents(named(
            "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", self.home, webhooks=[hook])))

    def wait(self, *arguments, code=0):
        result = run(FAIRLEAD, "wait", *arguments, "-o", "json", env=self.env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def layers(self, document):
        [webhook] = document["objects"][0]["webhooks"]
        return {layer["layer"]: layer["state"] for layer in webhook["layers"]}

    def test_a_webhook_that_comes_late(self):
        self.hooks.set("guard", {"status": 503})
        process = subprocess.Popen([FAIRLEAD, "wait", f"webhook/{self.home}", "-o", "json"], stdout=subprocess.PIPE, text=True,
                                   env=self.env)
        time.sleep(1)
        self.register()
        time.sleep(1)
        self.assertIsNone(process.poll(), "it does not answer yet")
        self.hooks.set("guard", {})
        output, _ = process.communicate(timeout=60)
        document = json.loads(output)
        self.assertEqual((process.returncode, document["summary"]["outcome"]), (0, "done"), output)
        self.assertEqual(self.layers(document), {
            "configuration": "ok", "caBundle": "ok", "service": "unused", "endpoints": "unused", "pods": "unused", "TLS": "ok",
            "answer": "ok"})
        self.assertEqual(document["objects"][0]["webhooks"][0]["rung"], "answering")

    def test_the_wrong_authority(self):
        self.register(authority=another_authority(), policy="Ignore")
        document = self.wait(f"webhook/guard.{self.home}.example.com", "--timeout", "2s", "--allow-short", code=3)
        self.assertEqual(self.layers(document)["TLS"], "failing")
        self.assertIn("is not ready after 2s", document["summary"]["errors"][0]["what"])

    def test_one_that_fails_open(self):
        self.hooks.set("dead", {"listen": False})
        self.register(url=self.hooks.url("dead"), policy="Ignore")
        # Whoever writes now is not checked.
        kubectl("-n", self.home, "create", "-f", "-", stdin=documents(config_map("unchecked", self.home)))
        document = self.wait(f"webhook/{self.home}", "--for", "functional", "--timeout", "2s", "--allow-short", code=3)
        self.assertNotEqual(self.layers(document)["answer"], "ok")

    def test_a_probe_is_decided_on(self):
        self.hooks.set("guard", {"response": {"allowed": False, "status": {"message": "never"}}})
        self.register()
        probe = self.folder / "probe.json"
        probe.write_text(json.dumps(config_map("probe", self.home)))
        document = self.wait(f"webhook/{self.home}/guard.{self.home}.example.com", "--probe-with", str(probe))
        [webhook] = document["objects"][0]["webhooks"]
        self.assertIn(f"denies ConfigMap {self.home}/probe: never", webhook["layers"][-1]["text"])

    def test_kinds_and_objects_that_come_late(self):
        group = f"{self.home}.example.com"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{group}", spec={
            "group": group, "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})
        self.addCleanup(run, FAIRLEAD, "delete", "-f", "-", "-y", stdin=documents(definition), env=self.env)
        process = subprocess.Popen([FAIRLEAD, "wait", f"widgets.{group}/a", "--for", "jsonpath={.spec.size}=3"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)
        kubectl("create", "-f", "-", stdin=documents(definition))
        self.wait(f"crd/widgets.{group}")
        # It is served: no retry is needed.
        kubectl("create", "-f", "-", stdin=documents(named(f"{group}/v1", "Widget", "a", self.home, spec={"size": 3})))
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, output + errors)
        self.assertIn(f"Widget {self.home}/a meets jsonpath={{.spec.size}}=3 after ", output)


unittest.main()
