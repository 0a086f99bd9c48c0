"""fairlead apply on a real control plane, as a user would use it."""
import base64
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

    def test_many_objects_are_one_line(self):
        objects = [config_map(f"cm-{number}") for number in range(20)]
        result = fairlead("-n", self.namespace, "-f", "-", stdin=documents(*objects))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"\Acreated 20 ConfigMaps in {self.namespace}\n20 created in \d+\.\ds\n\Z")

    def test_a_line_an_object(self):
        objects = [config_map(f"cm-{number}") for number in range(20)]
        result = fairlead("-n", self.namespace, "-f", "-", "--all", "-v", "1", stdin=documents(*objects))
        self.assertEqual(result.returncode, 0, result.stderr)
        expected = [f"ConfigMap {self.namespace}/cm-{number} created" for number in range(20)]
        self.assertCountEqual(result.stdout.splitlines()[:-1], expected)
        # Discovery is two requests, the state of the cluster is seven or eight.
        self.assertRegex(result.stdout.splitlines()[-1], r"^20 created in \d+\.\ds, with (29|30|31|32|33) requests$")
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

        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers.get("Authorization")))
                here = self.headers["Host"]
                location = {"/moved": "/a/b?x=1", "/a/b?x=1": "?y=2", "/a/b?y=2": f"//{here}/c/d", "/c/d": "e",
                            "/c/e": f"HTTP://{here}/manifest.yaml?raw=true"}.get(self.path)
                self.send_response(302 if location else 404 if "gone" in self.path else 200)
                if location:
                    self.send_header("Location", location)
                self.end_headers()
                if not location:
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        result = fairlead("-n", self.namespace, "-f", f"http://jane:pass%20word@127.0.0.1:{port}/moved")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.names(), ["fetched"])
        self.assertEqual([path for path, _ in asked], ["/moved", "/a/b?x=1", "/a/b?y=2", "/c/d", "/c/e", "/manifest.yaml?raw=true"])
        self.assertEqual({header for _, header in asked}, {"Basic " + base64.b64encode(b"jane:pass word").decode()})
        gone = fairlead("-f", f"http://jane:secret@127.0.0.1:{port}/gone?token=secret")
        self.assertEqual(gone.returncode, 1)
        self.assertEqual(gone.stderr, f"error: cannot fetch http://127.0.0.1:{port}/gone\n"
                                      f"  because   http://127.0.0.1:{port}/gone answered 404\n")

    def test_what_is_refused_does_not_stop_the_others(self):
        path = self.folder / "app.yaml"
        path.write_text(documents({**config_map("odd"), "data": 1}, config_map("fine")))
        result = fairlead("-n", self.namespace, "-f", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.names(), ["fine"])
        self.assertIn(f"error: ConfigMap {self.namespace}/odd was not accepted\n", result.stderr)
        self.assertIn(f"  from      {path}:1\n", result.stderr)
        self.assertRegex(result.stdout.splitlines()[-1], r"^2 objects: 1 created, 1 failed \(refused\) in ")

    def test_what_the_cluster_cannot_take_is_refused_before_anything_is_sent(self):
        path = self.folder / "app.yaml"
        unknown = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
        path.write_text(documents(unknown, config_map("fine", self.namespace)))
        result = fairlead("-f", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"""\
error: Widget w cannot be applied
  because   the cluster does not serve kind Widget in example.com/v1
  because   it serves nothing of group example.com
  from      {path}:1
  next      add its CRD to the bundle, or mark the object that makes it with the annotation fairlead.dev/makes: Widget.example.com
""")
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                      "metadata": {"name": "widgets.example.com"},
                      "spec": {"group": "example.com", "scope": "Cluster", "versions": [version],
                               "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"}}}
        path.write_text(documents(definition, {**unknown, "apiVersion": "example.com/v2"}))
        result = fairlead("-f", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"""\
error: Widget w cannot be applied
  because   its CRD serves example.com/v1, not example.com/v2
  from      {path}:3
  next      change its apiVersion, or the CRD
""")
        path.write_text(documents(config_map("lost", "nowhere-at-all"), config_map("fine", self.namespace)))
        result = fairlead("-f", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"""\
error: ConfigMap nowhere-at-all/lost cannot be applied
  because   namespace nowhere-at-all is neither in the bundle nor in the cluster
  from      {path}:1
  next      add it to the bundle, or: kubectl create namespace nowhere-at-all
""")
        self.assertEqual(self.names(), [])

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
        text = documents(config_map("x"), {**config_map("y"), "dat": {}})
        lines = [json.loads(line) for line in
                 fairlead("-n", self.namespace, "-f", "-", "-o", "jsonl", stdin=text).stdout.splitlines()]
        events = {(line["event"], line.get("object", {}).get("name"), line.get("state")) for line in lines[:-1]}
        self.assertLessEqual({("started", None, None), ("stored", "x", "created"), ("ready", "x", "ready"),
                              ("failed", "y", "failed")}, events)
        summary = lines[-1]
        self.assertEqual((summary["type"], summary["outcome"]), ("summary", "failed"))
        self.assertEqual((summary["created"], summary["refused"]), (1, 1))
        document = json.loads(fairlead("-n", self.namespace, "-f", "-", "-o", "json", stdin=text).stdout)
        self.assertEqual([one["outcome"] for one in document["objects"]], ["unchanged", "refused"])
        self.assertEqual(fairlead("-n", self.namespace, "-f", "-", "-o", "quiet", stdin=documents(config_map("z"))).stdout, "")

    def test_the_journal_has_every_event(self):
        path = self.folder / "journal.jsonl"
        arguments = ["-n", self.namespace, "-f", "-", "--journal", str(path)]
        self.assertEqual(fairlead(*arguments, stdin=documents(config_map("x"))).returncode, 0)
        events = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual([event["event"] for event in events], ["started", "graph", "stored", "ready", "ended"])
        self.assertEqual(events[2]["object"]["name"], "x")

    def members(self, name):
        """What kubectl takes for the bundle."""
        parent = run(KUBECTL, "-n", self.namespace, "get", "secrets,configmaps", "-o", "json", check=True).stdout
        ids = [item["metadata"]["labels"]["applyset.kubernetes.io/id"] for item in json.loads(parent)["items"]
               if "applyset.kubernetes.io/id" in item["metadata"].get("labels", {})]
        self.assertEqual(len(ids), 1, f"parents of {name}")
        found = run(KUBECTL, "-n", self.namespace, "get", "configmaps", "-o", "name", "-l",
                    f"applyset.kubernetes.io/part-of={ids[0]}", check=True).stdout.split()
        return sorted(found)

    def test_a_bundle_with_a_name(self):
        def shop(*names, **data):
            return fairlead("-n", self.namespace, "--name", "shop", "--prune", "-f", "-",
                            stdin=documents(*(config_map(name, **data) for name in names)))
        first = shop("a", "b")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(self.members("shop"), ["configmap/a", "configmap/b"])
        again = shop("a", "b")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertRegex(again.stdout, r"^2 unchanged in \d+\.\ds$")
        without = shop("b", "c")
        self.assertEqual(without.returncode, 0, without.stderr)
        self.assertIn(f"ConfigMap {self.namespace}/a deleted\n", without.stdout)
        self.assertRegex(without.stdout.splitlines()[-1], r"^2 objects: 1 created, 1 unchanged in \d+\.\ds; 1 pruned$")
        self.assertEqual(self.members("shop"), ["configmap/b", "configmap/c"])

    def test_what_others_have_changed_is_put_back_only_by_force(self):
        text = documents(config_map("x", a="mine"))
        arguments = ["-n", self.namespace, "--name", "shop", "-f", "-"]
        self.assertEqual(fairlead(*arguments, stdin=text).returncode, 0)
        run(KUBECTL, "-n", self.namespace, "patch", "configmap", "x", "-p", '{"data": {"a": "theirs"}}', check=True)
        result = fairlead(*arguments, stdin=text)
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertIn("kubectl-patch", result.stderr)
        self.assertEqual(fairlead(*arguments, "--force-conflicts", stdin=text).returncode, 0)
        value = run(KUBECTL, "-n", self.namespace, "get", "configmap", "x", "-o", "jsonpath={.data.a}", check=True).stdout
        self.assertEqual(value, "mine")

    def test_a_namespace_that_is_not_there_is_created_on_demand(self):
        other = f"{self.namespace}-other"
        self.addCleanup(run, KUBECTL, "delete", "namespace", other, "--wait=false")
        self.assertEqual(fairlead("-n", other, "-f", "-", stdin=documents(config_map("x"))).returncode, 1)
        result = fairlead("-n", other, "--create-namespace", "-f", "-", stdin=documents(config_map("x")))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout.splitlines()[-1], r"^2 created in ")

    def test_a_part_of_the_bundle(self):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        text = documents(config_map("x"), config_map("y"), secret)
        self.assertEqual(fairlead("-n", self.namespace, "-f", "-", "--only", "ConfigMap/x", stdin=text).returncode, 0)
        self.assertEqual(self.names(), ["x"])
        result = fairlead("-n", self.namespace, "-f", "-", "--skip", "ConfigMap", stdin=text)
        self.assertEqual(result.stdout.splitlines()[:-1], [f"Secret {self.namespace}/s created"])
        self.assertEqual(self.names(), ["x"])

    def test_waiting_ends_with_the_time_and_its_cause(self):
        # No node runs pods here, so it never gets ready.
        template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}
        deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"},
                      "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template}}
        text = documents(deployment)
        stored = fairlead("-n", self.namespace, "-f", "-", "--no-wait", stdin=text)
        self.assertEqual(stored.returncode, 0, stored.stderr)
        run(KUBECTL, "-n", self.namespace, "wait", "--for=jsonpath={.status.updatedReplicas}=1", "deployment/x",
            "--timeout=60s", check=True)
        result = fairlead("-n", self.namespace, "-f", "-", "--timeout", "1s", stdin=text)
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn(f"error: Deployment {self.namespace}/x is not ready after 1s\n"
                      "  because   0 of 1 replica is ready\n", result.stderr)
        self.assertIn(f"  next      kubectl -n {self.namespace} describe ", result.stderr)

    def test_verbosity_shows_requests_and_no_secrets(self):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}
        result = fairlead("-n", self.namespace, "-f", "-", "-v", "6", stdin=json.dumps(secret))
        self.assertRegex(result.stderr, r"PATCH /api/v1/namespaces/\S+/secrets/s\?\S+ 201 in \d+ ms")
        self.assertNotIn("hunter2", result.stderr + result.stdout)

    def test_interrupted(self):
        objects = documents(*(config_map(f"cm-{number:05}") for number in range(5000)))
        process = subprocess.Popen([FAIRLEAD, "apply", "-n", self.namespace, "-f", "-", "--all"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: (process.stdin.write(objects), process.stdin.close()), daemon=True).start()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 130)
        complaint = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        self.assertRegex(rest.splitlines()[-1], r"^5,000 objects: [\d,]+ created, [\d,]+ not tried \(not sent\) in ")
        self.assertIn("error: interrupted", complaint)


unittest.main()
