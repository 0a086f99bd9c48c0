"""What is said about fields, by the words of a real API server: those that there are not, and those that others own."""
import json
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, run

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web
"""


class Fields(DayTwo):
    def apply(self, text, *flags):
        path = self.folder / "web.yaml"
        path.write_text(text)
        result = run(FAIRLEAD, "apply", "--no-wait", "-f", str(path), *flags, env=self.env)
        return result.returncode, result.stderr.replace(f"{path.parent}/", "")

    def test_a_field_that_there_is_not(self):
        wrong = DEPLOYMENT.replace("replicas: 1", "replica: 1").replace("image: web", "imag: web")
        code, said = self.apply(wrong)
        self.assertEqual(code, 1)
        self.assertEqual(said, f"error: Deployment {self.home}/web was not accepted\n"
                               "  because   unknown field spec.replica; did you mean spec.replicas?\n"
                               "  because   unknown field spec.template.spec.containers[0].imag (web.yaml:12); did you mean "
                               "spec.template.spec.containers[0].image?\n"
                               "  from      web.yaml:5\n"
                               "  next      kubectl explain deployment.spec\n")

    def test_a_field_of_a_custom_resource_that_there_is_not(self):
        group = f"{self.home[-20:].strip('-')}.example.com"
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                      "metadata": {"name": f"widgets.{group}"},
                      "spec": {"group": group, "scope": "Namespaced",
                               "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
                               "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                                   "type": "object", "properties": {"spec": {
                                       "type": "object", "properties": {"size": {"type": "integer"}}}}}}}]}}
        self.addCleanup(run, KUBECTL, "delete", "crd", f"widgets.{group}", "--wait=false")
        code, said = self.apply(f"apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: w}}\nspec:\n  siz: 1\n---\n"
                                + json.dumps(definition))
        self.assertEqual(code, 1)
        self.assertIn("  because   unknown field spec.siz; did you mean spec.size?\n  from      web.yaml:5\n", said)

    def test_a_field_that_somebody_scaled(self):
        self.assertEqual(self.apply(DEPLOYMENT), (0, ""))
        run(KUBECTL, "-n", self.home, "scale", "deployment", "web", "--replicas=2")
        code, said = self.apply(DEPLOYMENT.replace("replicas: 1", "replicas: 3"))
        self.assertEqual(code, 4)
        self.assertEqual(said, f"error: Deployment {self.home}/web was not accepted\n"
                               "  because   .spec.replicas is owned by kubectl (scale)\n"
                               "  from      web.yaml:1\n"
                               "  next      fairlead apply … --force-conflicts takes it over; or leave .spec.replicas out of the "
                               "manifest\n")
        self.assertEqual(self.apply(DEPLOYMENT.replace("replicas: 1", "replicas: 3"), "--force-conflicts")[0], 0)


unittest.main()
