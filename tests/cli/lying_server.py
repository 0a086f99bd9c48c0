"""A server between Fairlead and a sandbox that means no good: it passes requests on, but for those that it lies about."""
import http.client
import http.server
import json
import os
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable

from tests.scripts.server import Server

FAIRLEAD = os.environ["FAIRLEAD"]


class Handler(http.server.BaseHTTPRequestHandler):
    server: "LyingServer"
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size) if size else None
        lie = self.server.lie
        try:
            if not lie or not lie(self, self.command, self.path):
                self.pass_on(body)
        except OSError:
            self.close_connection = True  # the client had enough

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def pass_on(self, body):
        connection = self.server.upstream.connect(timeout=None)
        self.server.connections.append(connection)
        headers = {name: value for name, value in self.headers.items()
                   if name.lower() not in ("host", "connection", "accept-encoding", "authorization")}
        connection.request(self.command, self.path, body, {**headers, **self.server.upstream.headers})
        answer = connection.getresponse()
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name.lower() in ("content-type", "warning", "date", "retry-after"):
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while piece := answer.read1(65536):
            self.send_piece(piece)
        self.send_piece(b"")
        connection.close()

    def send_piece(self, piece):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.flush()

    # What lies are made of.
    def begin(self, status=200, headers=()):
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def answer(self, value, status=200, headers=()):
        self.begin(status, headers)
        self.send_piece(json.dumps(value).encode())
        self.send_piece(b"")
        return True

    def say_nothing(self):
        """Until the other side hangs up."""
        self.server.silent.set()
        while self.connection.recv(65536):
            pass
        self.close_connection = True
        return True

    def log_message(self, *_):
        pass


class LyingServer(http.server.ThreadingHTTPServer):
    """Of its lie it expects a function of the request's handler, method and path that returns whether it has answered."""
    daemon_threads = True
    request_queue_size = 100

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lie: Callable | None = None
        self.connections: list[http.client.HTTPConnection] = []
        self.silent = threading.Event()
        self.folder = tempfile.TemporaryDirectory()
        kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        self.sandbox = subprocess.Popen([FAIRLEAD, "sandbox", "--kubeconfig-file", str(kubeconfig)],
                                        stdout=subprocess.PIPE, text=True)
        self.sandbox.stdout.readline()
        self.upstream = Server(kubeconfig)
        self.address = f"https://127.0.0.1:{self.server_address[1]}"
        self.socket = self.own_tls().wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def own_tls(self):
        """A certificate of its own, which nobody trusts: http/1.1 is all that it speaks."""
        key, certificate = (str(pathlib.Path(self.folder.name) / name) for name in ("key.pem", "certificate.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", "/CN=liar", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        return tls

    def handle_error(self, *_):
        pass

    def end(self):
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            if connection.sock:
                connection.sock.shutdown(socket.SHUT_RDWR)
        self.sandbox.terminate()
        self.sandbox.wait()
        self.sandbox.stdout.close()
        self.folder.cleanup()
