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
            named("batch/v1", "Job", "cert-gen", self.home, metadata={"annotations": {"helm.sh/hook": "pre-install"}}, spec=job),
            named("batch/v1", "Job", "inject", self.home, spec={"template": {"spec": {
                "restartPolicy": "Never", "serviceAccountName": "gone", "containers": [{"name": "x", "image": "x"}]}}})))
        kubectl("-n", self.home, "wait", "--for=condition=Failed", "job/cert-gen", "--timeout=60s")

    def test_what_is_broken_is_found_and_nothing_else(self):
        self.assertEqual(self.findings("namespace", self.home, code=0), set())
        self.make_troubles()
        self.assertEqual(self.findings("namespace", self.home), {
            ("webhook-service-missing", "missing"), ("webhook-skipped", "ignored"), ("webhook-no-endpoints", "named"),
            ("certificate-wrong-name", "named"), ("webhook-port-missing", "placeholder"), ("ca-bundle-empty", "placeholder"),
            ("job-failed", "cert-gen"), ("workload-account-missing", "inject")})
        self.assertEqual(self.findings("webhook", f"missing.{self.home}.example.com"), {("webhook-service-missing", "missing")})
        text = run(FAIRLEAD, "doctor", "webhook", f"named-{self.home}", env=self.env).stdout
        self.assertIn(f"because   Deployment {self.home}/named is scaled to 0 replicas\n", text)
        self.assertNotIn("PRIVATE KEY", text)

    def until(self, code, *arguments, because=""):
        """The finding of that code and cause. The control plane notices what makes it a moment later."""
        for _ in range(300):
            result = run(FAIRLEAD, "doctor", *arguments, "-o", "json", env=self.env)
            for one in json.loads(result.stdout or "{}").get("findings", []):
                if one["code"] == code and because in "\n".join(one["causes"]):
                    self.assertTrue(one["next"])
                    return one
        self.fail(f"doctor does not find {code} because {because}: {result.stdout}{result.stderr}")

    def endpoint(self, service, port):
        return named("discovery.k8s.io/v1", "EndpointSlice", f"{service}-1", self.home, addressType="IPv4", ports=[{"port": port}],
                     metadata={"labels": {"kubernetes.io/service-name": service}},
                     endpoints=[{"addresses": ["10.1.1.1"], "conditions": {"ready": True}}])

    def test_api_services(self):
        causes = {"missing": f"service {self.home}/missing does not exist", "other-port": f"service {self.home}/other-port has no port 443",
                  "no-endpoints": f"service {self.home}/no-endpoints has no endpoint", "refused": "failing or missing response from"}
        names = {case: f"v1.{case}.{self.home}.example.com" for case in causes}
        for name in names.values():
            self.addCleanup(run, KUBECTL, "delete", "apiservice", name)
        services = [named("v1", "Service", case, self.home, spec={"ports": [{"port": 80 if case == "other-port" else 443}]})
                    for case in causes if case != "missing"]
        kubectl("create", "-f", "-", stdin=documents(*services, self.endpoint("refused", 443), self.endpoint("other-port", 80), *(
            named("apiregistration.k8s.io/v1", "APIService", name, spec={
                "group": name.removeprefix("v1."), "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
                "insecureSkipTLSVerify": True, "service": {"namespace": self.home, "name": case}}) for case, name in names.items())))
        for case, name in names.items():
            with self.subTest(case):
                self.until("apiservice-unavailable", f"apiservice/{name}", because=causes[case])

    def test_a_deletion_that_does_not_end(self):
        stuck = named("v1", "ConfigMap", "stuck", self.home, metadata={"finalizers": ["acme.dev/cleanup"]})
        kubectl("create", "-f", "-", stdin=json.dumps(stuck))
        self.addCleanup(run, KUBECTL, "-n", self.home, "patch", "configmap", "stuck", "--type=merge", "-p",
                        '{"metadata":{"finalizers":null}}')
        kubectl("-n", self.home, "delete", "configmap", "stuck", "--wait=false")
        found = self.until("deletion-stuck", "configmap/stuck")
        self.assertEqual(found["causes"][0], "finalizer acme.dev/cleanup has not been removed")

    def test_what_is_in_the_way_of_a_webhook(self):
        good, _ = certificate(self.folder, f"hidden.{self.home}.svc")
        labels = {"app": "hidden"}
        pod = {"containers": [{"name": "x", "image": "x"}]}
        hook = self.webhook("hidden", good, objectSelector={"matchLabels": {"app": self.home}}, rules=[
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}])
        kubectl("create", "-f", "-", stdin=documents(hook))
        # The API server knows the webhook a moment later.
        refused = json.dumps(named("v1", "Pod", "refused", self.home, metadata={"labels": {"app": self.home}}, spec=pod))
        self.assertTrue(any("failed calling webhook" in run(KUBECTL, "create", "--dry-run=server", "-f", "-", stdin=refused).stderr
                            for _ in range(200)))
        # A ReplicaSet cannot create its pod, because the webhook has no Service.
        kubectl("create", "-f", "-", stdin=documents(named("apps/v1", "Deployment", "victim", self.home, spec={
            "selector": {"matchLabels": {"app": self.home}}, "template": {"metadata": {"labels": {"app": self.home}}, "spec": pod}})))
        self.until("webhook-service-missing", "webhook", f"hidden.{self.home}.example.com")
        self.assertTrue(any("failed calling webhook" in kubectl("-n", self.home, "get", "events") for _ in range(200)))
        kubectl("create", "-f", "-", stdin=documents(
            named("v1", "Service", "hidden", self.home, spec={"selector": labels, "ports": [{"port": 443, "targetPort": 9443}]}),
            named("apps/v1", "Deployment", "hidden", self.home, spec={
                "replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}),
            self.endpoint("hidden", 9443),
            named("networking.k8s.io/v1", "NetworkPolicy", "shut", self.home, spec={
                "podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"]})))
        self.until("webhook-network-policy", "webhook", f"hidden.{self.home}.example.com")
        found = self.until("webhook-refused-objects", "webhook", f"hidden.{self.home}.example.com")
        self.assertIn("victim", json.dumps(found))

    def test_a_deprecated_version_that_is_used(self):
        group = f"{self.home}.example.com"
        schema = {"openAPIV3Schema": {"type": "object"}}
        self.addCleanup(run, KUBECTL, "delete", "crd", f"gadgets.{group}", "--wait=false")
        kubectl("create", "-f", "-", stdin=documents(named(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"gadgets.{group}", spec={
                "group": group, "scope": "Namespaced", "names": {"kind": "Gadget", "plural": "gadgets"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema},
                             {"name": "v1alpha1", "served": True, "storage": False, "deprecated": True, "schema": schema}]})))
        kubectl("wait", "--for=condition=Established", f"crd/gadgets.{group}")
        kubectl("-n", self.home, "get", f"gadgets.v1.{group}")
        used = f"a client uses gadgets in {group}/v1alpha1, which is deprecated"
        self.assertNotIn(used, run(FAIRLEAD, "doctor", "--fail-on", "never", env=self.env).stdout)
        self.assertTrue(any("is deprecated" in run(KUBECTL, "-n", self.home, "get", f"gadgets.v1alpha1.{group}").stderr for _ in range(200)))
        text = run(FAIRLEAD, "doctor", "--fail-on", "never", env=self.env).stdout
        self.assertIn(f"info: {used}\n  because   no release is known yet that removes it\n", text)
        self.assertIn("deprecated-api-used", text)
        # Which the control plane itself uses.
        self.assertNotIn("endpoints", text)

    def policy(self, name, **spec):
        group = "admissionregistration.k8s.io/v1"
        self.addCleanup(run, KUBECTL, "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", f"{name}-{self.home}")
        bound = {"policyName": f"{spec.pop('bound_to', name)}-{self.home}", "validationActions": ["Warn"], **spec.pop("binding", {})}
        policy = {"matchConstraints": {"resourceRules": [
            {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}],
            "objectSelector": {"matchLabels": {"nobody": self.home}}},
            "validations": [{"expression": spec.pop("expression", "true")}], **spec}
        return [named(group, "ValidatingAdmissionPolicy", f"{name}-{self.home}", spec=policy),
                named(group, "ValidatingAdmissionPolicyBinding", f"{name}-{self.home}", spec=bound)]

    def test_policies(self):
        kind = {"apiVersion": "v1", "kind": "ConfigMap"}
        lost = {"paramRef": {"name": "lost", "namespace": self.home, "parameterNotFoundAction": "Deny"}}
        [unbound, binding] = self.policy("unbound", bound_to="gone")
        objects = [unbound, binding, *self.policy("typo", expression="object.spec.nosuchfield == 1"),
                   *self.policy("kindless", paramKind={"apiVersion": "rules.example.com/v1", "kind": "Rule"}, binding=lost),
                   *self.policy("lost", paramKind=kind, binding=lost)]
        kubectl("create", "-f", "-", stdin=documents(*objects))
        policy, policy_binding = "validatingadmissionpolicy", "validatingadmissionpolicybinding"
        for code, subject in (("policy-unbound", f"{policy}/unbound"), ("policy-missing", f"{policy_binding}/unbound"),
                              ("policy-type-errors", f"{policy}/typo"), ("policy-param-kind-missing", f"{policy}/kindless"),
                              ("policy-param-missing", f"{policy_binding}/lost")):
            with self.subTest(code):
                self.until(code, f"{subject}-{self.home}")


unittest.main()
