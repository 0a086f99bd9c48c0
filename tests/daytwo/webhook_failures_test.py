"""Each way in which a webhook can fail, made on a real API server: fairlead doctor names its code and the next command, and finds nothing
once the webhook works. The API server really calls (or tries to call) every one of them.

A control plane has Services on loopback addresses and nothing that forwards: what listens on the ClusterIP of a Service is its backend.
"""
import base64
import concurrent.futures
import json
import pathlib
import socket
import ssl
import subprocess
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, config_map, documents, kubectl, named, run
from tests.scripts.webhooks import Webhooks

PORT = 8443
TIMEOUT = 4  # In seconds, for a machine that is busy with other tests.
NO_ANSWER = "the API server got no valid answer: a refused connection, a timeout, an untrusted certificate, HTTP status 503, or something " \
            "that is no AdmissionReview"


def case(code="", because="", **broken):
    """The codes that doctor has to find, with these words among the causes of the first, and what is different from a webhook that works."""
    return {"code": code, "because": because, **broken}


def unanswered(**broken):
    return case("webhook-calls-failed", NO_ANSWER, **broken)


def status(number):
    return case("webhook-calls-failed", f"it answered with HTTP status {number}", answer={"status": number, "body": f"webhook says {number}"})


def denial(**response):
    return case(answer={"response": {"allowed": False, **response}})


ADMISSION = {
    "allow": case(),
    "warn": case(answer={"response": {"warnings": ["careful"]}}),
    "deny": denial(status={"code": 403, "reason": "Forbidden", "message": "no"}),
    "deny-bare": denial(),
    "deny-503": denial(status={"code": 503, "reason": "ServiceUnavailable", "message": "not now"}),
    "ignore-deny": {**denial(), "policy": "Ignore"},
    "service-missing": case("webhook-service-missing", "service {ns}/service-missing does not exist", service=False),
    "namespace-missing": case("webhook-orphaned", "namespace nowhere, where its service namespace-missing should be, does not exist",
                              service=False, ns="nowhere"),
    "port-missing": case("webhook-port-missing", f"service {{ns}}/port-missing has no port {PORT}", port=444),
    "no-endpoints": case("webhook-no-endpoints", "service {ns}/no-endpoints has no endpoint", ready=None, listens=None),
    "endpoints-not-ready": case("webhook-no-endpoints", "service {ns}/endpoints-not-ready has 0 of 1 endpoints ready", ready=False,
                                listens=None),
    "connection-refused": unanswered(listens=None),
    "blackhole": unanswered(listens="nothing"),
    "timeout": unanswered(answer={"delay": TIMEOUT + 1}),
    "hangup": unanswered(answer={"status": 0}),
    "plain-http": unanswered(listens="http"),
    "bad-json": unanswered(answer={"status": 200, "body": "{this is no JSON"}),
    "empty-body": unanswered(answer={"status": 200, "body": ""}),
    "no-response": unanswered(answer={"review": {"response": None}}),
    "wrong-kind": unanswered(answer={"review": {"apiVersion": "v1", "kind": "ConfigMap"}}),
    "wrong-uid": unanswered(answer={"response": {"uid": "not-the-uid"}}),
    **{f"http-{number}": status(number) for number in (307, 403, 404, 429, 500)},
    "http-503": unanswered(answer={"status": 503}),
    "wrong-cabundle": case("certificate-untrusted", "its caBundle does not verify it: one of the two is out of date", ca="other"),
    "no-cabundle": case("ca-bundle-empty", "the API server then asks its own roots", ca=""),
    "expired-cert": case("certificate-expired", "it expired on 2020-01-02", certificate="expired"),
    "not-yet-valid-cert": case("certificate-not-yet-valid", "it is valid only from 2100-01-01T00:00:00Z on", certificate="early"),
    "wrong-san": case("certificate-wrong-name", "it is for somewhere-else.example.com, not for wrong-san.{ns}.svc", certificate="misnamed"),
    "cn-only": case("certificate-wrong-name", "it is for no DNS name, not for cn-only.{ns}.svc", certificate="nameless"),
    "ignore-service-missing": case("webhook-skipped", "service {ns}/ignore-service-missing does not exist", service=False, policy="Ignore"),
    "ignore-http-500": case("webhook-failed-open", "it answered with HTTP status 500", answer={"status": 500}, policy="Ignore"),
    "ignore-timeout": case("webhook-failed-open", NO_ANSWER, answer={"delay": TIMEOUT + 1}, policy="Ignore"),
    "match-condition-error": case("webhook-condition-errors", "its failurePolicy is Fail, so these requests were refused",
                                  more={"matchConditions": [{"name": "x", "expression": "object.data.nosuchkey == 'x'"}]}),
    "mutate-ok": case(kind="Mutating", answer={"response": {"patch": [{"op": "add", "path": "/data/x", "value": "y"}]}}),
    # The object that comes of it is refused, and the webhook works.
    "mutate-invalid": case(kind="Mutating", answer={"response": {"patch": [{"op": "add", "path": "/data/no~1key", "value": "y"}]}}),
    "mutate-service-missing": case("webhook-service-missing", "service {ns}/mutate-service-missing does not exist", kind="Mutating",
                                   service=False),
    "mutate-bad-patch": case("webhook-calls-failed", "the API server could not use its answer", kind="Mutating",
                             answer={"response": {"patch": [{"op": "remove", "path": "/no/such/path"}]}}),
}
CONVERSION = {
    "convert-service-missing": case("conversion-dead", "service {ns}/convert-service-missing does not exist", service=False),
    "convert-no-endpoints": case("conversion-dead", "service {ns}/convert-no-endpoints has no endpoint", ready=None, listens=None),
    "convert-refused": case("conversion-dead", "nothing listens", listens=None),
    "convert-http-404": case("conversion-dead", "404", answer={"status": 404}),
}
# Conversion webhooks that are called, and what is wrong with the call. Doctor tries three of them.
CONVERSION_CALLS = ({
    "convert-http-404": case("conversion-dead", "json parse error", answer={"status": 200, "body": "{this is no JSON"}),
    "convert-no-endpoints": case("conversion-dead", "this object cannot be converted", answer={
        "convert": {}, "response": {"result": {"status": "Failure", "message": "this object cannot be converted"}}}),
    "convert-refused": case("conversion-dead", "returned 0 objects, expected 1", answer={"convert": {}, "response": {"convertedObjects": []}}),
}, {
    "convert-http-404": case("conversion-dead", "answered with an error of its own", answer={"status": 500, "body": "webhook says 500"}),
    "convert-no-endpoints": case("certificate-untrusted conversion-dead", "its caBundle does not verify it: one of the two is out of date", ca="other"),
})
# What the command says that doctor names next, where doctor cannot know the cause.
EXPLAINED = {"connection-refused": "nothing listens", "timeout": "timed out", "http-404": "404", "bad-json": "json parse error", "plain-http": "HTTP"}
EVERY = {**ADMISSION, **CONVERSION}


class Authority:
    """A certificate authority in a folder, which signs whatever it is asked to."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder, name)
        self.folder.mkdir()
        (self.folder / "index").touch()
        (self.folder / "config").write_text(f"[ca]\ndefault_ca=own\n[own]\ndatabase={self.folder}/index\nnew_certs_dir={self.folder}\n"
                                            "default_md=sha256\npolicy=any\nrand_serial=yes\nunique_subject=no\n[any]\ncommonName=supplied\n")
        self.openssl("req", "-x509", "-days", "3650", "-subj", f"/CN={name}", "-keyout", "ca.key", "-out", "ca.crt", *self.new_key())
        self.pem = (self.folder / "ca.crt").read_text()

    @staticmethod
    def new_key():
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def sign(self, name, names="", begins="20200101000000Z", ends="20991231000000Z"):
        """The context that serves the certificate, and the data of its Secret."""
        self.openssl("req", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr", *self.new_key())
        (self.folder / "extensions").write_text(f"subjectAltName=DNS:{names}\n" if names else "keyUsage=digitalSignature\n")
        self.openssl("ca", "-batch", "-config", "config", "-cert", "ca.crt", "-keyfile", "ca.key", "-in", f"{name}.csr", "-out", f"{name}.crt",
                     "-notext", "-startdate", begins, "-enddate", ends, "-extfile", "extensions")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        return context, {"tls.crt": (self.folder / f"{name}.crt").read_text(), "tls.key": (self.folder / f"{name}.key").read_text()}


class Failures(DayTwo):
    def setUp(self):
        super().setUp()
        ours, other = Authority(self.folder, "ours"), Authority(self.folder, "other")
        self.ca = {name: base64.b64encode(one.pem.encode()).decode() for name, one in (("ours", ours), ("other", other))} | {"": ""}
        every_service = f"*.{self.home}.svc"
        self.certificates = {"good": ours.sign("good", every_service),
                             "expired": ours.sign("expired", every_service, ends="20200102000000Z"),
                             "early": ours.sign("early", every_service, begins="21000101000000Z", ends="21010101000000Z"),
                             "misnamed": ours.sign("misnamed", "somewhere-else.example.com"),
                             "nameless": ours.sign("nameless")}
        kubectl("create", "-f", "-", stdin=documents(*(
            named("v1", "Secret", f"{name}-tls", self.home, type="kubernetes.io/tls", stringData=data)
            for name, (_, data) in self.certificates.items())))
        self.servers = {}
        for cleanup in (self.close_servers, self.delete_all):
            self.addCleanup(cleanup)

    def delete_all(self):
        run(KUBECTL, "delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations,customresourcedefinitions", "-l",
            f"test={self.home}", "--wait=false")

    def close_servers(self):
        for _, server in self.servers.values():
            server.close()

    def client_config(self, name, ns=None, ca="ours", **_):
        return {"service": {"namespace": ns or self.home, "name": name, "port": PORT, "path": "/hook"}, "caBundle": self.ca[ca]}

    def configuration(self, name, kind="Validating", policy="Fail", more=None, **broken):
        return named("admissionregistration.k8s.io/v1", f"{kind}WebhookConfiguration", f"{name}-{self.home}",
                     metadata={"labels": {"test": self.home}}, webhooks=[{
                         "name": f"{name}.{self.home}.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                         "failurePolicy": policy, "timeoutSeconds": TIMEOUT, "objectSelector": {"matchLabels": {"case": name, "test": self.home}},
                         "clientConfig": self.client_config(name, **broken),
                         "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
                         **(more or {})}])

    def definition(self, name, **broken):
        group = f"{name}.{self.home}.example.com"
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"things.{group}", metadata={"labels": {"test": self.home}}, spec={
            "group": group, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": version, "served": True, "storage": version == "v1", "schema": schema} for version in ("v1", "v2")],
            "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                                                              "clientConfig": self.client_config(name, **broken)}}})

    def backend(self, name, service=True, port=PORT, ready=True, certificate="good", **_):
        """The Service of a case, its endpoint, and the workload that mounts its certificate."""
        labels = {"app": name}
        pod = {"containers": [{"name": "x", "image": "x"}], "volumes": [{"name": "tls", "secret": {"secretName": f"{certificate}-tls"}}]}
        objects = [named("apps/v1", "Deployment", name, self.home, spec={
            "replicas": 0, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}})]
        if service:
            objects.append(named("v1", "Service", name, self.home, spec={"selector": labels, "ports": [{"port": port}]}))
        if ready is not None:
            objects.append(named("discovery.k8s.io/v1", "EndpointSlice", f"{name}-1", self.home, addressType="IPv4", metadata={
                "labels": {"kubernetes.io/service-name": name}}, ports=[{"port": PORT}],
                endpoints=[{"addresses": ["10.1.1.1"], "conditions": {"ready": ready}}]))
        return objects

    def listen(self, cases):
        """Starts what is behind each Service, in place of what was there."""
        items = json.loads(kubectl("-n", self.home, "get", "services", "-o", "json"))["items"]
        addresses = {item["metadata"]["name"]: item["spec"]["clusterIP"] for item in items}
        for name, broken in cases.items():
            listens = broken.get("listens", "https")
            if name not in addresses or not listens:
                continue
            context = self.certificates[broken.get("certificate", "good")][0] if listens == "https" else None
            served_by, server = self.servers.get(name, (None, None))
            if served_by != (listens, context):
                if server:
                    server.close()
                address = (addresses[name], PORT)
                # Where nothing is to answer, the kernel accepts the connection, and nobody reads from it.
                server = socket.create_server(address) if listens == "nothing" else Webhooks(address, context)
                self.servers[name] = (listens, context), server
            if listens != "nothing":
                server.set("hook", broken.get("answer", {"convert": {}} if name in CONVERSION else {}))

    def apply_all(self, admission, conversion):
        objects = [one for name, broken in {**admission, **conversion}.items() for one in self.backend(name, **broken)]
        objects += [self.configuration(name, **broken) for name, broken in admission.items()]
        objects += [self.definition(name, **broken) for name, broken in conversion.items()]
        self.must(run(KUBECTL, "apply", "--server-side", "--force-conflicts", "-f", "-",
                      stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})))
        self.listen({**admission, **conversion})

    def call_all(self, run_name):
        """Sends a request that each webhook is called for, and waits until the API server knows all configurations: it knows the newest
        last."""
        fences = {kind: f"fence-{kind.lower()}-{run_name}" for kind in ("Validating", "Mutating")}
        for kind, name in fences.items():
            kubectl("create", "-f", "-", stdin=documents(self.configuration(name, kind=kind, ns="nowhere")))
        for name in fences.values():
            self.assertTrue(any("failed calling webhook" in self.send(name, "--dry-run=server") for _ in range(200)))
        for kind, name in fences.items():
            kubectl("delete", f"{kind}WebhookConfiguration", f"{name}-{self.home}")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self.send, ADMISSION))

    def send(self, name, *flags):
        one = config_map(f"{name}-object", self.home, a="b")
        one["metadata"]["labels"] = {"case": name, "test": self.home}
        return run(KUBECTL, "create", "-f", "-", *flags, stdin=json.dumps(one)).stderr

    def findings(self):
        result = run(FAIRLEAD, "doctor", "-o", "json", "--fail-on", "never", env=self.env)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertLessEqual(document["requests"], 40)
        found: dict = {}
        for one in document["findings"]:
            name = one["object"]["name"].removeprefix("things.").removesuffix(".example.com")
            found.setdefault(name.removesuffix(self.home)[:-1], []).append(one)
        return found

    def check_found(self, name, broken, findings):
        """One finding says what is wrong; others are for information."""
        serious = [one for one in findings if one["severity"] != "info"]
        if not broken["code"]:
            self.assertEqual(findings, [])
            return
        self.assertEqual([one["code"] for one in serious], broken["code"].split(), serious)
        self.assertIn(broken["because"].format(ns=self.home), "\n".join(serious[0]["causes"]))
        self.assertTrue(serious[0]["next"])

    def follow_advice(self, findings):
        """The output of the next command, which here does not have to be as patient."""
        command = findings[0]["next"].replace("--timeout 30s", "--timeout 10s --allow-short").split()
        self.assertEqual(command[0], "fairlead")
        return run(FAIRLEAD, *command[1:], env=self.env).stdout

    def test_every_failure(self):
        self.apply_all(ADMISSION, CONVERSION)
        for name in CONVERSION:
            self.create_thing(name)
        self.call_all("broken")
        found = self.findings()
        for name, broken in EVERY.items():
            with self.subTest(name):
                self.check_found(name, broken, found.get(name, []))
        with concurrent.futures.ThreadPoolExecutor(len(EXPLAINED)) as pool:
            for name, text in zip(EXPLAINED, pool.map(self.follow_advice, (found[name] for name in EXPLAINED))):
                with self.subTest(f"{name}, next command"):
                    self.assertIn(EXPLAINED[name], text)
        # All of them work now, and have been called once more.
        kinds = {name: {"kind": broken["kind"]} for name, broken in ADMISSION.items() if "kind" in broken}
        self.apply_all({name: kinds.get(name, {}) for name in ADMISSION}, {name: {} for name in CONVERSION})
        kubectl("-n", self.home, "delete", "configmaps", "--all")
        self.call_all("mended")
        found = self.findings()
        for name in EVERY:
            with self.subTest(f"{name}, mended"):
                self.assertEqual([one for one in found.get(name, []) if one["severity"] != "info"], [])

        for cases in CONVERSION_CALLS:
            self.check_conversion_calls(cases)

    def test_a_webhook_with_side_effects_is_not_stored(self):
        """So webhook-no-dry-run is found only where an old API server stored one."""
        one = self.configuration("effects")
        one["webhooks"][0]["sideEffects"] = "Some"
        result = run(KUBECTL, "create", "-f", "-", stdin=json.dumps(one))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('Unsupported value: "Some"', result.stderr)

    def check_conversion_calls(self, cases):
        """Others still work."""
        self.apply_all({}, {**{name: {} for name in CONVERSION}, **cases})
        for name in cases:
            # The API server knows the definition a moment later.
            self.assertTrue(any(run(KUBECTL, "-n", self.home, "get", f"things.v2.{name}.{self.home}.example.com", "one").returncode
                                for _ in range(200)), name)
        found = self.findings()
        for name in CONVERSION:
            with self.subTest(f"{name}, called", because=cases.get(name, {}).get("because")):
                self.check_found(name, cases.get(name, case()), [one for one in found.get(name, []) if one["severity"] != "info"])

    def create_thing(self, name):
        group = f"{name}.{self.home}.example.com"
        kubectl("wait", "--for=condition=Established", f"crd/things.{group}")
        kubectl("create", "-f", "-", stdin=json.dumps(named(f"{group}/v1", "Thing", "one", self.home)))


unittest.main()
