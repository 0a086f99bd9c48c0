"""The release binary in a root folder that holds nothing but itself, /etc/resolv.conf and a kubeconfig: no libraries, no shell, no root
certificates. The test runs in namespaces of its own, so that it can serve DNS on port 53; it needs no root where users may have those."""
import base64
import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import select
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"
INSIDE = "FAIRLEAD_IN_NAMESPACES"
ZONE = "ship.test"
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours"}, "data": {"sky": "blue"}}
# As a desktop has it: modules that are not inside the binary come first, and one of them would end the search.
NSSWITCH = "hosts: mymachines mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] files myhostname dns\n"


def raise_loopback():
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", 1)  # IFF_UP
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS


class Names:
    """A DNS server: every name of the zone is 127.0.0.1, and others do not exist."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        self.asked = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode())
                at += 1 + query[at]
            name, (kind, _) = ".".join(labels), struct.unpack("!HH", query[at + 1:at + 5])
            self.asked.append(name)
            is_known = name.endswith(f".{ZONE}")
            answers = [b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton("127.0.0.1")] if is_known and kind == 1 else []
            head = query[:2] + struct.pack("!HHHHH", 0x8180 if is_known else 0x8183, 1, len(answers), 0, 0)
            self.socket.sendto(head + query[12:at + 5] + b"".join(answers), peer)


class Proxy(socket.socket):
    """An HTTP proxy that takes CONNECT, and counts."""

    def __init__(self):
        super().__init__()
        self.bind(("127.0.0.1", 0))
        self.listen()
        self.targets = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.accept()
            threading.Thread(target=self.tunnel, args=(client,), daemon=True).start()

    def tunnel(self, client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        target = head.split()[1].decode()
        self.targets.append(target)
        with contextlib.suppress(ConnectionError), client, socket.create_connection(("127.0.0.1", int(target.rpartition(":")[2]))) as server:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            pair = {client: server, server: client}
            while True:
                for one in select.select(list(pair), [], [])[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    pair[one].sendall(data)


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(MANIFEST).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class EmptyRoot(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        raise_loopback()
        cls.names = Names()
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.root / "etc").mkdir()
        (cls.root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
        shutil.copy(FAIRLEAD, cls.root / "fairlead")
        cls.sandbox = cls.start_sandbox()
        cls.config = json.loads((cls.root / "kubeconfig").read_text())
        cls.port = int(cls.config["clusters"][0]["cluster"]["server"].rpartition(":")[2])

    @classmethod
    def start_sandbox(cls):
        process = subprocess.Popen([CHROOT, cls.root, "/fairlead", "sandbox", "--kubeconfig-file", "/kubeconfig"], stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(process.stdout.close)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.terminate)
        if not (line := process.stdout.readline()).startswith("sandbox at"):
            raise AssertionError(f"the sandbox does not start: {line}")
        return process

    def setUp(self):
        self.names.asked.clear()
        self.write("kubeconfig", self.config)
        self.write("colours.json", MANIFEST)

    def write(self, name, value):
        (self.root / name).write_text(value if isinstance(value, str) else json.dumps(value))

    def by_name(self, user=None):
        """A kubeconfig that names the API server, and perhaps another user."""
        config = json.loads(json.dumps(self.config))
        config["clusters"][0]["cluster"] |= {"server": f"https://api.{ZONE}:{self.port}", "tls-server-name": "localhost"}
        if user:
            config["users"][0]["user"] = user
        self.write("kubeconfig", config)

    def fairlead(self, *arguments, code=0, **environment):
        result = subprocess.run([CHROOT, self.root, "/fairlead", *arguments], capture_output=True, text=True, timeout=60,
                                env={"KUBECONFIG": "/kubeconfig"} | environment)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def apply_and_delete(self, **environment):
        self.assertIn("ConfigMap default/colours created", self.fairlead("apply", "-f", "/colours.json", **environment).stdout)
        self.assertIn("1 deleted", self.fairlead("delete", "-f", "/colours.json", "--yes", **environment).stdout)

    def test_nothing_else_is_there(self):
        with open(FAIRLEAD, "rb") as file:
            head = file.read(64)
            table, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
            file.seek(table)
            kinds = [struct.unpack_from("<I", file.read(size))[0] for _ in range(count)]
        self.assertNotIn(3, kinds, "the binary asks for a dynamic loader (PT_INTERP)")
        self.assertEqual(struct.unpack_from("<H", head, 16)[0], 3, "the binary has a fixed address: it is no PIE")
        self.assertEqual(sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file() and path.name != "plugin"),
                         ["colours.json", "etc/resolv.conf", "fairlead", "kubeconfig"])

    def test_apply_and_delete_in_a_sandbox(self):
        self.apply_and_delete()
        self.assertEqual(self.names.asked, [])

    def test_a_host_name_is_looked_up(self):
        self.by_name()
        self.apply_and_delete()
        self.assertIn(f"api.{ZONE}", self.names.asked)

    def test_modules_of_the_machine_are_not_asked_for_names(self):
        self.write("etc/nsswitch.conf", NSSWITCH)
        self.addCleanup((self.root / "etc/nsswitch.conf").unlink)
        self.test_a_host_name_is_looked_up()

    def test_a_name_that_does_not_exist(self):
        self.by_name()
        config = json.loads((self.root / "kubeconfig").read_text())
        config["clusters"][0]["cluster"]["server"] = "https://api.elsewhere.invalid:6443"
        self.write("kubeconfig", config)
        self.assertIn("no such host api.elsewhere.invalid", self.fairlead("apply", "-f", "/colours.json", code=1).stderr)

    def test_credentials_of_a_plugin(self):
        # It needs nothing of the root folder either. C and JSON write strings alike.
        user = self.config["users"][0]["user"]
        certificate, key = (base64.b64decode(user[f"client-{part}-data"]).decode() for part in ("certificate", "key"))
        answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                  "status": {"clientCertificateData": certificate, "clientKeyData": key}}
        source = self.root / "plugin.c"
        source.write_text(f"#include <stdio.h>\nint main(void) {{ puts({json.dumps(json.dumps(answer))}); }}\n")
        subprocess.run(["clang-19", "-static", "-O1", "-o", self.root / "plugin", source], check=True)
        source.unlink()
        self.by_name({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/plugin", "interactiveMode": "Never"}})
        self.apply_and_delete()
        (self.root / "plugin").unlink()
        self.assertIn("/plugin", self.fairlead("apply", "-f", "/colours.json", code=1).stderr)

    def test_a_proxy(self):
        proxy = Proxy()
        self.by_name()
        self.apply_and_delete(HTTPS_PROXY=f"http://proxy.{ZONE}:{proxy.getsockname()[1]}")
        self.assertEqual(set(proxy.targets), {f"api.{ZONE}:{self.port}"})
        self.assertEqual(set(self.names.asked), {f"proxy.{ZONE}"})

    def test_root_certificates(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                            "-subj", "/CN=files", "-addext", f"subjectAltName=DNS:files.{ZONE}", "-keyout", folder / "key", "-out", folder / "crt"],
                           check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder / "crt", folder / "key")
            shutil.copy(folder / "crt", self.root / "roots.pem")
        self.addCleanup((self.root / "roots.pem").unlink)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        with contextlib.closing(server.socket):
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            address = f"https://files.{ZONE}:{server.server_port}/colours.json"
            none = self.fairlead("apply", "-f", address, code=1).stderr
            self.assertIn("there are no root certificates on this system", none)
            self.assertIn("none was found in /etc/ssl/certs/ca-certificates.crt, /etc/pki/tls/certs/ca-bundle.crt,", none)
            self.assertIn("let SSL_CERT_FILE name a file", none)
            self.fairlead("apply", "-f", address, SSL_CERT_FILE="/roots.pem")
            self.fairlead("delete", "-f", address, "--yes", SSL_CERT_FILE="/roots.pem")


if __name__ == "__main__":
    if os.environ.get(INSIDE):
        unittest.main()
    # Root of the machine, or of a namespace of this user's own.
    mapped = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", *mapped, "--net", sys.executable, "-B", "-m", "tests.ship.chroot_test", *sys.argv[1:]])
