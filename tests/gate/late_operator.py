"""An operator on this machine whose webhook comes late, and a gate beside it: both as processes that a real API server calls."""
import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from tests.daytwo.daytwo import FAIRLEAD, kubectl, named, own_address
from tests.rollout.late_webhook import certificate
from tests.scripts.webhooks import Allowing, HttpServer


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


class Reviews(Allowing):
    """Remembers the names that it was asked about when it was no dry run."""

    def reviewed(self, request):
        if not request.get("dryRun"):
            self.server.names.add(request.get("name", ""))
        return super().reviewed(request)


class CrowdedServer(HttpServer):
    # All who were held come at once.
    request_queue_size = 1024


class LateOperator:
    """A CRD, a Service, and a webhook for the CRD's objects that does not listen before listen() is called."""

    def __init__(self, namespace, folder, policy="Fail"):
        self.namespace, self.policy, self.port = namespace, policy, free_port()
        self.servers: list = []
        self.group = f"{namespace}.fairlead.dev"
        self.names: set = set()
        pem, key = certificate(f"hook.{namespace}.svc")
        self.authority = base64.b64encode(pem).decode()
        self.files = [folder / "hook.crt", folder / "hook.key"]
        self.files[0].write_bytes(pem)
        self.files[1].write_bytes(key)

    def definition(self):
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{self.group}", spec={
            "group": self.group, "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}]})

    def service(self):
        return named("v1", "Service", "hook", self.namespace, spec={"ports": [{"port": 443, "targetPort": self.port}]})

    def endpoints(self):
        return named("discovery.k8s.io/v1", "EndpointSlice", "hook-1", self.namespace,
                     metadata={"labels": {"kubernetes.io/service-name": "hook"}}, addressType="IPv4",
                     endpoints=[{"addresses": [own_address()], "conditions": {"ready": True}}],
                     ports=[{"name": "", "port": self.port, "protocol": "TCP"}])

    def configuration(self):
        hook = {"name": f"hook.{self.group}", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "failurePolicy": self.policy, "timeoutSeconds": 5,
                "clientConfig": {"service": {"name": "hook", "namespace": self.namespace, "path": "/check"},
                                 "caBundle": self.authority},
                "rules": [{"apiGroups": [self.group], "apiVersions": ["v1"], "resources": ["widgets"],
                           "operations": ["CREATE", "UPDATE"]}]}
        return named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", self.namespace, webhooks=[hook])

    def objects(self):
        return [self.definition(), self.service(), self.endpoints(), self.configuration()]

    def widget(self, name):
        return named(f"{self.group}/v1", "Widget", name, self.namespace, spec={"size": 3})

    def addresses(self):
        """That of its endpoint, and that of its Service: there is no kube-proxy, but API servers call that one."""
        service = json.loads(kubectl("get", "service", "hook", "-n", self.namespace, "-o", "json"))
        return [(service["spec"]["clusterIP"], 443), (own_address(), self.port)]

    def listen(self):
        for address in self.addresses():
            server = CrowdedServer(address, Reviews)
            server.names = self.names
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.files)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            self.servers.append(server)

    def listen_after(self, seconds):
        def wait():
            time.sleep(seconds)
            self.listen()
        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class Writer:
    """One connection that is kept, as clients keep theirs."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connect(timeout=400)
        self.text = b""  # of the last answer

    def post(self, path, body):
        """How long it took, the status, and the header Retry-After."""
        begun = time.perf_counter()
        self.connection.request("POST", path, body, {"Content-Type": "application/json", **self.server.headers})
        answer = self.connection.getresponse()
        self.text = answer.read()
        return time.perf_counter() - begun, answer.status, float(answer.headers.get("Retry-After", 0))

    def persist(self, path, body):
        """As clients of client-go: comes again up to ten times."""
        status = 0
        for _ in range(11):
            try:
                _, status, pause = self.post(path, body)
            except (http.client.HTTPException, OSError) as error:
                self.text = repr(error).encode()
                return 0
            if status != 429:
                return status
            time.sleep(pause)
        return status


class HostGate:
    """`fairlead gate serve` as a process of this machine, which the API server calls by a url. What it does not gate is its own
    namespace, which therefore is another one than that of the tests."""

    def __init__(self, name, folder, *flags, env=None, drain="0s", metrics_port=0):
        self.name, self.port, self.env = f"gate-{name}"[:60], free_port(), env
        self.folder = folder / "gate"
        self.folder.mkdir(exist_ok=True)
        self.log = tempfile.TemporaryFile("w+")
        self.certify()
        self.arguments = [FAIRLEAD, "gate", "serve", "-n", "default", "--name", self.name, "--url",
                          f"https://127.0.0.1:{self.port}", "--address", "127.0.0.1", "--port", str(self.port),
                          "--metrics-port", str(metrics_port), "--cert-dir", str(self.folder), "--drain", drain, *flags]
        self.process = None
        self.probes = ""

    def certify(self):
        commands = [
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", "/CN=gate CA", "-days", "2",
             "-keyout", "ca.key", "-out", "ca.crt"],
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", "/CN=gate", "-days", "2",
             "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
             "-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", "tls.key", "-out", "tls.crt"]]
        for command in commands:
            subprocess.run(["openssl", *command], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)

    def start(self):
        self.log.seek(0)
        self.log.truncate()
        self.process = subprocess.Popen(self.arguments, stdout=self.log, env=self.env)
        for _ in range(300):
            self.log.seek(0)
            line = self.log.readline()
            if line.endswith("\n"):
                self.probes = json.loads(line)["probes"].rpartition(":")[2]
                return
            time.sleep(0.1)
        raise AssertionError("the gate does not start")

    def ask(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.probes}{path}", timeout=5) as response:
            return response.read().decode()

    def await_ready(self):
        for _ in range(300):
            try:
                if self.ask("/readyz") == "ok\n":
                    return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.1)
        raise AssertionError("the gate does not become ready: " + self.text())

    def status(self):
        return json.loads(self.ask("/status"))

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def kill(self, number=signal.SIGKILL):
        if self.process:
            os.kill(self.process.pid, number)

    def close(self):
        if self.process:
            self.kill(signal.SIGKILL)
            self.process.wait()
        self.log.close()
