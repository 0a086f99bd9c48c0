"""fairlead graph: without a cluster, and on the sandbox."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

FAIRLEAD = os.environ["FAIRLEAD"]

WIDGETS = """
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: first, namespace: team}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
"""
OFFLINE = """\
note: drawn without a cluster{}: only the kinds of Kubernetes itself and of the CRDs in these manifests are known, and only the webhooks \
and policies in them
note: objects that name no namespace are drawn in namespace default
"""


def graph(*arguments, stdin=WIDGETS, env=None):
    return subprocess.run([FAIRLEAD, "graph", "-f", "-", *arguments], input=stdin, capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})})


class Graph(unittest.TestCase):
    maxDiff = None

    def test_text_without_a_cluster(self):
        result = graph()
        self.assertEqual((result.returncode, result.stderr), (0, OFFLINE.format(", since none is configured")))
        self.assertEqual(result.stdout, """\
4 objects, 2 needs

Namespace team  stdin:2

CustomResourceDefinition widgets.example.com  stdin:6

ConfigMap default/settings  stdin:20

Widget team/first  stdin:16
  needs Namespace team — stored: its namespace
  needs CustomResourceDefinition widgets.example.com — ready: its CRD
""")
        self.assertEqual(graph("--offline").stderr, OFFLINE.format(""))

    def test_why(self):
        result = graph("--offline", "--why", "widgets/first")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, """\
Widget team/first  stdin:16
├─ Namespace team  stdin:2 — stored: its namespace
└─ CustomResourceDefinition widgets.example.com  stdin:6 — ready: its CRD
""")
        result = graph("--offline", "--why", "widget/second")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, "", "error: the manifests have no widget/second\n  because   they have Widget team/first\n"))

    def test_json_says_what_is_assumed(self):
        result = graph("--offline", "-o", "json", stdin="{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g}}")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        self.assertEqual(document["schemaVersion"], 1)
        self.assertEqual(document["nodes"], [{"id": 0, "type": "object", "text": "Gadget g", "group": "example.org",
                                              "kind": "Gadget", "namespace": "", "name": "g", "source": "stdin:1"}])
        self.assertEqual(document["assumptions"][2], "not known here, and drawn in the namespace that they name, if any: objects of Gadget.example.org")

    def test_the_drawing_is_well_formed_and_brings_everything(self):
        result = graph("--offline", "-o", "svg")
        drawing = xml.etree.ElementTree.fromstring(result.stdout)
        texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
        for name in ("team", "widgets.example.com", "team/first", "default/settings", "its CRD"):
            self.assertIn(name, texts)
        self.assertNotIn("<script", result.stdout)
        self.assertNotRegex(result.stdout.replace("http://www.w3.org/2000/svg", ""), "https?://")

    def test_errors_are_an_exit_code_and_the_graph_is_drawn_all_the_same(self):
        loop = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a, annotations: {fairlead.dev/needs: ConfigMap/b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, annotations: {fairlead.dev/needs: ConfigMap/a}}
"""
        for output in ("text", "dot", "mermaid", "svg", "json"):
            with self.subTest(output):
                result = graph("--offline", "-o", output, stdin=loop)
                self.assertEqual(result.returncode, 1)
                self.assertIn("ConfigMap default/a" if output != "svg" else "default/a", result.stdout)
        self.assertIn("error: ", graph("--offline", stdin=loop).stderr)

    def test_with_a_cluster_its_kinds_and_namespaces_count(self):
        with tempfile.TemporaryDirectory() as folder:
            manifest = pathlib.Path(folder) / "w.yaml"
            manifest.write_text(WIDGETS)
            result = subprocess.run([FAIRLEAD, "sandbox", "--", FAIRLEAD, "graph", "-f", str(manifest), "--why", "widget/first"],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            self.assertIn("└─ CustomResourceDefinition widgets.example.com", result.stdout)
            manifest.write_text("{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g}}")
            result = subprocess.run([FAIRLEAD, "sandbox", "--", FAIRLEAD, "graph", "-f", str(manifest)],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn("error: Gadget g cannot be applied\n", result.stderr)
            self.assertIn("Gadget", result.stdout)


unittest.main()
