"""How pulumi starts, calls and ends the provider: the process, its port, its signals. Needs no pulumi."""
import json
import os
import signal
import socket
import subprocess
import unittest

from tests.grpc_wire import PREFACE, call

PROVIDER = os.environ["FAIRLEAD_PULUMI"]
# For what takes no time, on a machine that has none to spare.
LONG = 60
ENGINE = "127.0.0.1:1"


class PluginTest(unittest.TestCase):
    def start(self, *arguments: str) -> tuple[subprocess.Popen[str], str]:
        """The process, and the first line that it prints."""
        process = subprocess.Popen([PROVIDER, *arguments], stdout=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        assert process.stdout
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        return process, process.stdout.readline()

    def connect(self, port: int) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", port), LONG)
        self.addCleanup(connection.close)
        return connection

    def read_until(self, connection: socket.socket, wanted: bytes) -> bytes:
        answer = b""
        while wanted not in answer:
            piece = connection.recv(65536)
            self.assertTrue(piece, "the connection ended")
            answer += piece
        return answer

    def test_without_an_address_it_says_what_it_is(self) -> None:
        run = subprocess.run([PROVIDER], capture_output=True, text=True, timeout=LONG)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("is a plugin: pulumi starts it by itself", run.stderr)

    def test_it_prints_its_port_and_answers(self) -> None:
        process, line = self.start("-v=3", ENGINE)
        self.assertRegex(line, r"^\d+\n$")
        connection = self.connect(int(line))
        connection.sendall(PREFACE + call(1, "/pulumirpc.ResourceProvider/GetPluginInfo"))
        version = subprocess.run([PROVIDER, "--version"], capture_output=True, text=True, check=True, timeout=LONG)
        self.read_until(connection, version.stdout.split()[1].encode())
        connection.sendall(call(3, "/pulumirpc.ResourceProvider/Cancel") + call(5, "/pulumirpc.ResourceProvider/GetSchema"))
        self.read_until(connection, b"fairlead:index:KubeObject")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LONG), 0)

    def test_it_ends_when_the_program_that_started_it_is_gone(self) -> None:
        with subprocess.Popen(["sh", "-c", '"$0" "$1" & wait', PROVIDER, ENGINE], stdout=subprocess.PIPE, text=True) as shell:
            assert shell.stdout
            self.assertRegex(shell.stdout.readline(), r"^\d+\n$")
            shell.kill()
            # The end of standard output: nobody has it open any more.
            self.assertEqual(shell.stdout.read(), "")

    def test_debug_tells_how_to_attach(self) -> None:
        process, _ = self.start("--debug")
        assert process.stdout
        line = ""
        while "PULUMI_DEBUG_PROVIDERS=fairlead:" not in line:
            line = process.stdout.readline()
            self.assertTrue(line, "it ended")
        self.connect(int(line.rsplit(":", 1)[1]))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LONG), 0)

    def test_the_schema_is_that_of_a_package(self) -> None:
        run = subprocess.run([PROVIDER, "--schema"], capture_output=True, text=True, check=True, timeout=LONG)
        schema = json.loads(run.stdout)
        self.assertEqual(sorted(schema["resources"]), ["fairlead:index:Bundle", "fairlead:index:KubeObject", "fairlead:index:Wait"])
        self.assertEqual(sorted(schema["functions"]), ["fairlead:index:getGuards", "fairlead:index:getObject", "fairlead:index:getWebhook"])
        references = {found for found in run.stdout.split('"') if found.startswith("#/types/")}
        self.assertEqual({found.removeprefix("#/types/") for found in references}, set(schema["types"]))


if __name__ == "__main__":
    unittest.main()
