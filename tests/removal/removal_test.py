"""fairlead delete on a real control plane, as a user would use it: what kubectl delete hangs on, goes or is explained."""
import json
import os
import pathlib
import pty
import re
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from tests.manifests import named
from tests.removal import estate
from tests.removal.estate import Estate, Webhook, deployment

FAIRLEAD = os.environ["FAIRLEAD"]
KUBECTL = str(pathlib.Path(os.environ["FAIRLEAD_CLUSTER_BIN"]) / "kubectl")
FINALIZER = "acme.dev/cleanup"


def run(*argv, stdin="", timeout=120, **more):
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=timeout, **more)


def kubectl(*arguments, stdin="", check=True):
    result = run(KUBECTL, *arguments, stdin=stdin)
    if check and result.returncode:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {result.stderr}")
    return result.stdout


def fairlead(*arguments, stdin=""):
    return run(FAIRLEAD, *arguments, stdin=stdin)


def documents(*objects):
    return "".join(f"---\n{json.dumps(one)}\n" for one in objects)


def definition(group):
    return estate.definition(group, "Widget", "widgets")


class Operator:
    """Takes the finalizers off resources that are on their way out, for as long as its Deployment is there."""

    def __init__(self, resources, namespace, deployment_name, pause=0.05):
        self.resources = resources
        self.namespace, self.name, self.pause = namespace, deployment_name, pause
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()

    def is_alive(self):
        return run(KUBECTL, "-n", self.namespace, "get", "deployment", self.name).returncode == 0

    def work(self):
        while not self.stopped.wait(self.pause):
            # First those, then whether it is alive: what was told to go after its Deployment went is not cleaned up.
            leaving = [one for one in with_finalizers(*self.resources) if "deletionTimestamp" in one["metadata"]]
            if leaving and self.is_alive():
                take_finalizers(leaving)


def with_finalizers(*resources):
    for resource in resources:
        found = run(KUBECTL, "get", resource, "-A", "-o", "json")
        for one in json.loads(found.stdout)["items"] if found.returncode == 0 else []:
            if one["metadata"].get("finalizers"):
                yield one


def take_finalizers(objects):
    for one in objects:
        group = one["apiVersion"].split("/")[0]
        run(KUBECTL, "-n", one["metadata"]["namespace"], "patch", f"{one['kind']}.{group}", one["metadata"]["name"],
            "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


def stale_groups():
    """The API groups that the API server knows of and cannot ask."""
    token = pathlib.Path(os.environ["FAIRLEAD_CLUSTER_ADMIN_TOKEN_FILE"]).read_text().strip()
    request = urllib.request.Request(f"{os.environ['FAIRLEAD_CLUSTER_SERVER']}/apis", headers={
        "Authorization": f"Bearer {token}",
        "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"})
    trust = ssl.create_default_context(cafile=os.environ["FAIRLEAD_CLUSTER_CA"])
    with urllib.request.urlopen(request, context=trust, timeout=30) as answer:
        groups = json.load(answer)["items"]
    return [group["metadata"]["name"] for group in groups
            if any(version["freshness"] == "Stale" for version in group["versions"])]


def wait_until(is_true):
    end = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < end, "it has not come in a minute"
        time.sleep(0.1)


class Removal(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.name = f"{self.id().rsplit('.')[-1].removeprefix('test_').replace('_', '-')[:40]}-{os.getpid()}"
        self.group = f"{self.name[:30].strip('-')}.acme.dev"

    def make_namespace(self):
        kubectl("create", "namespace", self.name)
        self.addCleanup(run, KUBECTL, "delete", "namespace", self.name, "--wait=false")

    def there(self, *what):
        return run(KUBECTL, "get", *what).returncode == 0

    def operator_bundle(self, widgets=3):
        """In the order in which people write it: everything at once, the operator first."""
        widget = [named(f"{self.group}/v1", "Widget", f"w{number}", self.name, metadata={"finalizers": [FINALIZER]})
                  for number in range(widgets)]
        first = [named("v1", "Namespace", self.name), definition(self.group)]
        operator = [named("v1", "ServiceAccount", "acme", self.name), deployment("acme-operator", self.name)]
        kubectl("apply", "-f", "-", stdin=documents(*first))
        kubectl("wait", "--for=condition=Established", f"crd/widgets.{self.group}")
        kubectl("apply", "-f", "-", stdin=documents(*operator, *widget))
        self.addCleanup(self.take_away)
        return documents(*first, *operator, *widget)

    def take_away(self):
        take_finalizers(with_finalizers(f"widgets.{self.group}"))
        run(KUBECTL, "delete", "crd", f"widgets.{self.group}", "namespace", self.name, "--wait=false")

    def test_operator_and_resources(self):
        bundle = self.operator_bundle()
        with Operator([f"widgets.{self.group}"], self.name, "acme-operator"):
            result = fairlead("delete", "-f", "-", "--all", "--timeout", "60s", stdin=bundle)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = [line for line in result.stdout.splitlines() if line.endswith(" deleted")]
        order = [line.split()[0] for line in lines]
        self.assertEqual(order[:4], ["Widget"] * 3 + ["CustomResourceDefinition"], result.stdout)
        self.assertEqual(order[-1], "Namespace")
        self.assertFalse(self.there("namespace", self.name))

    def test_kubectl_hangs_on_the_same(self):
        bundle = self.operator_bundle()
        with Operator([f"widgets.{self.group}"], self.name, "acme-operator"):
            result = run(KUBECTL, "delete", "-f", "-", "--timeout=8s", stdin=bundle)
            self.assertNotEqual(result.returncode, 0, result.stdout)
            self.assertIn("timed out waiting for the condition", result.stderr)
        # What kubectl has left stuck is explained, and goes by force.
        stuck = fairlead("delete", "-n", self.name, f"widget.{self.group}/w0", "--timeout", "15s")
        self.assertEqual(stuck.returncode, 3, stuck.stdout + stuck.stderr)
        self.assertIn(f"because   finalizer {FINALIZER} has not been removed\n", stuck.stderr)
        self.assertIn("because   no workload with a matching name was found", stuck.stderr)
        self.assertIn(f"or fairlead delete -n {self.name} Widget.{self.group}/w0 --force-finalizers\n", stuck.stderr)
        forced = fairlead("delete", "-n", self.name, f"widget.{self.group}/w0", "--force-finalizers", "--timeout", "30s")
        self.assertEqual(forced.returncode, 0, forced.stdout + forced.stderr)
        self.assertIn(f"removing finalizers by force: {FINALIZER}", forced.stderr)

    def estate_bundle(self):
        """A platform, rolled out."""
        self.name = f"e{os.getpid()}-{self.name[:12].strip('-')}"
        webhook = self.enterContext(Webhook())
        bundle = Estate(self.name, self.group, webhook)
        objects = bundle.objects()
        self.assertEqual(len(objects), estate.COUNT)
        self.addCleanup(self.take_estate_away, bundle)
        applied = fairlead("apply", "--no-wait", "-f", "-", stdin=documents(*objects))
        self.assertEqual(applied.returncode, 0, applied.stderr)
        claims = [f"pvc/claim-{number}" for number in range(8)]
        kubectl("-n", bundle.namespaces["data"], "wait", "--for=jsonpath={.status.phase}=Bound", *claims)
        return bundle, documents(*objects)

    def take_estate_away(self, bundle):
        run(KUBECTL, "delete", "validatingwebhookconfiguration", bundle.name)
        take_finalizers(with_finalizers(*bundle.plurals))
        run(KUBECTL, "delete", "--wait=false", "-f", "-", stdin=documents(*bundle.objects()))

    def test_a_platform_of_74_objects(self):
        bundle, text = self.estate_bundle()
        with Operator(bundle.plurals, bundle.namespaces["flux"], "flux") as operator:
            bundle.webhook.is_alive = operator.is_alive
            result = fairlead("delete", "-f", "-", "--timeout", "100s", "-o", "jsonl", stdin=text)
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[-1]["gone"], estate.COUNT)
        gone = [line["object"] for line in lines if line.get("event") == "removed"]
        order = [(one["kind"], one["name"]) for one in gone]
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for place, (kind, _) in enumerate(order):
            first.setdefault(kind, place)
            last[kind] = place
        for kind, plural in estate.KINDS.items():
            self.assertLess(last[kind], order.index(("CustomResourceDefinition", f"{plural}.{bundle.group}")), order)
            self.assertLess(last[kind], first["ValidatingWebhookConfiguration"], order)
        for kind in ("Deployment", "Service", "Namespace"):
            self.assertLess(last["ValidatingWebhookConfiguration"], first[kind], order)
        for namespace in bundle.namespaces.values():
            self.assertFalse(self.there("namespace", namespace))
        self.assertFalse(self.there("pv", f"{bundle.name}-0"))

    def test_kubectl_hangs_on_the_platform(self):
        bundle, text = self.estate_bundle()
        with Operator(bundle.plurals, bundle.namespaces["flux"], "flux") as operator:
            bundle.webhook.is_alive = operator.is_alive
            # A little longer than it takes where nothing hangs.
            hangs = run(KUBECTL, "delete", "-f", "-", "--timeout=40s", stdin=text)
        self.assertNotEqual(hangs.returncode, 0, hangs.stdout)
        self.assertIn("timed out waiting for the condition", hangs.stderr)
        self.assertEqual(len(list(with_finalizers(*bundle.plurals))), 16, hangs.stderr)
        # What it has left goes by force, and by nothing else: whoever would remove the finalizers is gone.
        forced = fairlead("delete", "-f", "-", "--force-finalizers", "--timeout", "100s", stdin=text)
        self.assertEqual(forced.returncode, 0, forced.stdout[-3000:] + forced.stderr)
        self.assertIn(f"removing finalizers by force: {estate.FINALIZER}", forced.stderr)

    def test_a_namespace_with_a_stuck_object(self):
        self.make_namespace()
        held = named("v1", "ConfigMap", "held", self.name, metadata={"finalizers": [FINALIZER]})
        kubectl("apply", "-f", "-", stdin=documents(held, named("v1", "ConfigMap", "other", self.name)))
        self.addCleanup(run, KUBECTL, "-n", self.name, "patch", "configmap", "held", "--type=merge", "-p",
                        '{"metadata":{"finalizers":null}}')
        result = fairlead("delete", f"namespace/{self.name}", "--timeout", "25s")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("2 more objects will be deleted with it: ConfigMap", result.stdout)
        self.assertIn(f"Namespace {self.name} is stuck: no progress for 1", result.stdout)
        self.assertEqual(result.stderr, (
            f"error: Namespace {self.name} is still there after 25s: 1 left\n"
            "  because   remaining in it: 1 configmaps\n"
            f"  because   ConfigMap {self.name}/held: finalizer {FINALIZER} has not been removed\n"
            "  because   no workload with a matching name was found: its controller may be uninstalled\n"
            f"  next      reinstall the controller, or fairlead delete -n {self.name} ConfigMap/held "
            "--force-finalizers\n"))

    def test_what_kubernetes_warns_of_is_quoted(self):
        self.make_namespace()
        held = named("v1", "ConfigMap", "held", self.name, metadata={"finalizers": [FINALIZER]})
        kubectl("apply", "-f", "-", stdin=documents(held))
        self.addCleanup(run, KUBECTL, "-n", self.name, "patch", "configmap", "held", "--type=merge", "-p",
                        '{"metadata":{"finalizers":null}}')
        kubectl("-n", self.name, "delete", "configmap", "held", "--wait=false")
        uid = kubectl("-n", self.name, "get", "configmap", "held", "-o", "jsonpath={.metadata.uid}")
        kubectl("create", "-f", "-", stdin=documents(named(
            "v1", "Event", "held.1", self.name, type="Warning", reason="CleanupFailed", message="the berth is occupied",
            involvedObject={"kind": "ConfigMap", "namespace": self.name, "name": "held", "uid": uid})))
        result = fairlead("delete", "-n", self.name, "configmap/held", "--timeout", "3s")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertEqual(result.stderr, (
            f"error: ConfigMap {self.name}/held is still there after 3s\n"
            f"  because   finalizer {FINALIZER} has not been removed\n"
            "  because   no workload with a matching name was found: its controller may be uninstalled\n"
            f"  next      reinstall the controller, or fairlead delete -n {self.name} ConfigMap/held --force-finalizers\n"
            "  event     CleanupFailed: the berth is occupied\n"))

    def test_a_namespace_is_emptied_by_force(self):
        self.make_namespace()
        held = named("v1", "ConfigMap", "held", self.name, metadata={"finalizers": [FINALIZER]})
        kubectl("apply", "-f", "-", stdin=documents(held))
        result = fairlead("delete", f"namespace/{self.name}", "--timeout", "100s", "--force-finalizers")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"ConfigMap {self.name}/held: removing finalizers by force: {FINALIZER}", result.stdout + result.stderr)
        self.assertNotIn("its own finalizers", result.stdout + result.stderr)
        kubectl("create", "namespace", self.name)
        self.assertFalse(self.there("-n", self.name, "configmap", "held"))

    def test_a_dead_api_service(self):
        self.make_namespace()
        dead = named("apiregistration.k8s.io/v1", "APIService", f"v1.{self.group}", spec={
            "group": self.group, "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "service": {"name": "nobody", "namespace": self.name}, "insecureSkipTLSVerify": True})
        kubectl("apply", "-f", "-", stdin=json.dumps(dead))
        self.addCleanup(run, KUBECTL, "delete", "apiservice", f"v1.{self.group}")
        # Until then nobody misses that API, and the namespace just goes.
        wait_until(lambda: self.group in stale_groups())
        result = fairlead("delete", f"namespace/{self.name}", "--timeout", "15s")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("because   its contents cannot be listed: API discovery fails\n", result.stderr)
        self.assertIn(f"because   APIService v1.{self.group} is not available: ServiceNotFound: ", result.stderr)
        self.assertIn(f"next      kubectl delete apiservice v1.{self.group}, if that API is no longer served\n",
                      result.stderr)
        # By force it goes, and says what it leaves behind.
        forced = fairlead("delete", f"namespace/{self.name}", "--timeout", "60s", "--force-finalizers")
        self.assertEqual(forced.returncode, 0, forced.stdout + forced.stderr)
        self.assertIn("removing its own finalizers by force: kubernetes; this stays in etcd and reappears with the next namespace of that name: "
                      f"objects that APIService v1.{self.group} serves", forced.stdout + forced.stderr)
        self.assertFalse(self.there("namespace", self.name))

    def test_what_instances_of_a_new_kind_owned_goes_as_well(self):
        # The garbage collector learns of new kinds every 30 s; of one that is gone by then it never does.
        self.make_namespace()
        bundle = documents(definition(self.group), named(f"{self.group}/v1", "Widget", "w", self.name))
        applied = fairlead("apply", "-f", "-", stdin=bundle)
        self.assertEqual(applied.returncode, 0, applied.stderr)
        uid = kubectl("-n", self.name, "get", f"widgets.{self.group}", "w", "-o", "jsonpath={.metadata.uid}")
        owner = {"apiVersion": f"{self.group}/v1", "kind": "Widget", "name": "w", "uid": uid}
        kubectl("create", "-f", "-", stdin=json.dumps(
            named("v1", "Secret", "owned", self.name, metadata={"ownerReferences": [owner]})))
        result = fairlead("delete", "-f", "-", stdin=bundle)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertFalse(self.there("-n", self.name, "secret", "owned"), result.stdout)

    def test_a_definition_with_a_thousand_instances(self):
        self.make_namespace()
        kubectl("apply", "-f", "-", stdin=json.dumps(definition(self.group)))
        kubectl("wait", "--for=condition=Established", f"crd/widgets.{self.group}")
        widgets = [named(f"{self.group}/v1", "Widget", f"w{number}", self.name) for number in range(1000)]
        self.assertEqual(fairlead("apply", "-f", "-", stdin=documents(*widgets)).returncode, 0)
        result = fairlead("delete", f"crd/widgets.{self.group}", "-o", "jsonl")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        told = [line["text"] for line in lines if line.get("state") == "takes"]
        self.assertEqual(len(told), 1, result.stdout)
        self.assertTrue(told[0].startswith("1000 more objects will be deleted with it: Widget "), told)
        # A list a kind of what instances of so new a kind may have owned, and little more.
        self.assertLessEqual(lines[-1]["requests"], 1 + 3 * 1 + 30)

    def test_a_bundle_with_a_name(self):
        self.make_namespace()
        objects = documents(*[named("v1", "ConfigMap", f"cm-{number}") for number in range(5)])
        applied = fairlead("apply", "-n", self.name, "--name", "shop", "-f", "-", stdin=objects)
        self.assertEqual(applied.returncode, 0, applied.stderr)
        refused = fairlead("delete", "-n", self.name, "configmap/cm-0")
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"  because   it belongs to bundle shop, namespace {self.name}\n", refused.stderr)
        rehearsed = fairlead("delete", "-n", self.name, "--name", "shop", "--dry-run=server")
        self.assertEqual(rehearsed.returncode, 0, rehearsed.stderr)
        self.assertIn("5 would be deleted", rehearsed.stdout)
        result = fairlead("delete", "-n", self.name, "--name", "shop")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("5 deleted", result.stdout)
        self.assertFalse(self.there("-n", self.name, "configmap", "fairlead-shop"))
        again = fairlead("delete", "-n", self.name, "--name", "shop")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_prune_goes_in_the_same_order(self):
        bundle = self.operator_bundle(widgets=0)
        one = named(f"{self.group}/v1", "Widget", "one", self.name, metadata={"finalizers": [FINALIZER]})
        keep = named("v1", "ConfigMap", "keep", self.name)
        whole = bundle + "\n---\n" + documents(one, keep)
        applied = fairlead("apply", "-n", self.name, "--no-wait", "--name", "shop", "-f", "-", stdin=whole)
        self.assertEqual(applied.returncode, 0, applied.stderr)
        with Operator([f"widgets.{self.group}"], self.name, "acme-operator"):
            rest = documents(named("v1", "Namespace", self.name), keep)
            pruned = fairlead("apply", "-n", self.name, "--name", "shop", "--prune", "-f", "-", stdin=rest)
        self.assertEqual(pruned.returncode, 0, pruned.stdout + pruned.stderr)
        self.assertIn("; 4 pruned\n", pruned.stdout)
        self.assertFalse(self.there("crd", f"widgets.{self.group}"))

    def test_interrupted_it_goes_on_when_run_again(self):
        bundle = self.operator_bundle(widgets=1)
        process = subprocess.Popen([FAIRLEAD, "delete", "-f", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdin.write(bundle)
        process.stdin.close()
        widget = ("-n", self.name, f"widgets.{self.group}", "w0", "-o", "jsonpath={.metadata.deletionTimestamp}")
        wait_until(lambda: run(KUBECTL, "get", *widget).stdout)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)
        self.assertIn("error: interrupted\n", process.stderr.read())
        process.stdout.close()
        process.stderr.close()
        with Operator([f"widgets.{self.group}"], self.name, "acme-operator"):
            result = fairlead("delete", "-f", "-", "--timeout", "60s", stdin=bundle)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def at_a_terminal(self, answer, *arguments):
        """What is on the terminal in the end, and the exit code, when the question is answered with these keys."""
        child, terminal = pty.fork()
        if child == 0:
            # Lines, and no live view.
            os.execve(FAIRLEAD, [FAIRLEAD, "delete", *arguments], {**os.environ, "TERM": "dumb"})
        shown, answered = b"", False
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # it has ended
                break
            shown += piece
            if b"Go on? [y/N] " in shown and not answered:
                os.write(terminal, answer)
                answered = True
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        text = shown.decode().replace("\r", "")
        return re.sub(r"in \d+\.\d+s", "in …", text), os.waitstatus_to_exitcode(status)

    def test_a_terminal_is_asked(self):
        self.make_namespace()
        maps = [named("v1", "ConfigMap", f"cm-{number}", self.name) for number in range(2)]
        kubectl("apply", "-f", "-", stdin=documents(*maps))
        what = ("-n", self.name, "configmap/cm-0", "configmap/cm-1")
        asked = f"context fairlead, namespace {self.name}: 2 objects will be deleted (2 ConfigMap)."
        question = asked + "\nGo on? [y/N] "
        no = "2 not tried (not begun) in …\nerror: nothing was deleted: the answer was no\n"
        self.assertEqual(self.at_a_terminal(b"n\n", *what), (question + "n\n" + no, 1))
        self.assertEqual(self.at_a_terminal(b"\x04", *what), (question + "\n" + no, 1))
        interrupted = "^C\n2 not tried (not begun) in …\nerror: interrupted\n"
        self.assertEqual(self.at_a_terminal(b"\x03", *what), (question + interrupted, 130))
        shown, code = self.at_a_terminal(b"y\n", *what)
        self.assertEqual(code, 0, shown)
        self.assertEqual(sorted(shown.splitlines()), sorted([
            asked, "Go on? [y/N] y", f"ConfigMap {self.name}/cm-0 deleted",
            f"ConfigMap {self.name}/cm-1 deleted", "2 deleted in …"]))
        # Whoever says so beforehand is not asked; and neither is a script.
        kubectl("apply", "-f", "-", stdin=documents(*maps))
        shown, code = self.at_a_terminal(b"", "--yes", *what)
        self.assertEqual((code, "Go on?" in shown), (0, False), shown)

    def test_a_cluster_that_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config"
            config.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "x", "user": {}}]}))
            result = fairlead("--kubeconfig", str(config), "delete", "configmap/a")
            self.assertEqual(result.returncode, 1)
            self.assertIn("error: the cluster cannot be reached; nothing was deleted\n", result.stderr)
            self.assertEqual(fairlead("--kubeconfig", str(config), "delete", "configmap/a", "--cluster-gone").returncode, 0)


if __name__ == "__main__":
    unittest.main()
