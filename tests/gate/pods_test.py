"""The gate in a whole cluster, installed by `fairlead gate install` in pods of the image that `./dev image` makes. Unmodified kubectl and
helm install operators whose pods are Ready long before their webhook listens, together with the objects that it guards.

A whole cluster is brought up for it, unless FAIRLEAD_PODS_CLUSTER names one.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from peers import peers
from tests.rollout import late_webhook
from tests.rollout.late_webhook import LateWebhook, Shape, Story
from tests.scripts.image_in_cluster import IMAGE, cluster_tool, cluster_with_image

FAIRLEAD = os.environ["FAIRLEAD"]
INSTALL = ("--image", IMAGE, "--image-pull-policy", "Never", "--timeout", "3m")


class Pods(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        name = cluster_with_image(cls, "gate-pods")
        cls.cluster = late_webhook.Cluster(pathlib.Path(cluster_tool("bin")) / "kubectl",
                                           cluster_tool("kubeconfig", "--name", name))

    def gate(self, verb, *flags):
        done = subprocess.run([FAIRLEAD, "gate", verb, *flags], capture_output=True, text=True, env=self.cluster.env, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def setUp(self):
        self.gate("install", *INSTALL)

    def operator(self, name, late, **shape):
        return LateWebhook(Story(Shape(**shape), f"{name}-{os.getpid()}", late=late))

    def judge(self, webhook):
        """All is stored, and the webhook has seen it."""
        stored = late_webhook.stored(self.cluster, webhook)
        self.assertEqual(sorted(stored), webhook.guarded_names())
        # A request that came in the same moment as others may still be on its way into the record.
        self.assertEqual([name for name in stored if name not in late_webhook.seen_by_webhook(self.cluster, webhook)], [])

    def kubectl_wins(self, webhook, *flags):
        self.cluster.kubectl("apply", *flags, "-f", "-", objects=webhook.foundation())
        self.cluster.kubectl("wait", "--for=condition=Established", "crd", f"widgets.{webhook.story.group}")
        done = self.cluster.kubectl("apply", *flags, "-f", "-", objects=webhook.widgets(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr + self.gate("status"))
        self.judge(webhook)

    def test_kubectl(self):
        self.kubectl_wins(self.operator("client-side", 8))

    def test_kubectl_server_side(self):
        self.kubectl_wins(self.operator("server-side", 8), "--server-side")

    def test_a_webhook_that_would_be_ignored(self):
        self.kubectl_wins(self.operator("ignored", 6, policy="Ignore"))

    def test_a_mutating_webhook(self):
        self.kubectl_wins(self.operator("mutating", 6, kind="mutating"))

    def test_two_replicas_of_which_one_is_late(self):
        self.kubectl_wins(self.operator("replicas", 6, replicas=2))

    def test_a_certificate_that_is_injected_late(self):
        webhook = self.operator("late-ca", 3, late_certificate=True)
        foundation = webhook.foundation()
        foundation[-1]["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": "anybody/knows"}
        self.cluster.kubectl("apply", "-f", "-", objects=foundation)
        self.cluster.kubectl("wait", "--for=condition=Established", "crd", f"widgets.{webhook.story.group}")
        command = [self.cluster.command, "apply", "--server-side", "-f", "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=self.cluster.env) as writer:
            writer.stdin.write(late_webhook.documents(webhook.widgets()))
            writer.stdin.close()
            time.sleep(6)
            self.cluster.inject_certificate(webhook)
            complaint = writer.stderr.read()
            self.assertEqual(writer.wait(timeout=300), 0, complaint)
        self.judge(webhook)

    def test_helm_with_operator_and_objects_in_one_release(self):
        webhook = self.operator("helm", 8)
        chart = self.folder / "chart"
        for folder in ("templates", "crds"):
            (chart / folder).mkdir(parents=True)
        (chart / "Chart.yaml").write_text(json.dumps({"apiVersion": "v2", "name": "late", "version": "0.1.0"}))
        objects = webhook.foundation() + webhook.widgets()
        objects = [one for one in objects if one["kind"] not in ("Namespace", "CustomResourceDefinition")]
        (chart / "crds/crd.yaml").write_text(json.dumps(webhook.definition()))
        (chart / "templates/all.yaml").write_text(late_webhook.documents(objects))
        helm = peers.binary("helm4")
        self.assertIsNotNone(helm, "helm cannot be built here")
        done = subprocess.run([str(helm), "install", "late", str(chart), "-n", webhook.story.name, "--create-namespace"],
                              capture_output=True, text=True, env=self.cluster.env, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr + self.gate("status"))
        self.judge(webhook)

    # Tests run in the order of their names. The next one installs the gate again while pods of this one still drain.
    def test_after_an_upgrade_and_a_removal_nothing_fails(self):
        webhook = self.operator("upgrade", 0)
        self.kubectl_wins(webhook)
        self.gate("upgrade", "--patience", "2m", *INSTALL)
        self.cluster.kubectl("delete", "widgets." + webhook.story.group, "-n", webhook.story.name, "--all")
        self.kubectl_wins(webhook)
        self.gate("uninstall", "--timeout", "3m")
        listed = self.cluster.get("mutatingwebhookconfigurations")["items"]
        self.assertEqual([one["metadata"]["name"] for one in listed if "gate" in one["metadata"]["name"]], [])
        self.cluster.kubectl("delete", "widgets." + webhook.story.group, "-n", webhook.story.name, "--all")
        self.kubectl_wins_without_gate(webhook)

    def kubectl_wins_without_gate(self, webhook):
        done = self.cluster.kubectl("apply", "-f", "-", objects=webhook.widgets(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.judge(webhook)


unittest.main()
