"""An API server as the scripts see it: plain HTTP requests with the credentials of a kubeconfig."""
import base64
import functools
import http.client
import json
import pathlib
import re
import ssl
import tempfile
import time
import urllib.parse


def value_in(kubeconfig, key):
    """The first value of that key: the kubeconfigs of our own clusters have one cluster and one user."""
    match = re.search(rf"""\b{key}["']?: *["']?([^"'\s,}}]+)""", kubeconfig)
    return match[1] if match else ""


class Unreachable(Exception):
    """The server gives no answer at all."""


def is_starting(status, text):
    """Whether the server asks to come again because its cache of that kind is not filled yet, as clients then do."""
    return status == 429 and "storage is (re)initializing" in text


class Server:
    def __init__(self, kubeconfig):
        text = pathlib.Path(kubeconfig).read_text()
        url = urllib.parse.urlparse(value_in(text, "server"))
        self.host, self.port = url.hostname, url.port
        token = value_in(text, "token")
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        authority = base64.b64decode(value_in(text, "certificate-authority-data")).decode()
        self.tls = ssl.create_default_context(cadata=authority)
        if value_in(text, "client-certificate-data"):
            with tempfile.NamedTemporaryFile() as pair:
                for key in ("client-certificate-data", "client-key-data"):
                    pair.write(base64.b64decode(value_in(text, key)) + b"\n")
                pair.flush()
                self.tls.load_cert_chain(pair.name)

    def connect(self, timeout=60):
        return http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)

    def request(self, method, path, body=None, headers=None):
        """Status, headers and body of the answer."""
        while True:
            status, answer_headers, text = self.request_once(method, path, body, headers)
            if not is_starting(status, text):
                return status, answer_headers, text
            time.sleep(float(answer_headers.get("Retry-After", 1)))

    def request_once(self, method, path, body, headers):
        connection = self.connect()
        try:
            payload = body.encode() if body else None
            connection.request(method, path, payload, {"Accept": "application/json", **self.headers, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{method} {path}: no answer from {self.host}:{self.port}: {error}") from error
        finally:
            connection.close()

    def json(self, method, path, body=None, headers=None):
        text = json.dumps(body) if body is not None else None
        sent = {"Content-Type": "application/json", **(headers or {})} if body is not None else headers
        status, _, answer = self.request(method, path, text, sent)
        return status, json.loads(answer) if answer.startswith("{") else answer

    def is_sandbox(self):
        return "sandbox" in self.json("GET", "/version")[1].get("gitVersion", "")

    @functools.cache
    def version(self):
        """The minor version, as people say it: "1.37"."""
        _, answer = self.json("GET", "/version")
        return f"{answer['major']}.{answer['minor'].rstrip('+')}"

    @functools.cache
    def user(self):
        """Who we are to the server."""
        _, answer = self.json("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                              {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
        return answer["status"]["userInfo"]["username"]
