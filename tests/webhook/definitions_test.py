"""The CRDs of the policy set dynamo: what they accept, and that immutable fields hold without any webhook.

Runs on the cluster of $KUBECONFIG: a real one, or `fairlead sandbox -- python3 -m tests.webhook.definitions_test`.
"""
import json
import os
import pathlib
import subprocess
import typing
import unittest

import yaml

FAIRLEAD = os.environ["FAIRLEAD"]
Spec = dict[str, typing.Any]
DEFINITIONS = pathlib.Path(__file__).resolve().parents[2] / "deploy/chart/crds"


def fairlead(*arguments, stdin=""):
    return subprocess.run([FAIRLEAD, *arguments], input=stdin, capture_output=True, text=True, timeout=60)


def shared_schema(name, *path):
    definition = yaml.safe_load((DEFINITIONS / f"{name}.yaml").read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for step in path:
        schema = schema[step]
    return schema["properties"]


class Definitions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.namespace = f"definitions-{os.getpid()}"
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cls.namespace}}
        result = fairlead("apply", "-f", str(DEFINITIONS), "-f", "-", stdin=json.dumps(space))
        if result.returncode:
            raise AssertionError(result.stdout + result.stderr)
        cls.addClassCleanup(fairlead, "delete", "--timeout", "60s", "-y", "-f", "-", stdin=json.dumps(space))

    def apply(self, kind, spec, name="x"):
        """Why the object was not stored; empty if it was."""
        thing = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": self.namespace}}
        if spec is not None:
            thing["spec"] = spec
        result = fairlead("apply", "--no-wait", "--progress", "quiet", "-f", "-", stdin=json.dumps(thing))
        self.assertEqual(result.returncode != 0, bool(result.stderr), result.stdout + result.stderr)
        return result.stderr

    def assert_immutable(self, kind, field, *changes):
        for index, (before, after) in enumerate(changes):
            with self.subTest(kind=kind, field=field, after=after):
                name = f"{field.lower()}-{index}"
                self.assertEqual(self.apply(kind, before, name), "")
                self.assertIn(f"spec.{field} is immutable and cannot be changed after creation", self.apply(kind, after, name))
                self.assertEqual(self.apply(kind, before, name), "")

    def test_the_backend_cannot_be_changed_added_or_removed(self):
        specs: dict[str, Spec] = {"DynamoComponentDeployment": {"replicas": 1}, "DynamoGraphDeployment": {"services": {"a": {}}}}
        for kind, spec in specs.items():
            vllm, sglang = ({**spec, "backendFramework": backend} for backend in ("vllm", "sglang"))
            self.assert_immutable(kind, "backendFramework", (vllm, sglang), (vllm, spec), (spec, vllm))

    def test_a_model_keeps_its_type_and_base_model(self):
        model = {"modelName": "m", "baseModelName": "b"}
        self.assert_immutable("DynamoModel", "baseModelName", (model, {**model, "baseModelName": "c"}))
        self.assert_immutable("DynamoModel", "modelType", (model, {**model, "modelType": "adapter"}),
                              ({**model, "modelType": "adapter"}, model))
        self.assertEqual(self.apply("DynamoModel", model, "renamed"), "")
        self.assertEqual(self.apply("DynamoModel", {**model, "modelName": "n", "modelType": "base"}, "renamed"), "")

    def test_the_spec_cannot_be_left_out(self):
        for kind in ("DynamoComponentDeployment", "DynamoGraphDeployment", "DynamoModel"):
            self.assertIn("spec: Required value", self.apply(kind, None))

    def test_what_the_schema_refuses(self):
        graph: Spec = {"services": {"main": {}}}
        for kind, spec, reason in (
                ("DynamoComponentDeployment", {"replicas": -1}, "spec.replicas in body should be greater than or equal to 0"),
                ("DynamoComponentDeployment", {"backendFramework": "tgi"}, "Unsupported value"),
                ("DynamoComponentDeployment", {"multinode": {"nodeCount": 1}}, "greater than or equal to 2"),
                ("DynamoComponentDeployment", {"sharedMemory": {"size": "much"}}, "spec.sharedMemory.size in body should match"),
                ("DynamoComponentDeployment", {"replica": 1}, "unknown field"),
                ("DynamoGraphDeployment", {"services": {f"s{i}": {} for i in range(26)}}, "must have at most 25 "),
                ("DynamoGraphDeployment", {**graph, "pvcs": [{"name": f"p{i}"} for i in range(101)]}, "must have at most 100 items"),
                ("DynamoGraphDeployment", {**graph, "pvcs": [{"create": True}]}, "spec.pvcs[0].name: Required value"),
                ("DynamoModel", {"modelName": "m"}, "spec.baseModelName: Required value"),
                ("DynamoModel", {"modelName": "m", "baseModelName": "b", "modelType": "LoRA"}, "Unsupported value")):
            with self.subTest(kind=kind, spec=spec):
                self.assertIn(reason, self.apply(kind, spec, "refused"))

    def test_what_the_schema_accepts(self):
        service = {"componentType": "worker", "replicas": 2, "resources": {"limits": {"gpu": "1", "custom": {"a/b": "1"}}},
                   "envs": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                   "volumeMounts": [{"name": "cache", "useAsCompilationCache": True}], "sharedMemory": {"size": "8Gi"},
                   "extraPodSpec": {"mainContainer": {"image": "x", "args": ["-v"]}, "tolerations": [{"operator": "Exists"}]},
                   "livenessProbe": {"httpGet": {"path": "/", "port": 80}}, "scalingAdapter": {"enabled": True},
                   "ingress": {"enabled": True, "host": "h", "tls": {"secretName": "t"}}, "multinode": {"nodeCount": 2}}
        self.assertEqual(self.apply("DynamoComponentDeployment", {"backendFramework": "vllm", **service}, "accepted"), "")
        pvc = {"name": "cache", "create": True, "size": 1, "storageClass": "s", "volumeAccessMode": "ReadWriteOnce"}
        self.assertEqual(self.apply("DynamoGraphDeployment", {"services": {"a": service, "b": {}}, "pvcs": [pvc]}, "accepted"), "")

    def test_a_service_of_a_graph_has_the_fields_of_a_component(self):
        component = shared_schema("dynamocomponentdeployments")
        del component["backendFramework"]
        self.assertEqual(component, shared_schema("dynamographdeployments", "properties", "services", "additionalProperties"))


unittest.main()
