"""fairlead webhook serve as a process: probes, reviews, certificates in a cluster, and how it stops."""
import base64
import contextlib
import json
import pathlib
import signal
import ssl
import subprocess
import unittest
import urllib.error
import urllib.request

from tests.cli.on_sandbox import FAIRLEAD, OnSandbox

SCRIPT = """
set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out "$1/ca.crt" -days 2 -subj /CN=ca
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1/tls.key" -out leaf.csr -subj /CN=leaf
openssl x509 -req -in leaf.csr -CA "$1/ca.crt" -CAkey ca.key -CAcreateserial -days 1 -extfile san -out "$1/tls.crt"
"""
PATH = "/validate-nvidia-com-v1alpha1-dynamomodel"
MODEL = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": "m", "namespace": "default"},
         "spec": {"modelName": "llama", "baseModelName": "llama"}}


def configuration(bundle):
    """A Service, and a webhook configuration that points to it."""
    service = {"name": "hook", "namespace": "default", "path": PATH}
    hooks = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "models"},
             "webhooks": [{"name": "v.nvidia.com", "clientConfig": {"service": service, **({"caBundle": bundle} if bundle else {})},
                           "rules": [{"operations": ["CREATE"], "apiGroups": ["nvidia.com"], "apiVersions": ["v1alpha1"],
                                      "resources": ["dynamomodels"]}],
                           "sideEffects": "None", "admissionReviewVersions": ["v1"]}]}
    endpoint = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": "default"},
                "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443, "targetPort": 9443}]}}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [endpoint, hooks]})


class Serve(OnSandbox):
    def setUp(self):
        super().setUp()
        self.certs = self.folder / "certs"

    def make_certificates(self):
        made = self.folder / "made"
        made.mkdir()
        (self.folder / "san").write_text("subjectAltName=DNS:hook.default.svc,DNS:localhost\n")
        subprocess.run(["bash", "-c", SCRIPT, "bash", made], check=True, capture_output=True, cwd=self.folder)
        made.rename(self.certs)

    @contextlib.contextmanager
    def serving(self, *arguments):
        command = [FAIRLEAD, "webhook", "serve", "--cert-dir", str(self.certs), "--address", "127.0.0.1", "--port", "0", "--metrics-port", "0",
                   *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.env, cwd=self.folder) as process:
            try:
                self.probes = self.line(process, "started")["probes"]
                yield process
            finally:
                process.kill()

    def line(self, process, message):
        """The next line of the log with that message."""
        for text in process.stdout:
            line = json.loads(text)
            if line["message"] == message:
                return line
        raise AssertionError(f"the log ends before: {message}")

    def probe(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.probes}{path}", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def review(self, address, spec):
        request = {"uid": "u", "operation": "CREATE", "kind": {"group": "nvidia.com", "version": "v1alpha1", "kind": "DynamoModel"},
                   "resource": {"group": "nvidia.com", "version": "v1alpha1", "resource": "dynamomodels"}, "name": "m",
                   "namespace": "default", "userInfo": {"username": "jane"}, "object": {**MODEL, "spec": spec}}
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()
        url = f"https://localhost:{address.rpartition(':')[2]}{PATH}?timeout=10s"
        context = ssl.create_default_context(cafile=self.certs / "ca.crt")
        with urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"}), context=context,
                                    timeout=30) as answer:
            return json.load(answer)["response"], answer.headers

    def test_it_waits_for_certificates_and_answers_reviews(self):
        self.certs.mkdir()
        with self.serving("--drain", "0s") as process:
            self.line(process, "not ready")
            status, text = self.probe("/readyz")
            self.assertEqual((status, text), (503, f"there is no certificate yet: cannot read {self.certs}/tls.crt: No such file or directory\n"))
            self.certs.rmdir()
            self.make_certificates()
            address = self.line(process, "serving")["address"]
            self.line(process, "ready")
            self.assertEqual(self.probe("/readyz"), (200, "ok\n"))
            self.assertEqual(self.review(address, MODEL["spec"])[0], {"uid": "u", "allowed": True})
            denied = self.review(address, {})[0]
            self.assertFalse(denied["allowed"])
            self.assertEqual(self.line(process, "review")["decision"], "allowed")
            line = self.line(process, "review")
            del line["time"], line["milliseconds"]
            self.assertEqual(line.pop("cause"), denied["status"]["message"].replace("\n", "\\n"))
            self.assertEqual(line, {"level": "info", "message": "review", "path": PATH, "resource": "dynamomodels.nvidia.com",
                                    "version": "v1alpha1", "namespace": "default", "name": "m", "operation": "CREATE", "user": "jane",
                                    "decision": "denied"})
            self.assertIn(f'fairlead_webhook_reviews_total{{path="{PATH}",decision="denied"}} 1\n', self.probe("/metrics")[1])
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_it_is_ready_once_its_configuration_trusts_it(self):
        self.make_certificates()
        (self.folder / "models.json").write_text(configuration(""))
        self.fairlead("apply", "-f", "models.json", "--no-wait")
        with self.serving("--service", "hook", "--drain", "0s") as process:
            cause = "ValidatingWebhookConfiguration models, webhook v.nvidia.com has no caBundle yet"
            self.assertEqual(self.line(process, "not ready")["cause"], cause)
            self.assertEqual(self.probe("/readyz"), (503, cause + "\n"))
            bundle = base64.b64encode(pathlib.Path(self.certs / "ca.crt").read_bytes()).decode()
            (self.folder / "models.json").write_text(configuration(bundle))
            self.fairlead("apply", "-f", "models.json", "--no-wait")
            self.line(process, "ready")
            self.assertEqual(self.probe("/readyz"), (200, "ok\n"))

    def test_a_server_that_its_configuration_does_not_call_is_not_ready_and_takes_no_lease(self):
        self.make_certificates()
        bundle = base64.b64encode(pathlib.Path(self.certs / "ca.crt").read_bytes()).decode()
        with self.serving("--service", "hook", "--configuration", "models", "--restrict-to-namespace", "default", "--drain", "0s") as process:
            cause = "there is no ValidatingWebhookConfiguration or MutatingWebhookConfiguration models"
            self.assertEqual(self.line(process, "not ready")["cause"], cause)
            self.assertEqual(self.probe("/readyz"), (503, cause + "\n"))
            (self.folder / "models.json").write_text(configuration(bundle).replace('"name": "hook"', '"name": "other"'))
            self.fairlead("apply", "-f", "models.json", "--no-wait")
            self.assertEqual(self.line(process, "not ready")["cause"], "the webhook configuration models does not call Service default/hook")
            self.fairlead("wait", "lease/dynamo-operator-ns-lock", "-n", "default", "--for", "delete")
            (self.folder / "models.json").write_text(configuration(bundle))
            self.fairlead("apply", "-f", "models.json", "--no-wait")
            self.line(process, "ready")
            self.fairlead("wait", "lease/dynamo-operator-ns-lock", "-n", "default", "--for", "create")
            self.fairlead("delete", "validatingwebhookconfiguration/models", "--yes")
            self.assertEqual(self.line(process, "not ready")["cause"], cause)
            self.fairlead("wait", "lease/dynamo-operator-ns-lock", "-n", "default", "--for", "jsonpath={.spec.leaseDurationSeconds}=1")

    def test_it_makes_its_certificates_and_keeps_them(self):
        (self.folder / "models.json").write_text(configuration(""))
        self.fairlead("apply", "-f", "models.json", "--no-wait")
        asked = ("-n", "default", "--service", "hook", "--secret", "hook-cert")
        flags = ("--service", "hook", "--secret", "hook-cert", "--manage-certificates", "--configuration", "models", "--drain", "0s")
        with self.serving(*flags, "--cert-validity", "90d", "--cluster-domain", "example.local") as process:
            self.assertEqual(self.line(process, "serving")["from"], "Secret default/hook-cert")
            self.line(process, "ready")
            self.assertEqual(self.probe("/readyz"), (200, "ok\n"))
            self.assertIn('certificate_expiry_timestamp_seconds{certificate="ca"}', self.probe("/metrics")[1])
            shown = self.fairlead("certs", "show", *asked, "--cluster-domain", "example.local").stdout
            self.assertIn("hook.default.svc.example.local", shown)
            # A Secret that is deleted comes back as it was: whoever trusts the CA goes on trusting it.
            self.fairlead("delete", "secret/hook-cert", "-n", "default", "--yes")
            self.fairlead("wait", "secret/hook-cert", "-n", "default", "--for", "create")
            self.assertEqual(self.fairlead("certs", "show", *asked, "--cluster-domain", "example.local").stdout, shown)
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_it_stops_in_order_and_at_once_when_asked_twice(self):
        self.make_certificates()
        with self.serving("--drain", "10m") as process:
            address = self.line(process, "serving")["address"]
            self.line(process, "ready")
            process.send_signal(signal.SIGTERM)
            self.line(process, "stopping")
            self.assertEqual(self.probe("/readyz"), (503, "the server is stopping\n"))
            response, headers = self.review(address, MODEL["spec"])
            self.assertTrue(response["allowed"])
            self.assertEqual(headers["Connection"], "close")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), 128 + signal.SIGTERM)

    def test_a_stop_is_no_trouble(self):
        """The look at itself that the stop cuts off is not taken for a server that cannot be reached."""
        self.make_certificates()
        with self.serving("--drain", "0s") as process:
            self.line(process, "ready")
            process.terminate()
            self.assertEqual([json.loads(line)["message"] for line in process.stdout], ["stopping", "stopped"])

    def test_a_log_that_nobody_reads_does_not_stop_it(self):
        self.make_certificates()
        with self.serving("--drain", "0s") as process:
            address = self.line(process, "serving")["address"]
            self.line(process, "ready")
            # A pipe holds 64 KiB, which is some 250 lines.
            for _ in range(600):
                self.assertTrue(self.review(address, MODEL["spec"])[0]["allowed"])
            self.assertEqual(self.probe("/healthz")[0], 200)
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_a_log_whose_reader_is_gone_does_not_stop_it(self):
        self.make_certificates()
        with self.serving("--drain", "0s") as process:
            address = self.line(process, "serving")["address"]
            self.line(process, "ready")
            process.stdout.close()
            for _ in range(3):
                self.assertTrue(self.review(address, MODEL["spec"])[0]["allowed"])
                self.assertEqual(self.probe("/healthz")[0], 200)
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_wrong_command_lines_say_what_is_wrong(self):
        for words, message in ((("webhook",), "error: A subcommand is required\n"),
                               (("webhook", "serve"), "error: there is nowhere to take a certificate from\n"),
                               (("webhook", "serve", "--cert-dir", "x", "--client-ca-file", "nope"),
                                "error: --client-ca-file: nope cannot be read\n"),
                               (("webhook", "serve", "--cert-dir", "x", "--workers", "-1"), None),
                               (("webhook", "serve", "--cert-dir", "x", "--restrict-to-namespace", "A B"), None),
                               (("webhook", "serve", "--cert-dir", "x", "--drain", "soon"), None)):
            first = self.fairlead(*words, code=64).stderr.splitlines(True)[0]
            if message:
                self.assertEqual(first, message)

    def test_a_port_that_is_taken_is_an_error(self):
        self.make_certificates()
        with self.serving() as process:
            port = self.line(process, "serving")["address"].rpartition(":")[2]
            result = self.fairlead("webhook", "serve", "--cert-dir", "certs", "--address", "127.0.0.1", "--port", port, "--metrics-port", "0",
                                   code=1)
            self.assertIn(f"error: cannot listen on 127.0.0.1:{port}\n  because   Address already in use\n", result.stderr)


unittest.main()
