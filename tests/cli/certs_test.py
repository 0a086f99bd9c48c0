"""fairlead certs on the sandbox: made, injected, rotated, shown and verified; and what a wrong command line says."""
import base64
import json
import subprocess
import unittest
from typing import Any

from tests.cli.on_sandbox import OnSandbox

HOOK: dict[str, Any] = {
    "name": "v.shop.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
    "clientConfig": {"service": {"namespace": "default", "name": "hook"}},
    "rules": [{"apiGroups": ["shop.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["berths"]}]}
CONFIGURATION: dict[str, Any] = {
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "shop"}}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": "default"},
           "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443}]}}


class Certs(OnSandbox):
    def certs(self, command, *arguments, code=0):
        return self.fairlead("certs", command, "--service", "hook", "--secret", "hook-cert", *arguments, code=code)

    def document(self, command, *arguments, code=0):
        return json.loads(self.certs(command, *arguments, "-o", "json", code=code).stdout)

    def configure(self, bundle=""):
        client = {**HOOK["clientConfig"], **({"caBundle": bundle} if bundle else {})}
        hook = {**HOOK, "clientConfig": client}
        self.fairlead("apply", "-f", "-", "--no-wait", "-o", "quiet",
                      stdin="\n---\n".join(map(json.dumps, (SERVICE, {**CONFIGURATION, "webhooks": [hook]}))))

    def test_from_nothing_to_a_second_ca(self):
        self.configure()
        self.assertEqual(self.certs("ensure", "--dry-run").stdout,
                         "dry run: Secret default/hook-cert: make a CA and a certificate: no certificate is stored\n")
        self.assertIn("has no certificate", self.certs("inject", code=1).stderr)
        self.assertEqual(self.certs("ensure").stdout,
                         "Secret default/hook-cert: make a CA and a certificate: no certificate is stored\n")
        self.assertRegex(self.certs("ensure").stdout, r"^Secret default/hook-cert is kept: the certificate is valid until 20\d\d-\S+Z\n$")
        place = "webhook v.shop.example.com of ValidatingWebhookConfiguration shop"
        self.assertIn(f"wrong    {place}: its caBundle holds no certificate\n", self.certs("verify", code=1).stdout)
        self.assertEqual(self.certs("inject").stdout, f"{place}: caBundle injected\n")
        self.assertEqual(self.certs("inject", "--webhook", "shop").stdout, f"{place}: unchanged\n")
        unserved = "unknown  Service default/hook: service default/hook has no ready endpoint\n" \
                   "nothing is wrong, and 1 of 3 checks could not be made\n"
        self.assertTrue(self.certs("verify").stdout.endswith(unserved))
        before = self.document("show")
        self.assertEqual(before["certificate"]["names"], ["hook", "hook.default", "hook.default.svc", "hook.default.svc.cluster.local"])
        self.assertEqual(self.certs("rotate", "--dry-run").stdout, "would make a CA with a new key, in two steps: a new CA was asked for\n")
        for more in ("--cluster-domain=cluster.local", "--dry-run"):
            self.assertEqual(self.certs("rotate", "--finish", more).stdout, "no rotation of Secret default/hook-cert is under way\n")
        text = self.certs("rotate").stdout
        self.assertEqual([line.split(": ", 1)[-1] for line in text.splitlines()][:7],
                         ["make a CA with a new key, in two steps", "trust the new CA beside the old one", "caBundle injected",
                          "waiting for a proof that API servers trust the new CA", "make a certificate with the new CA",
                          "waiting until every endpoint of Service default/hook serves the new certificate, for at most 5m",
                          "remove the old CA"], text)
        after = self.document("show")
        self.assertNotEqual(after["cas"][0]["sha256"], before["cas"][0]["sha256"])
        self.assertEqual(([one["hasKey"] for one in after["cas"]], after["next"]["step"]), ([True], "keep"))
        self.assertTrue(self.certs("verify").stdout.endswith(unserved))

    def test_what_the_helm_hooks_of_the_admission_server_run(self):
        """With the arguments that the Jobs have: first the certificate, and then its CA in the configuration."""
        text = self.fairlead("webhook", "manifests", "--release", "rel", "-n", "default", "--set", "webhook.certGenerator.enabled=true",
                             "-o", "json").stdout
        objects = json.loads(text)["items"]
        self.fairlead("apply", "-f", "-", "--no-wait", "-o", "quiet",
                      stdin="\n---\n".join(json.dumps(one) for one in objects if one["kind"] in ("Service", "ValidatingWebhookConfiguration")))
        jobs = {one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["args"] for one in objects if one["kind"] == "Job"}
        self.assertIn("make a CA and a certificate", self.fairlead(*jobs["rel-webhook-cert-gen"]).stdout)
        self.assertIn("is kept", self.fairlead(*jobs["rel-webhook-cert-gen"]).stdout, "an upgrade runs the hooks again")
        self.assertEqual(self.fairlead(*jobs["rel-webhook-ca-inject"]).stdout.count("caBundle injected\n"), 3)
        verify = ("certs", "verify", "--service", "rel-webhook", "--secret", "rel-webhook-server-cert")
        self.assertEqual(self.fairlead(*verify).stdout.count("its caBundle verifies the certificate\n"), 3)

    def test_finishing_makes_nothing(self):
        self.assertEqual(self.certs("rotate", "--finish").stdout, "no rotation of Secret default/hook-cert is under way\n")
        self.assertIn("there is no certificate", self.certs("show", code=1).stdout)

    def test_a_service_that_nothing_calls(self):
        self.certs("ensure")
        said = "nothing calls Service default/hook: no webhook, CRD or APIService among those that were read names it\n"
        self.assertIn(said, self.certs("inject", code=1).stderr)
        self.assertIn(f"wrong    targets: {said}", self.certs("verify", code=1).stdout)

    def test_the_secret_of_a_ca_is_no_place_for_a_certificate(self):
        self.certs("ensure")
        result = self.fairlead("certs", "ensure", "--service", "hook", "--secret", "hook-cert-ca", code=1)
        self.assertIn("it has the key of the CA of Service default/hook\n", result.stderr)
        self.assertIn("is kept", self.certs("ensure").stdout)
        self.assertEqual(self.document("show")["cas"][0]["hasKey"], True)

    def test_no_key_is_printed(self):
        self.configure()
        said = ""
        for command in ("ensure", "inject", "rotate", "show", "verify"):
            result = self.certs(command, "-v", "9")
            said += result.stdout + result.stderr
        for command in ("ensure", "inject", "show", "verify"):
            said += self.certs(command, "-o", "json").stdout + self.certs(command, "-o", "yaml").stdout
        self.assertNotIn("PRIVATE KEY", said)
        self.assertNotIn(base64.b64encode(b"-----BEGIN PRIVATE KEY").decode()[:20], said)

    def test_somebody_elses_bundle_is_left(self):
        self.certs("ensure")
        self.configure(base64.b64encode(self.other_ca().encode()).decode())
        document = self.document("inject", code=1)
        self.assertEqual([(one["state"], one["why"]) for one in document["places"]], [("left", "its caBundle is owned by fairlead")])
        self.assertEqual([one["state"] for one in self.document("inject", "--force")["places"]], ["injected"])

    def other_ca(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "k",
                        "-out", "c", "-subj", "/CN=other"], cwd=self.folder, check=True, capture_output=True)
        return (self.folder / "c").read_text()

    def test_a_wrong_command_line(self):
        for arguments, message in ((["--validity", "soon"], 'error: --validity: "soon" is not a duration\n'),
                                   (["--validity", "9d", "--renew-before", "10d"],
                                    "error: certificates that are valid for 216h cannot be renewed 240h before their end\n"),
                                   (["--validity", "99999d"], "error: --validity: 99999d is not a number of days from 0 to 80000\n")):
            self.assertTrue(self.certs("ensure", *arguments, code=64).stderr.startswith(message), arguments)
        self.assertIn('error: the name of the Service "Hook_X.y" is no DNS label',
                      self.fairlead("certs", "ensure", "--service", "Hook_X.y", "--secret", "x", code=64).stderr)
        self.assertIn("error: --service NAME is missing\n", self.fairlead("certs", "ensure", "--secret", "x", code=64).stderr)


unittest.main()
