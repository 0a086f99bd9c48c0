"""--contexts: one run of apply and delete in fifty clusters, each a sandbox in a process of its own."""
import base64
import concurrent.futures
import contextlib
import json
import os
import pathlib
import resource
import tempfile
import unittest

from tests.cli.on_sandbox import WithFairlead, sandbox

CLUSTERS = [f"c{number:02}" for number in range(50)]
OBJECTS = 20


def config_map(name, namespace=None, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name} | ({"namespace": namespace} if namespace else {})} | more


def merged(configs):
    """One kubeconfig with a context per cluster."""
    whole = {"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []}
    for name, config in configs.items():
        whole["clusters"].append({"name": name, "cluster": config["clusters"][0]["cluster"]})
        whole["users"].append({"name": name, "user": config["users"][0]["user"]})
        whole["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    return whole


class Clusters(WithFairlead):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        stack = cls.enterClassContext(contextlib.ExitStack())

        def start(name):
            process = sandbox(cls.folder / name, "--nodes", "0")
            process.__enter__()
            return process

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for process in pool.map(start, CLUSTERS):
                stack.push(process.__exit__)
        cls.config = merged({name: json.loads((cls.folder / name).read_text()) for name in CLUSTERS})
        (cls.folder / "kubeconfig").write_text(json.dumps(cls.config))
        cls.env = {**os.environ, "KUBECONFIG": str(cls.folder / "kubeconfig")}

    def write(self, name, *objects):
        (self.folder / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def test_fifty_in_one_run(self):
        self.write("many.json", *(config_map(f"m{number}") for number in range(OBJECTS)))
        result = self.fairlead("apply", "-f", "many.json", "--name", "many", "--contexts", "all", "--journal", "journal")
        lines = result.stdout.splitlines()
        table = lines[-len(CLUSTERS) - 2:]
        self.assertEqual(table[0].split(), ["CONTEXT", "RESULT", "SECONDS", "OBJECTS"])
        for name, line in zip(CLUSTERS, table[1:]):
            self.assertRegex(line, rf"^{name} +done +\d+\.\d  {OBJECTS} created$")
        self.assertRegex(table[-1], r"^50 clusters: 50 done in \d+\.\ds$")
        self.assertEqual({line.partition(" ")[0] for line in lines[:-len(table)]}, {f"[{name}]" for name in CLUSTERS})
        events = [json.loads(line) for line in (self.folder / "journal").read_text().splitlines()]
        stored = {(event["details"]["context"], event["object"]["name"]) for event in events if event["event"] == "stored"}
        self.assertTrue({(name, f"m{number}") for name in CLUSTERS for number in range(OBJECTS)} <= stored)

        again = json.loads(self.fairlead("apply", "-f", "many.json", "--name", "many", "--contexts", "all", "-o", "json").stdout)
        self.assertEqual([one["context"] for one in again["clusters"]], CLUSTERS)
        self.assertEqual({one["summary"]["unchanged"] for one in again["clusters"]}, {OBJECTS})
        self.assertEqual(again["summary"]["clusters"]["done"], 50)

        deleted = self.fairlead("delete", "--name", "many", "--contexts", "all", "--yes", "--max-clusters-at-once", "50")
        self.assertRegex(deleted.stdout.splitlines()[-1], r"^50 clusters: 50 done in \d+\.\ds$")
        for name in CLUSTERS[::10]:
            self.assertEqual(self.fairlead("list", "--context", name, "-o", "json", "-A").stdout.count('"many"'), 0)

    def bad(self):
        """A bundle that only c03 and c04 take: the others have no such namespace."""
        for name in ("c03", "c04"):
            self.fairlead("apply", "-f", "-", "--context", name, stdin=json.dumps({"apiVersion": "v1", "kind": "Namespace",
                                                                                   "metadata": {"name": "here"}}))
        self.write("bad.json", config_map("b", "here"))
        self.addCleanup(self.fairlead, "delete", "namespace/here", "--contexts", "c03,c04", "--yes")

    def test_no_further_cluster_begins_after_a_failure(self):
        self.bad()
        result = self.fairlead("apply", "-f", "bad.json", "--contexts", "c03,c02,c04,c05", "--max-clusters-at-once", "1", code=1)
        *_, first, second, third, fourth, totals = result.stdout.splitlines()
        self.assertRegex(first, r"^c03 +done +\d+\.\d  1 created$")
        self.assertRegex(second, r"^c02 +failed +\d+\.\d  1 ")
        self.assertRegex(third, r"^c04 +not begun$")
        self.assertRegex(fourth, r"^c05 +not begun$")
        self.assertRegex(totals, r"^4 clusters: 1 done, 1 failed, 2 not begun in ")
        self.assertIn("[c02] error: ", result.stderr)
        self.assertEqual([line for line in result.stderr.splitlines() if not line.startswith("[c02] ")], [])

    def test_all_are_tried_if_that_is_wished(self):
        self.bad()
        result = self.fairlead("apply", "-f", "bad.json", "--contexts", "c02,c03,c05,c04", "--max-clusters-at-once", "1", "--stop-on", "never",
                               "-o", "jsonl", code=1)
        *lines, last = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(last["clusters"], {"total": 4, "done": 2, "failed": 2, "timedOut": 0, "conflicts": 0, "interrupted": 0, "declined": 0,
                                            "notBegun": 0})
        self.assertEqual(last["outcome"], "failed")
        summaries = {line["context"]: line["outcome"] for line in lines if line.get("type") == "summary"}
        self.assertEqual(summaries, {"c02": "failed", "c03": "done", "c05": "failed", "c04": "done"})
        self.assertEqual({line["details"]["context"] for line in lines if "event" in line}, set(summaries))

    def test_a_cluster_that_cannot_be_reached(self):
        config = json.loads(json.dumps(self.config))
        config["clusters"][1]["cluster"]["server"] = "https://127.0.0.1:1"
        (self.folder / "broken").write_text(json.dumps(config))
        self.write("one.json", config_map("one"))
        result = self.fairlead("apply", "-f", "one.json", "--kubeconfig", "broken", "--contexts", "c00,c01", "--stop-on", "never", "--timeout", "2s",
                               code=1)
        self.assertRegex(result.stdout.splitlines()[-1], r"^2 clusters: 1 done, 1 failed in ")
        self.assertIn("[c01]   because   connection refused\n", result.stderr)
        self.fairlead("delete", "-f", "one.json", "--contexts", "c00", "--yes")

    def test_a_context_that_cannot_be_used(self):
        config = json.loads(json.dumps(self.config))
        config["users"][1]["user"] = {"client-certificate": "nowhere.crt", "client-key": "nowhere.key"}
        (self.folder / "broken").write_text(json.dumps(config))
        self.write("one.json", config_map("one"))
        for command in (["apply", "-f", "one.json"], ["delete", "-f", "one.json", "--yes"]):
            with self.subTest(command=command):
                arguments = [*command, "--kubeconfig", "broken", "--contexts", "c00,c01", "--stop-on", "never"]
                told = self.fairlead(*arguments, code=1)
                self.assertRegex(told.stdout, r"(?m)^c01 +failed +0\.\d$")
                self.assertRegex(told.stderr, r"^\[c01\] error: .*\n(\[c01\]   .*\n)*$")
                self.assertIn("nowhere.crt", told.stderr)
                first, second = json.loads(self.fairlead(*arguments, "-o", "json", code=1).stdout)["clusters"]
                self.assertEqual((first["outcome"], second["outcome"]), ("done", "failed"))
                self.assertIn("nowhere.crt", json.dumps(second["errors"]))

    def test_standard_input_is_read_once(self):
        result = self.fairlead("apply", "-f", "-", "--contexts", "c00,c01,c02", stdin=json.dumps(config_map("piped")))
        self.assertRegex(result.stdout.splitlines()[-1], "^3 clusters: 3 done in ")
        self.fairlead("delete", "configmap/piped", "--contexts", "c00,c01,c02", "--yes")

    def test_the_kubeconfig_is_read_once(self):
        # The plugin for the credentials of the first cluster takes the file away.
        config = json.loads(json.dumps(self.config))
        user = config["users"][0]["user"]
        parts = {f"client{part}Data": base64.b64decode(user[f"client-{part.lower()}-data"]).decode() for part in ("Certificate", "Key")}
        (self.folder / "credential").write_text(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": parts}))
        config["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
                                               "args": ["-c", f"rm -f {self.folder}/passing; cat {self.folder}/credential"]}}
        self.write("one.json", config_map("one"))
        for command in (["apply", "-f", "one.json"], ["delete", "-f", "one.json", "--yes"]):
            (self.folder / "passing").write_text(json.dumps(config))
            result = self.fairlead(*command, "--kubeconfig", "passing", "--contexts", "c00,c01", "--max-clusters-at-once", "1")
            self.assertFalse((self.folder / "passing").exists())
            self.assertRegex(result.stdout.splitlines()[-1], "^2 clusters: 2 done in ")

    def test_wrong_command_lines(self):
        self.write("one.json", config_map("one"))
        (self.folder / "only.yaml").write_text("name: one\nsources: [{file: one.json}]\ncontexts: [c0*]\n")
        for arguments, text in [
                (["--contexts", "c00,nowhere"], 'context "nowhere" not found in the kubeconfig'),
                (["--contexts", ","], "--contexts names no context"),
                (["--contexts", "c00", "--context", "c01"], "--contexts and --context cannot be used together"),
                (["--contexts", "c00", "--timeline", "page.html"], "--contexts and --timeline cannot be used together"),
                (["--contexts", "c00", "--confirm", "--yes"], "--contexts and --confirm cannot be used together"),
                (["--max-clusters-at-once", "3"], "--max-clusters-at-once needs --contexts as well"),
                (["--contexts", "c00", "--stop-on", "monday"], '--stop-on: "monday" is not one of failure, never')]:
            with self.subTest(arguments=arguments):
                self.assertTrue(self.fairlead("apply", "-f", "one.json", *arguments, code=64).stderr.startswith(f"error: {text}\n"))
        result = self.fairlead("apply", "--config", "only.yaml", "--contexts", "c00,c11", code=64)
        self.assertIn('context "c11" may not be used with this bundle', result.stderr)

    def test_all_are_those_that_the_configuration_allows(self):
        self.write("one.json", config_map("one"))
        (self.folder / "only.yaml").write_text("sources: [{file: one.json}]\ncontexts: [c0*]\n")
        result = self.fairlead("apply", "--config", "only.yaml", "--contexts", "all", "--dry-run", "server")
        self.assertRegex(result.stdout.splitlines()[-1], "^10 clusters: 10 done in ")

    def test_memory_stays_small(self):
        self.write("wide.json", *(config_map(f"w{number}", data={"text": "x" * 200}) for number in range(100)))
        self.fairlead("apply", "-f", "wide.json", "--name", "wide", "--contexts", "all", "-o", "quiet")
        # Of all children so far; sandboxes are still running, and not counted.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 300)
        self.fairlead("delete", "--name", "wide", "--contexts", "all", "--yes", "-o", "quiet")


if __name__ == "__main__":
    unittest.main()
