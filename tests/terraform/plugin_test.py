"""How terraform starts, calls and ends the provider: the process, its handshake, its signals. Needs no terraform."""
import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from tests.grpc_wire import PREFACE, call

PROVIDER = os.environ["FAIRLEAD_PROVIDER"]
COOKIE = {"TF_PLUGIN_MAGIC_COOKIE": "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"}
# For what takes no time, on a machine that has none to spare.
LONG = 60


class Plugin:
    """A provider that was started as terraform does it."""

    def __init__(self, folder: str, variables: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL) -> None:
        environment = {**os.environ, **COOKIE, "TMPDIR": folder, **(variables or {})}
        self.process = subprocess.Popen([PROVIDER], env=environment, stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.line = self.process.stdout.readline().rstrip("\n")

    def end(self) -> int:
        self.process.terminate()
        self.process.communicate(timeout=LONG)
        return self.process.returncode


class PluginTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="fairlead-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, variables: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL) -> Plugin:
        plugin = Plugin(self.folder, variables, stdin)
        self.addCleanup(plugin.process.wait)
        self.addCleanup(plugin.process.kill)
        for pipe in (plugin.process.stdout, plugin.process.stderr):
            assert pipe
            self.addCleanup(pipe.close)
        return plugin

    def client_certificate(self) -> tuple[str, str]:
        """As terraform makes one: its own authority, with a key on P-521."""
        certificate, key = f"{self.folder}/client.pem", f"{self.folder}/client.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-521", "-nodes",
                        "-subj", "/O=HashiCorp/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-addext", "keyUsage=critical,digitalSignature,keyEncipherment,keyAgreement,keyCertSign",
                        "-addext", "extendedKeyUsage=clientAuth,serverAuth", "-days", "1",
                        "-out", certificate, "-keyout", key], check=True, capture_output=True)
        return certificate, key

    def connect(self, plugin: Plugin, client: tuple[str, str] | None) -> ssl.SSLSocket:
        fields = plugin.line.split("|")
        context = ssl.create_default_context(
            cadata=base64.b64decode(fields[5] + "=" * (-len(fields[5]) % 4)))
        context.verify_flags |= ssl.VerifyFlags(0x80000)  # a root that is no authority, as Go has it
        context.set_alpn_protocols(["h2"])
        if client:
            context.load_cert_chain(*client)
        plain = socket.socket(socket.AF_UNIX)
        self.addCleanup(plain.close)
        plain.settimeout(LONG)
        plain.connect(fields[3])
        return context.wrap_socket(plain, server_hostname="localhost")

    def test_without_the_cookie_it_says_what_it_is(self) -> None:
        run = subprocess.run([PROVIDER], capture_output=True, text=True, timeout=LONG)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("is a plugin: terraform and tofu start it by themselves", run.stderr)

    def test_the_handshake(self) -> None:
        plugin = self.start()
        core, protocol, network, path, kind, certificate = plugin.line.split("|")
        self.assertEqual((core, protocol, network, kind, certificate), ("1", "6", "unix", "grpc", ""))
        self.assertTrue(os.path.exists(path))
        self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
        self.assertEqual(plugin.end(), 0)
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_calls_over_tls_until_shutdown(self) -> None:
        client = self.client_certificate()
        with open(client[0], encoding="ascii") as file:
            plugin = self.start({"PLUGIN_CLIENT_CERT": file.read(), "PLUGIN_PROTOCOL_VERSIONS": "5,6"})
        with self.connect(plugin, client) as secure:
            self.assertEqual(secure.selected_alpn_protocol(), "h2")
            secure.sendall(PREFACE + call(1, "/grpc.health.v1.Health/Check", b"\x0a\x06plugin"))
            answer = b""
            serving = b"\0\0\0\0\2\x08\1"
            while serving not in answer:
                piece = secure.recv(65536)
                self.assertTrue(piece, "the connection ended")
                answer += piece
            secure.sendall(call(3, "/plugin.GRPCController/Shutdown"))
            while secure.recv(65536):
                pass
        self.assertEqual(plugin.process.wait(LONG), 0)

    def test_a_stranger_is_turned_away(self) -> None:
        client = self.client_certificate()
        with open(client[0], encoding="ascii") as file:
            plugin = self.start({"PLUGIN_CLIENT_CERT": file.read()})
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            with self.connect(plugin, None) as secure:
                secure.sendall(PREFACE)
                while secure.recv(65536):
                    pass
                raise ConnectionError
        with self.connect(plugin, client) as secure:
            self.assertEqual(secure.selected_alpn_protocol(), "h2")

    def test_an_older_protocol_is_an_error(self) -> None:
        run = subprocess.run([PROVIDER], env={**os.environ, **COOKIE, "PLUGIN_PROTOCOL_VERSIONS": "4,5"},
                             capture_output=True, text=True, timeout=LONG)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertEqual(run.stderr,
                         "error: the program that started this plugin does not speak version 6 of the protocol\n"
                         "  because   it speaks 4,5\n  next      use terraform 1.0 or newer, or tofu\n")

    def test_ctrl_c_is_for_terraform_and_standard_input_is_left_alone(self) -> None:
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        os.write(theirs, b"typed")
        os.close(theirs)
        plugin = self.start(stdin=ours)
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGHUP):
            plugin.process.send_signal(number)
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(LONG)
            plain.connect(plugin.line.split("|")[3])
            plain.sendall(PREFACE + call(1, "/grpc.health.v1.Health/Check"))
            self.assertTrue(plain.recv(65536))
        self.assertEqual(plugin.end(), 0)
        self.assertEqual(os.read(ours, 100), b"typed")

    def test_it_ends_when_the_program_that_started_it_is_gone(self) -> None:
        script = '"$0" & echo $!; wait'
        with subprocess.Popen(["sh", "-c", script, PROVIDER], env={**os.environ, **COOKIE, "TMPDIR": self.folder},
                              stdout=subprocess.PIPE, text=True) as shell:
            assert shell.stdout
            lines = sorted([shell.stdout.readline(), shell.stdout.readline()], key=lambda line: "|" in line)
            shell.kill()
            # The end of standard output: nobody has it open any more.
            self.assertEqual(shell.stdout.read(), "")
        self.assertFalse(os.path.exists(lines[1].split("|")[3]))

    def test_debug_tells_how_to_attach(self) -> None:
        with subprocess.Popen([PROVIDER, "--debug"], env={**os.environ, "TMPDIR": self.folder}, text=True,
                              stdout=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            assert process.stdout
            line = ""
            while "TF_REATTACH_PROVIDERS" not in line:
                line = process.stdout.readline()
                self.assertTrue(line, "it ended")
            plugins = json.loads(line.split("=", 1)[1].strip().strip("'"))
            self.assertEqual(list(plugins),
                             ["registry.terraform.io/fairlead/fairlead", "registry.opentofu.org/fairlead/fairlead"])
            for plugin in plugins.values():
                self.assertEqual((plugin["Protocol"], plugin["ProtocolVersion"], plugin["Pid"], plugin["Test"]),
                                 ("grpc", 6, process.pid, True))
                self.assertTrue(os.path.exists(plugin["Addr"]["String"]))
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(LONG), 0)


if __name__ == "__main__":
    unittest.main()
