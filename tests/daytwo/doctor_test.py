"""fairlead doctor on a real API server: several troubles are really made, and exactly those are found."""
import base64
import json
import pathlib
import subprocess
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, documents, kubectl, named, run


def certificate(folder, name):
    """A self-signed certificate for that name, and its key, as PEM."""
    key, pem = folder / "key.pem", folder / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "365",
                    "-subj", "/CN=test", "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out", pem],
                   check=True, capture_output=True)
    return pathlib.Path(pem).read_text(), pathlib.Path(key).read_text()


class Doctor(DayTwo):
    def webhook(self, service, ca="", **more):
        """A configuration that matches only objects with a label that nobody has."""
        name = f"{service}-{self.home}"
        self.addCleanup(run, KUBECTL, "delete", "validatingwebhookconfiguration", name)
        return named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name, webhooks=[{
            "name": f"{service}.{self.home}.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "objectSelector": {"matchLabels": {"nobody": self.home}},
            "clientConfig": {"service": {"namespace": self.home, "name": service}, "caBundle": base64.b64encode(ca.encode()).decode()},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}], **more}])

    def findings(self, *arguments, code=1):
        result = run(FAIRLEAD, "doctor", *arguments, "-o", "json", env=self.env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        document = json.loads(result.stdout)
        self.assertLessEqual(document["requests"], 40)
        self.assertEqual(document["unseen"], [])
        return {(one["code"], one["object"]["name"].removesuffix(f"-{self.home}")) for one in document["findings"]}

    def make_troubles(self):
        good, _ = certificate(self.folder, f"named.{self.home}.svc")
        other, key = certificate(self.folder, "other.example.com")
        selector = {"matchLabels": {"app": "named"}}
        pod = {"containers": [{"name": "x", "image": "x"}], "volumes": [{"name": "tls", "secret": {"secretName": "named-tls"}}]}
        job = {"backoffLimit": 0, "activeDeadlineSeconds": 1,
               "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}}
        kubectl("apply", "-f", "-", stdin=documents(
            self.webhook("missing", good), self.webhook("ignored", good, failurePolicy="Ignore"),
            named("v1", "Service", "named", self.home, spec={"selector": {"app": "named"}, "ports": [{"port": 443}]}),
            named("v1", "Secret", "named-tls", self.home, type="kubernetes.io/tls", stringData={"tls.crt": other, "tls.key": key}),
            named("apps/v1", "Deployment", "named", self.home, spec={
                "replicas": 0, "selector": selector, "template": {"metadata": {"labels": selector["matchLabels"]}, "spec": pod}}),
            self.webhook("named", good),
            named("v1", "Service", "placeholder", self.home, spec={"ports": [{"port": 444}]}), self.webhook("placeholder"),
            named("batch/v1", "Job", "cert-gen", self.home, metadata={"annotations": {"helm.sh/hook": "pre-install"}}, spec=job)))
        kubectl("-n", self.home, "wait", "--for=condition=Failed", "job/cert-gen", "--timeout=60s")

    def test_what_is_broken_is_found_and_nothing_else(self):
        self.assertEqual(self.findings("namespace", self.home, code=0), set())
        self.make_troubles()
        self.assertEqual(self.findings("namespace", self.home), {
            ("webhook-service-missing", "missing"), ("webhook-skipped", "ignored"), ("webhook-no-endpoints", "named"),
            ("certificate-wrong-name", "named"), ("webhook-port-missing", "placeholder"), ("ca-bundle-empty", "placeholder"),
            ("job-failed", "cert-gen")})
        self.assertEqual(self.findings("webhook", f"missing.{self.home}.example.com"), {("webhook-service-missing", "missing")})
        text = run(FAIRLEAD, "doctor", "webhook", f"named-{self.home}", env=self.env).stdout
        self.assertIn(f"because   Deployment {self.home}/named is scaled to 0 replicas\n", text)
        self.assertNotIn("PRIVATE KEY", text)


unittest.main()
