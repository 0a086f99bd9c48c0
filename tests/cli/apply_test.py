"""fairlead apply on a real control plane, as a user would use it."""
import http.server
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]
KUBECTL = pathlib.Path(os.environ["FAIRLEAD_CLUSTER_BIN"]) / "kubectl"


def run(*argv, stdin="", **more):
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=120, **more)


def fairlead(*arguments, stdin=""):
    return run(FAIRLEAD, "apply", *arguments, stdin=stdin)


def config_map(name, namespace="", **data):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def documents(*objects):
    return "\n---\n".join(json.dumps(one) for one in objects)


class Apply(unittest.TestCase):
    def setUp(self):
        self.namespace = f"apply-{self.id().rsplit('.')[-1].replace('_', '-')[:40]}-{os.getpid()}"
        run(KUBECTL, "create", "namespace", self.namespace, check=True)
        self.addCleanup(run, KUBECTL, "delete", "namespace", self.namespace, "--wait=false")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def names(self):
        found = run(KUBECTL, "-n", self.namespace, "get", "configmaps", "-o", "name", check=True).stdout.split()
        return sorted(name.removeprefix("configmap/") for name in found if "kube-root-ca" not in name)

    def test_a_line_an_object_in_the_order_given(self):
        objects = [config_map(f"cm-{number}") for number in range(20)]
        result = fairlead("-n", self.namespace, "-f", "-", stdin=documents(*objects))
        self.assertEqual(result.returncode, 0, result.stderr)
        expected = [f"ConfigMap {self.namespace}/cm-{number} created" for number in range(20)]
        self.assertEqual(result.stdout.splitlines()[:-1], expected)
        self.assertRegex(result.stdout.splitlines()[-1], r"^20 created in \d+\.\ds, with 22 requests$")
        self.assertEqual(len(self.names()), 20)

    def test_folders_lists_and_several_sources(self):
        (self.folder / "deep").mkdir()
        (self.folder / "a.yaml").write_text(documents({"apiVersion": "v1", "kind": "List", "items": [config_map("in-list")]}))
        (self.folder / "deep/b.json").write_text(json.dumps(config_map("deep")))
        (self.folder / "ignored.txt").write_text("no manifest")
        self.assertEqual(fairlead("-n", self.namespace, "-f", str(self.folder)).returncode, 0)
        self.assertEqual(self.names(), ["in-list"])
        self.assertEqual(fairlead("-n", self.namespace, "-R", "-f", str(self.folder), "-f", "-",
                                  stdin=json.dumps(config_map("stdin"))).returncode, 0)
        self.assertEqual(self.names(), ["deep", "in-list", "stdin"])

    def test_an_address(self):
        text = json.dumps(config_map("fetched")).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(302 if self.path == "/moved" else 200)
                if self.path == "/moved":
                    self.send_header("Location", "/manifest.yaml?raw=true")
                self.end_headers()
                if self.path != "/moved":
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = fairlead("-n", self.namespace, "-f", f"http://127.0.0.1:{server.server_address[1]}/moved")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.names(), ["fetched"])

    def test_what_is_refused_does_not_stop_the_others(self):
        refused = config_map("no-such-namespace", namespace="nowhere-at-all")
        unknown = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
        path = self.folder / "app.yaml"
        path.write_text(documents(refused, unknown, config_map("fine", self.namespace)))
        result = fairlead("-f", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.names(), ["fine"])
        self.assertEqual(result.stderr, f"""\
error: ConfigMap nowhere-at-all/no-such-namespace was not accepted
  because   namespace nowhere-at-all does not exist
  because   the API server answered 404: namespaces "nowhere-at-all" not found
  from      {path}:1
  next      kubectl create namespace nowhere-at-all
error: Widget w was not sent
  because   the cluster does not serve kind Widget in example.com/v1
  because   it serves nothing of group example.com
  from      {path}:3
  next      kubectl api-resources --api-group=example.com
""")

    def test_mistakes_are_found_before_anything_is_sent(self):
        twice = documents(config_map("x"), config_map("x", self.namespace))
        result = fairlead("-n", self.namespace, "-f", "-", stdin=twice)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.names(), [])
        contradiction = fairlead("-n", self.namespace, "-f", "-", stdin=json.dumps(config_map("x", "elsewhere")))
        self.assertEqual(contradiction.returncode, 1)
        self.assertIn("is not for the namespace that was asked for", contradiction.stderr)

    def test_conflicts_have_an_exit_code_of_their_own(self):
        run(KUBECTL, "-n", self.namespace, "apply", "--server-side", "-f", "-", stdin=json.dumps(config_map("x", a="1")), check=True)
        mine = json.dumps(config_map("x", a="2"))
        result = fairlead("-n", self.namespace, "-f", "-", stdin=mine)
        self.assertEqual(result.returncode, 4)
        self.assertIn("kubectl", result.stderr)
        self.assertEqual(fairlead("-n", self.namespace, "-f", "-", "--force-conflicts", stdin=mine).returncode, 0)

    def test_dry_run_stores_nothing(self):
        result = fairlead("-n", self.namespace, "-f", "-", "--dry-run=server", stdin=json.dumps(config_map("x")))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("created (dry run)", result.stdout)
        self.assertEqual(self.names(), [])

    def test_output_for_machines(self):
        text = documents(config_map("x"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}, "dat": {}})
        lines = [json.loads(line) for line in
                 fairlead("-n", self.namespace, "-f", "-", "-o", "jsonl", stdin=text).stdout.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["object", "object", "summary"])
        self.assertEqual([line.get("outcome") for line in lines], ["created", "refused", None])
        self.assertEqual((lines[2]["created"], lines[2]["refused"]), (1, 1))
        document = json.loads(fairlead("-n", self.namespace, "-f", "-", "-o", "json", stdin=text).stdout)
        self.assertEqual([one["outcome"] for one in document["objects"]], ["applied", "refused"])
        self.assertEqual(fairlead("-n", self.namespace, "-f", "-", "-o", "quiet", stdin=documents(config_map("z"))).stdout, "")

    def test_verbosity_shows_requests_and_no_secrets(self):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}
        result = fairlead("-n", self.namespace, "-f", "-", "-v", "6", stdin=json.dumps(secret))
        self.assertRegex(result.stderr, r"PATCH /api/v1/namespaces/\S+/secrets/s\?\S+ 201 in \d+ ms")
        self.assertNotIn("hunter2", result.stderr + result.stdout)

    def test_interrupted(self):
        objects = documents(*(config_map(f"cm-{number:05}") for number in range(5000)))
        process = subprocess.Popen([FAIRLEAD, "apply", "-n", self.namespace, "-f", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: (process.stdin.write(objects), process.stdin.close()), daemon=True).start()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertRegex(rest.splitlines()[-1], r"not sent in")
        self.assertIn("error: interrupted", process.stderr.read())
        process.stdout.close()
        process.stderr.close()


unittest.main()
