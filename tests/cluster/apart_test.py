"""Test clusters are kept from other users of the machine, and those of tests that were killed are ended."""
import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import unittest

CLUSTER = str(pathlib.Path(__file__).resolve().parents[2] / "cluster" / "cluster")
FOLDER = pathlib.Path(os.environ["FAIRLEAD_CLUSTER_DIR"])
PKI = FOLDER / "pki"
NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]


def record():
    return json.loads((FOLDER / "record.json").read_text())


def cluster(*arguments):
    return subprocess.run([CLUSTER, *arguments], capture_output=True, text=True, timeout=300)


def ask_etcd(port, certificate=None):
    """The status of an answer, or why there is none."""
    trust = ssl.create_default_context(cafile=PKI / "etcd-ca.crt")
    if certificate:
        trust.load_cert_chain(PKI / f"{certificate}.crt", PKI / f"{certificate}.key")
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trust, timeout=20)
    try:
        connection.request("GET", "/version")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()


class Etcd(unittest.TestCase):
    def test_it_answers_the_api_server(self):
        self.assertEqual(ask_etcd(record()["ports"]["etcd"], "apiserver-etcd-client"), 200)

    def test_it_answers_nobody_else(self):
        """Not even those whom the API server lets in as its administrators."""
        for port in ("etcd", "etcd-peer"):
            for certificate in (None, "user", "admin"):
                with self.subTest(port=port, certificate=certificate):
                    answer = ask_etcd(record()["ports"][port], certificate)
                    self.assertIsInstance(answer, str, "an HTTP status")
                    self.assertNotIn("refused", answer, "nobody listens there")

    def test_it_speaks_no_plain_http(self):
        connection = http.client.HTTPConnection("127.0.0.1", record()["ports"]["etcd"], timeout=20)
        self.addCleanup(connection.close)
        try:
            connection.request("GET", "/version")
            self.assertEqual(connection.getresponse().status, 400)
        except (OSError, http.client.HTTPException):
            pass  # it hangs up


class Files(unittest.TestCase):
    def test_only_their_owner_gets_in(self):
        for path in (FOLDER, PKI, FOLDER / "tokens", pathlib.Path(record()["data"])):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        for path in [*PKI.glob("*.key"), *FOLDER.glob("**/*.kubeconfig")]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    @unittest.skipIf(os.getuid() or not shutil.which("setpriv"), "only root can become another user")
    def test_another_user_reads_nothing(self):
        for path in (FOLDER, record()["data"]):
            found = subprocess.run([*NOBODY, "find", path, "-mindepth", "1"], capture_output=True, text=True)
            self.assertEqual(found.stdout, "")
            self.assertIn("Permission denied", found.stderr)


class Abandoned(unittest.TestCase):
    def test_the_next_start_ends_the_cluster_of_a_test_that_was_killed(self):
        name = f"apart-{os.getpid()}"
        self.addCleanup(cluster, "down", "--name", name)
        with subprocess.Popen(["sleep", "600"]) as test:
            started = cluster("up", "--control-plane", "--name", name, "--owner", str(test.pid))
            self.assertEqual(started.returncode, 0, started.stderr)
            # Somebody else's start leaves it alone while its test is alive.
            self.assertNotIn(name, cluster("up", "--control-plane", "--api-servers", "2").stderr)
            self.assertEqual(cluster("status", "--name", name).returncode, 0)
            test.kill()
        processes = json.loads((FOLDER.parent / name / "record.json").read_text())["processes"]
        said = cluster("up", "--control-plane", "--api-servers", "2").stderr
        self.assertIn(f"ending the cluster {name}: process {test.pid}, which it was started for, has ended\n", said)
        self.assertIn("is not up", cluster("status", "--name", name).stderr)
        alive = [one["pid"] for one in processes.values() if pathlib.Path(f"/proc/{one['pid']}/exe").exists()]
        self.assertEqual(alive, [])

    def test_an_owner_that_does_not_exist(self):
        said = cluster("up", "--control-plane", "--name", f"apart-{os.getpid()}", "--owner", "4194305")
        self.assertEqual((said.returncode, said.stderr), (1, "error: there is no process 4194305 to own the cluster\n"))


if __name__ == "__main__":
    unittest.main()
