"""Webhooks that the scripts register: HTTPS servers that record what they are asked and answer as they are told."""
import base64
import functools
import http.server
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading
import time

MAKING = threading.Lock()


@functools.cache
def certificate_of_this_run():
    """A certificate for 127.0.0.1 that is its own authority: the TLS context that serves it, and its base64."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = pathlib.Path(folder, "tls.crt"), pathlib.Path(folder, "tls.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=scripts",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context, base64.b64encode(certificate.read_bytes()).decode()


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # the API server hangs up on webhooks that take too long


class Allowing(http.server.BaseHTTPRequestHandler):
    """Answers reviews: it allows everything."""
    protocol_version = "HTTP/1.1"

    def reviewed(self, request):
        """Called before the answer to `request` is sent; returns the HTTP status of the answer."""
        return 200

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.reviewed(review["request"])
        answer = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"],
                             "response": {"uid": review["request"]["uid"], "allowed": True}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Webhooks:
    """Those of one script, on one port: a path each. They serve with the certificate of this run, or with another context; with None,
    without TLS."""

    def __init__(self, address=("127.0.0.1", 0), context=...):
        with MAKING:
            own, self.ca = certificate_of_this_run()
        self.behaviours, self.calls = {}, {}
        self.lock = threading.Lock()
        self.server = HttpServer(address, self.handler())
        if context is not None:
            # The handshake happens in the thread of the request, so that one that hangs holds up nobody else.
            self.server.socket = (own if context is ... else context).wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def set(self, name, behaviour):
        with self.lock:
            self.behaviours[name] = behaviour
            self.calls.setdefault(name, [])

    def url(self, name):
        port = 1 if self.behaviours[name].get("listen") is False else self.server.server_address[1]
        return f"https://127.0.0.1:{port}/{name}"

    def take_calls(self, name):
        with self.lock:
            calls, self.calls[name] = self.calls[name], []
            return calls

    def forget_calls(self):
        for name in list(self.behaviours):
            self.take_calls(name)

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, review):
        """HTTP status and body; no status to hang up."""
        name, _, below = path.partition("/")
        with self.lock:
            behaviour = self.behaviours.get(name, {"status": 404, "body": "no such webhook"})
            self.calls.setdefault(name, []).append({"path": below, **review} if below else review)
        time.sleep(behaviour.get("delay", 0))
        if "status" in behaviour:
            return behaviour["status"], behaviour.get("body", "")
        request = review.get("request", {})
        response = {"uid": request.get("uid")}
        if "convert" in behaviour:
            changes = {"apiVersion": request.get("desiredAPIVersion"), **behaviour["convert"]}
            objects = [item | changes for item in request["objects"]]
            response |= {"result": {"status": "Success"}, "convertedObjects": objects}
        else:
            response["allowed"] = True
        response |= behaviour.get("response", {})
        if isinstance(response.get("patch"), list):
            patch = json.dumps(response["patch"]).encode()
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
        answer = {"apiVersion": review.get("apiVersion"), "kind": review.get("kind"), "response": response}
        return 200, json.dumps(answer | behaviour.get("review", {}))

    def handler(self):
        webhooks = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                status, body = webhooks.answer(self.path.split("?")[0].strip("/"), review)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        return Handler
