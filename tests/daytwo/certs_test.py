"""fairlead certs on a real API server: two rotations while a webhook serves with what is stored, and no request fails."""
import base64
import os
import ssl
import threading
import time
import unittest

from tests.daytwo.daytwo import FAIRLEAD, DayTwo, documents, kubectl, named, own_address, run
from tests.scripts.server import Server
from tests.scripts.webhooks import Allowing, HttpServer


class Counting(Allowing):
    """Counts reviews. Each answer ends its connection, so that each request needs a handshake of its own."""
    protocol_version = "HTTP/1.0"

    def reviewed(self, request):
        self.server.reviews += 1
        return super().reviewed(request)


class Certs(DayTwo):
    def setUp(self):
        super().setUp()
        self.api = Server(os.environ["KUBECONFIG"])
        self.stopped = threading.Event()
        self.threads = []
        self.addCleanup(self.stop)
        self.served = ""
        self.failures, self.requests = [], 0
        self.current = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.addCleanup(kubectl, "delete", "validatingwebhookconfiguration", self.home, "--ignore-not-found")

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def start(self, target):
        self.threads.append(threading.Thread(target=target))
        self.threads[-1].start()

    def certs(self, command):
        targets = [] if command == "ensure" else ["--webhook", self.home]
        result = run(FAIRLEAD, "certs", command, "--service", "hook", "--secret", "hook-cert", *targets, timeout=400, env=self.env)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def follow_secret(self):
        """As a server with a watch would: whatever is stored is served soon."""
        while not self.stopped.wait(0.2):
            self.load()

    def load(self):
        data = self.api.json("GET", f"/api/v1/namespaces/{self.home}/secrets/hook-cert")[1]["data"]
        if data["tls.crt"] == self.served:
            return
        for key in ("tls.crt", "tls.key"):
            (self.folder / key).write_bytes(base64.b64decode(data[key]))
        # Never changed in place: a handshake could see the new certificate with the old key.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")
        self.current = context
        self.served = data["tls.crt"]

    def ask(self):
        """Sends requests that fail unless the API server trusts the webhook."""
        while not self.stopped.is_set():
            status, answer = self.create()
            self.requests += 1
            if status != 201:
                self.failures.append(answer.get("message", status))

    def create(self):
        return self.api.json("POST", f"/api/v1/namespaces/{self.home}/configmaps?dryRun=All",
                             named("v1", "ConfigMap", "probe", self.home), {"Content-Type": "application/json"})

    def serve(self):
        server = HttpServer(("", 0), Counting)
        server.reviews = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")
        context.sni_callback = lambda connection, *_: setattr(connection, "context", self.current)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def register(self, port):
        hook = {"name": f"guard.{self.home}.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
                "clientConfig": {"service": {"namespace": self.home, "name": "hook", "port": port}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.home}}}
        objects = [named("v1", "Service", "hook", self.home, spec={"type": "ExternalName", "externalName": "localhost"}),
                   named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", self.home, webhooks=[hook])]
        if own_address():
            objects.append(named("discovery.k8s.io/v1", "EndpointSlice", "hook", self.home, addressType="IPv4",
                                 metadata={"labels": {"kubernetes.io/service-name": "hook"}}, ports=[{"port": port}],
                                 endpoints=[{"addresses": [own_address()]}]))
        kubectl("create", "-f", "-", stdin=documents(*objects))

    def test_two_rotations_without_a_failed_request(self):
        self.certs("ensure")
        self.load()
        server = self.serve()
        self.register(server.server_address[1])
        self.assertIn("caBundle injected", self.certs("inject"))
        deadline = time.monotonic() + 60
        while self.create()[0] != 201:
            self.assertLess(time.monotonic(), deadline, self.create())
            time.sleep(0.1)
        self.start(self.follow_secret)
        self.start(self.ask)
        seen = {self.served}
        for _ in range(2):
            output = self.certs("rotate")
            self.assertNotIn("cannot be proved", output if own_address() else "")
            seen.add(self.served)
        self.certs("verify")
        self.stop()
        self.assertEqual(self.failures, [])
        self.assertEqual(len(seen), 3)
        self.assertGreater(self.requests, 20)
        self.assertGreaterEqual(server.reviews, self.requests)


unittest.main()
