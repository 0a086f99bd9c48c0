"""Webhooks that are Ready before they listen, on a real cluster: kubectl loses the race, Fairlead does not.

Whether an object was stored past its webhook is judged by the webhook's own record. Delays are random; the seed is printed,
FAIRLEAD_SEED=N repeats it. A whole cluster is brought up for it, unless FAIRLEAD_RACE_CLUSTER names one.
"""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time
import unittest

from tests.rollout import late_webhook
from tests.rollout.late_webhook import LateWebhook, Shape, Story

ROUNDS = 3
FAIRLEAD = os.environ["FAIRLEAD"]
CLUSTER_TOOL = str(pathlib.Path(__file__).resolve().parents[2] / "cluster/cluster")
SEED = int(os.environ.get("FAIRLEAD_SEED", random.SystemRandom().randrange(10**9)))
# So long that whoever does not wait for it has lost.
TOO_LATE = 60.0
cluster = None
cluster_name = ""


def cluster_tool(*arguments):
    return subprocess.run([CLUSTER_TOOL, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def setUpModule():
    global cluster, cluster_name
    print(f"seed {SEED}", flush=True)
    cluster_name = os.environ.get("FAIRLEAD_RACE_CLUSTER", "")
    if not cluster_name:
        cluster_name = f"race-{os.getpid()}"
        unittest.addModuleCleanup(cluster_tool, "down", "--name", cluster_name)
        cluster_tool("up", "--name", cluster_name, "--owner", str(os.getpid()))
    cluster = late_webhook.Cluster(pathlib.Path(cluster_tool("bin")) / "kubectl",
                                   cluster_tool("kubeconfig", "--name", cluster_name))


def fairlead(objects, while_it_runs=lambda process: None):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(late_webhook.documents(objects))
        file.flush()
        process = subprocess.Popen([FAIRLEAD, "apply", "-f", file.name, "--timeout", "90s"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=cluster.env)
        while_it_runs(process)
        output, complaint = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, output, complaint)


class Case(unittest.TestCase):
    maxDiff = None

    def in_a_hostile_order(self, webhook, dice):
        """What is guarded comes first: whoever sends in the order of the file has lost already."""
        foundation = webhook.foundation()
        dice.shuffle(foundation)
        return [*webhook.widgets(), *foundation]

    def judge(self, webhook, result):
        words = f"seed {SEED}, {webhook.story.name}: "
        self.assertEqual(result.returncode, 0, words + result.stdout + result.stderr)
        seen, stored = late_webhook.seen_by_webhook(cluster, webhook), late_webhook.stored(cluster, webhook)
        self.assertEqual(sorted(stored), webhook.guarded_names(), words + result.stdout)
        self.assertEqual([name for name in stored if name not in seen], [], words + "stored unseen: " + result.stdout)
        if webhook.story.shape.kind == "validating":
            unseen = [name for name, object in stored.items() if object["metadata"]["uid"] not in seen[name]]
            self.assertEqual(unseen, [], words + "another request of it was seen than the one that was stored")
        if webhook.story.shape.kind == "mutating":
            mutated = [object["metadata"].get("annotations", {}).get("testpod/mutated") for object in stored.values()]
            self.assertEqual(mutated, ["yes"] * len(stored), words)


class Race(Case):
    def fairlead_wins(self, title, shape, number):
        dice = random.Random(f"{SEED} {title} {number}")
        webhook = LateWebhook(Story(shape, f"{title}-{number}-{SEED}", late=dice.uniform(1, 4)))
        if webhook.before():
            earlier = fairlead(webhook.before())
            self.assertEqual(earlier.returncode, 0, f"seed {SEED}: {earlier.stderr}")
        injector = threading.Thread(target=self.inject, args=(webhook, dice.uniform(0.2, 4)))
        injector.start()
        result = fairlead(self.in_a_hostile_order(webhook, dice))
        injector.join()
        self.judge(webhook, result)

    def inject(self, webhook, delay):
        if webhook.story.shape.late_certificate:
            cluster.await_created(*webhook.story.configuration)
            time.sleep(delay)
            cluster.inject_certificate(webhook)

    def kubectl_loses(self, title, shape):
        # Which of two replicas the API server calls is up to chance, and it stays with that one.
        attempts = range(15 if shape.replicas > 1 else 1)
        self.assertTrue(any(self.kubectl_lost(f"{title}-kubectl-{number}-{SEED}", shape) for number in attempts),
                        "kubectl stored nothing unseen")

    def kubectl_lost(self, name, shape):
        """With the objects in an order that works, and after everything is said to be ready."""
        webhook = LateWebhook(Story(shape, name, late=TOO_LATE))
        if webhook.before():
            cluster.apply(webhook.before())
        cluster.apply(webhook.foundation())
        cluster.kubectl("wait", "--for=condition=Established", "crd", f"widgets.{webhook.story.group}")
        cluster.kubectl("rollout", "status", "-n", webhook.story.name, f"{webhook.workload()['kind']}/guard")
        result = cluster.apply(webhook.widgets(), check=False)
        if shape.policy == "Ignore":
            self.assertEqual(result.returncode, 0, result.stderr)
            seen, stored = late_webhook.seen_by_webhook(cluster, webhook), late_webhook.stored(cluster, webhook)
            return any(name not in seen for name in stored)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, "failed calling webhook|conversion webhook for .* failed")
        return True

    def race(self, title, **shape):
        wanted = Shape(**shape)
        with concurrent.futures.ThreadPoolExecutor(ROUNDS + 1) as pool:
            runs = [pool.submit(self.kubectl_loses, title, wanted)]
            runs += [pool.submit(self.fairlead_wins, title, wanted, number) for number in range(ROUNDS)]
        for run in runs:
            with self.subTest(title):
                run.result()
        self.nothing_of_ours_is_left()

    def nothing_of_ours_is_left(self):
        configurations = cluster.get("validatingwebhookconfigurations,mutatingwebhookconfigurations")["items"]
        hooks = [f"{one['metadata']['name']}: {hook['name']}" for one in configurations for hook in one["webhooks"]]
        self.assertEqual([hook for hook in hooks if "shadow" in hook], [])

    def test_a_webhook_that_must_be_asked(self):
        self.race("fail", policy="Fail")

    def test_a_webhook_that_is_skipped_when_it_does_not_answer(self):
        self.race("ignore", policy="Ignore")

    def test_a_mutating_webhook(self):
        self.race("mutating", kind="mutating", policy="Fail")

    def test_a_mutating_webhook_that_is_skipped(self):
        self.race("mutating-ignore", kind="mutating", policy="Ignore")

    def test_a_conversion(self):
        self.race("conversion", kind="conversion")

    def test_a_certificate_that_is_injected_late(self):
        self.race("certificate", policy="Fail", late_certificate=True)

    def test_a_certificate_that_is_injected_late_where_the_webhook_is_skipped(self):
        self.race("certificate-ignore", policy="Ignore", late_certificate=True)

    def test_two_replicas_of_which_one_listens_late(self):
        self.race("replicas", policy="Ignore", replicas=2)

    def test_a_configuration_that_is_updated(self):
        self.race("updated", policy="Ignore", updated=True)


class Failures(unittest.TestCase):
    def test_a_container_that_fails_is_quoted(self):
        name = f"broken-{SEED}"
        container = {"name": "app", "image": late_webhook.IMAGE, "imagePullPolicy": "Never",
                     "command": ["/bin/busybox", "sh", "-c", "(echo connecting; echo no database) >&2; exit 3"]}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "broken", "namespace": name},
               "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}}
        result = fairlead([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, job])
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(f"error: Job {name}/broken failed\n", result.stderr)
        self.assertRegex(result.stderr, rf"  log       container app of pod {name}/broken-\w+ \(exit code 3\), its last lines:\n"
                                        r"            \| connecting\n            \| no database\n")


class Trouble(Case):
    """Comes after the races: a run that was killed leaves its shadows, and the cluster's own controllers take long to
    recover from a restart of their API server."""

    def test_killed_and_run_again(self):
        def killed(number):
            dice = random.Random(f"{SEED} killed {number}")
            webhook = LateWebhook(Story(Shape(policy="Ignore"), f"killed-{number}-{SEED}", late=dice.uniform(2, 4)))
            objects = self.in_a_hostile_order(webhook, dice)
            life = dice.uniform(0.1, 3)

            def kill_late(process):
                time.sleep(life)
                process.kill()
            fairlead(objects, kill_late)
            self.judge(webhook, fairlead(objects))
        with concurrent.futures.ThreadPoolExecutor(ROUNDS) as pool:
            list(pool.map(killed, range(ROUNDS)))

    def test_the_api_server_restarts_while_a_webhook_is_waited_for(self):
        dice = random.Random(f"{SEED} restart")
        webhook = LateWebhook(Story(Shape(policy="Ignore"), f"restart-{SEED}", late=8))

        def restart(_):
            cluster.await_created("namespace", webhook.story.name)
            for what in ("--for=create", "--for=condition=Available"):
                cluster.kubectl("wait", what, "-n", webhook.story.name, "deployment/guard", "--timeout=60s")
            time.sleep(dice.uniform(0, 3))
            cluster_tool("restart", "--name", cluster_name, "kube-apiserver")
        self.judge(webhook, fairlead(self.in_a_hostile_order(webhook, dice), restart))


if __name__ == "__main__":
    unittest.main(verbosity=2)
