"""A real operator, cert-manager, on a real cluster: in at the first attempt with what leans on it, and out again entirely; and our own
admission server with the certificates that cert-manager makes for it.

It is built from its Go module (about two minutes, once); helm, which renders its chart, takes as long. The other operators are in
`./dev acid`. What was stored unvalidated is judged by the API server's own metrics and audit log.
"""
import json
import os
import pathlib
import subprocess
import unittest

from acid import arena as arenas, bundles, running
from acid.operators.cert_manager import CertManager
from cluster.images import ARCHITECTURE
from scripts import container_image

FAIRLEAD = os.environ["FAIRLEAD"]
IMAGE = "localhost/fairlead:test"
NAMESPACE = "dynamo-system"
SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/dynamo-webhook-server-cert"


def model(name, model_type):
    spec = {"modelName": "llama", "baseModelName": "llama", "modelType": model_type}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


class Operators(unittest.TestCase):
    def fairlead(self, arena, *arguments):
        done = subprocess.run([FAIRLEAD, *arguments], env=arena.tool_env(), capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_cert_manager_in_and_out_again(self):
        story = CertManager()
        with arenas.fresh([*story.images, *self.own_image()], story.counted()) as arena:
            there = running.snapshot(arena)
            requests = arena.log.requests()
            bundle = bundles.bundle(arena.folder / "bundle.yaml", story.objects())
            into = self.fairlead(arena, "apply", "-f", bundle, "--name", "certificates", "--timeout", "3m")
            requests = arena.log.requests() - requests
            with self.subTest("when it says that all is ready, the certificates are issued"):
                self.assertTrue(story.came_true(arena), into.stdout)
            with self.subTest("nothing was stored unvalidated"):
                self.assertEqual(story.unvalidated(arena), 0, into.stdout)
            with self.subTest("it asks little of the API server"):
                kinds = {(one["apiVersion"], one["kind"]) for one in story.objects()}
                self.assertLessEqual(requests, len(story.objects()) + 3 * len(kinds) + 60, into.stdout)
            with self.subTest("the admission server with certificates of cert-manager"):
                self.serve_with_cert_manager(arena)
            out = self.fairlead(arena, "delete", "--name", "certificates", "--timeout", "3m")
            with self.subTest("nothing is left but what cert-manager keeps by design: the certificates that it has issued"):
                self.assertEqual(running.snapshot(arena) - there, story.kept(), out.stdout)

    def own_image(self):
        archive = pathlib.Path(FAIRLEAD).parent / "operators-test-image.tar"
        container_image.write({ARCHITECTURE: pathlib.Path(FAIRLEAD)}, archive, IMAGE, container_image.labels_of("test"))
        return [archive]

    def serve_with_cert_manager(self, arena):
        """Installs it, has its certificate renewed, and takes it out again."""
        values = arena.folder / "values.yaml"
        values.write_text(json.dumps({"webhook": {"certManager": {"enabled": True}, "image": {"repository": "localhost/fairlead", "tag": "test"}}}))
        objects = self.fairlead(arena, "webhook", "manifests", "--values", str(values), "--release", "dynamo", "-n", NAMESPACE).stdout
        bundle = arena.folder / "webhook.yaml"
        bundle.write_text(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {NAMESPACE}}}\n---\n{objects}")
        self.fairlead(arena, "apply", "-f", str(bundle), "--name", "dynamo-webhook", "--timeout", "3m")
        self.fairlead(arena, "wait", "webhook/dynamo-validating", "--for", "functional", "--timeout", "2m")
        self.check_decisions(arena, "before")
        first = arena.ask(SECRET)[1]["data"]["tls.crt"]
        self.renew(arena)
        self.assertNotEqual(arena.ask(SECRET)[1]["data"]["tls.crt"], first)
        self.fairlead(arena, "wait", "webhook/dynamo-validating", "--for", "functional", "--timeout", "2m")
        self.check_decisions(arena, "after")
        arena.kubectl("delete", "dynamomodel", "--all", "-n", "default")
        # The Secrets that cert-manager has made are not the bundle's.
        self.fairlead(arena, "delete", "--name", "dynamo-webhook", "--with-contents", "--yes", "--timeout", "3m")

    def check_decisions(self, arena, name):
        refused = arena.kubectl("create", "-f", "-", objects=[model(name, "lora")], check=False)
        self.assertIn('admission webhook "vdynamomodel.kb.io" denied the request: ', refused.stderr)
        arena.kubectl("create", "-f", "-", objects=[model(name, "base")])

    def renew(self, arena):
        """As `cmctl renew` does it."""
        condition = {"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "renewed by a test"}
        arena.kubectl("patch", "certificate", "dynamo-webhook-serving", "-n", NAMESPACE, "--subresource=status", "--type=merge", "-p",
                      json.dumps({"status": {"conditions": [condition]}}))
        arena.kubectl("wait", "certificate/dynamo-webhook-serving", "-n", NAMESPACE, "--for=condition=Ready", "--timeout=60s")
        arena.kubectl("wait", "certificate/dynamo-webhook-serving", "-n", NAMESPACE, "--for=jsonpath={.status.revision}=2", "--timeout=60s")


if __name__ == "__main__":
    unittest.main()
