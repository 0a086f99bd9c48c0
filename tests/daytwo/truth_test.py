"""What is in the cluster is what the manifests say: moving over from other tools, runs side by side, upgrades."""
import json
import os
import subprocess
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, config_map, documents, kubectl, named, run


def container(name, **env):
    return {"name": name, "image": "example.com/app:1", "env": [{"name": key, "value": value} for key, value in env.items()]}


def deployment(*containers, labels=None, **spec):
    return named("apps/v1", "Deployment", "web", metadata={"labels": labels or {"app": "web"}}, spec={
        "replicas": 0, "selector": {"matchLabels": {"app": "web"}}, **spec,
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": list(containers)}}})


def definition(group, plural, kind, properties, scope="Namespaced"):
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec={
        "group": group, "scope": scope, "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})


class MovingOver(DayTwo):
    FULL = deployment(container("app", KEPT="1", DROPPED="1"), container("sidecar"),
                      labels={"app": "web", "dropped": "yes"}, minReadySeconds=7)
    SLIM = deployment(container("app", KEPT="1"))
    ANOTHER = config_map("c", kept="1")

    def assert_slim(self):
        live = json.loads(kubectl("-n", self.home, "get", "deployment", "web", "-o", "json"))
        self.assertEqual([one["name"] for one in live["spec"]["template"]["spec"]["containers"]], ["app"])
        self.assertEqual(live["spec"]["template"]["spec"]["containers"][0]["env"], [{"name": "KEPT", "value": "1"}])
        self.assertNotIn("dropped", live["metadata"]["labels"])
        self.assertNotIn("minReadySeconds", live["spec"])
        self.assertNotIn("kubectl.kubernetes.io/last-applied-configuration", live["metadata"].get("annotations", {}))
        self.assertEqual(json.loads(kubectl("-n", self.home, "get", "configmap", "c", "-o", "json"))["data"], {"kept": "1"})
        return live

    def move_over(self, said, *flags, name="shop"):
        objects = [self.SLIM, self.ANOTHER]
        command = [FAIRLEAD, "apply", *(["--name", name] if name else []), *flags, "-f", "-"]
        rehearsal = self.must(run(*command, "--dry-run=server", stdin=documents(*objects), env=self.env))
        self.assertRegex(rehearsal.stdout.splitlines()[-1], "^2 changed in ")
        moved = self.must(run(*command, stdin=documents(*objects), env=self.env))
        self.assertIn(said, moved.stdout)
        self.assertRegex(moved.stdout.splitlines()[-1], "^2 changed in ")
        self.assert_slim()
        again = self.must(run(*command, stdin=documents(*objects), env=self.env))
        self.assertRegex(again.stdout.splitlines()[-1], "^2 unchanged in ")
        self.assertNotIn(said, again.stdout)

    def test_from_kubectl(self):
        kubectl("-n", self.home, "apply", "-f", "-", stdin=documents(self.FULL, config_map("c", kept="1", dropped="2")))
        self.move_over(f"Deployment {self.home}/web: its fields are taken over from kubectl-client-side-apply\n")

    def test_from_kubectl_without_a_name(self):
        kubectl("-n", self.home, "apply", "-f", "-", stdin=documents(self.FULL, config_map("c", kept="1", dropped="2")))
        self.move_over(f"Deployment {self.home}/web: its fields are taken over from kubectl-client-side-apply\n", name="")

    def test_from_a_tool_that_writes_as_kubectl_apply_does(self):
        """Any manager that owns the annotation of `kubectl apply` is one, as kubectl itself has it."""
        kubectl("-n", self.home, "apply", "--field-manager=terraform", "-f", "-",
                stdin=documents(self.FULL, config_map("c", kept="1", dropped="2")))
        self.move_over(f"Deployment {self.home}/web: its fields are taken over from terraform\n")

    def test_from_helm(self):
        """As helm 3 writes: by updates, and with the annotations of its release."""
        release = {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": self.home}
        objects = json.loads(json.dumps([self.FULL, config_map("c", kept="1", dropped="2")]))
        for one in objects:
            one["metadata"].setdefault("annotations", {}).update(release)
            one["metadata"].setdefault("labels", {})["app.kubernetes.io/managed-by"] = "Helm"
        kubectl("-n", self.home, "create", "--field-manager=helm", "-f", "-", stdin=documents(*objects))
        self.move_over(f"Deployment {self.home}/web: its fields are taken over from helm\n")

    def test_from_a_run_without_a_name(self):
        self.must(run(FAIRLEAD, "apply", "--no-wait", "-f", "-", env=self.env,
                      stdin=documents(self.FULL, config_map("c", kept="1", dropped="2"))))
        self.move_over(f"Deployment {self.home}/web: its fields are taken over from fairlead\n")

    def test_from_another_bundle(self):
        self.must(self.apply("old", self.FULL, config_map("c", kept="1", dropped="2")))
        self.move_over(f"Deployment {self.home}/web: moved here from bundle old, namespace {self.home}\n", "--adopt")

    def test_from_another_field_manager(self):
        self.must(self.apply("shop", self.FULL, config_map("c", kept="1", dropped="2"), more=["--field-manager", "me"]))
        self.move_over(f"Deployment {self.home}/web: its fields are taken over from me\n")

    def test_what_others_own_stays_theirs(self):
        """Neither scaling nor labels of people are taken, and a conflict is still one."""
        kubectl("-n", self.home, "apply", "-f", "-", stdin=documents(self.FULL, self.ANOTHER))
        kubectl("-n", self.home, "label", "deployment", "web", "team=blue")
        self.must(self.apply("shop", self.SLIM, self.ANOTHER))
        self.assertEqual(self.assert_slim()["metadata"]["labels"]["team"], "blue")
        kubectl("-n", self.home, "patch", "configmap", "c", "-p", '{"data": {"kept": "3"}}', "--field-manager=other")
        self.assertEqual(self.apply("shop", self.SLIM, config_map("c", kept="4")).returncode, 4)


class Exact(DayTwo):
    def applies(self, objects, *flags, name="shop"):
        command = [FAIRLEAD, "apply", "--no-wait", *(["--name", name] if name else []), *flags, "-f", "-"]
        return self.must(run(*command, stdin=documents(*objects), env=self.env)).stdout.splitlines()

    def test_second_apply_is_unchanged(self):
        """At once, in a dry run and in earnest, with a name and without: also of objects that set nothing at all."""
        for name in ("shop", ""):
            place = f"{self.home}-{name or 'none'}"
            self.addCleanup(run, KUBECTL, "delete", "namespace", place, "--wait=false")
            objects = [named("v1", "Namespace", place), named("v1", "ServiceAccount", "robot", place),
                       named("v1", "ConfigMap", "empty", place), config_map("full", place, a="1"),
                       named("v1", "Secret", "words", place, stringData={"a": "b"}),
                       named("rbac.authorization.k8s.io/v1", "Role", "none", place, rules=[]),
                       named("v1", "Service", "web", place, spec={"ports": [{"port": 80}]}),
                       named("v1", "LimitRange", "limits", place, spec={"limits": []}),
                       named("networking.k8s.io/v1", "NetworkPolicy", "all", place, spec={"podSelector": {}}),
                       named("policy/v1", "PodDisruptionBudget", "all", place, spec={"selector": {}, "minAvailable": "50%"}),
                       {**deployment(container("app", A="1")), "metadata": {"name": "web", "namespace": place}}]
            self.assertRegex(self.applies(objects, name=name)[-1], f"^{len(objects)} created in ")
            for _ in range(2):
                for flags in (("--dry-run=server",), ()):
                    lines = self.applies(objects, *flags, name=name)
                    self.assertRegex(lines[-1], f"^{len(objects)} unchanged in ", "\n".join(lines))

    def test_change_is_seen_in_a_dry_run(self):
        self.applies([config_map("a", value="1")], name="")
        for flags in (("--dry-run=server",), ()):
            self.assertRegex(self.applies([config_map("a", value="2")], *flags, name="")[-1], "^1 changed in ")


class Secrets(DayTwo):
    def test_a_key_that_leaves_the_manifest_leaves_the_secret(self):
        for name in ("shop", ""):
            for first, second in (({"stringData": {"a": "1", "b": "2"}}, {"stringData": {"a": "3"}}),
                                  ({"data": {"a": "MQ==", "b": "Mg=="}}, {"stringData": {"a": "3"}})):
                with self.subTest(name=name, first=first):
                    command = [FAIRLEAD, "apply", *(["--name", name] if name else []), "-f", "-"]
                    secret = named("v1", "Secret", f"login{name}")
                    for content, said in ((first, "^1 (created|changed) in "), (second, "^1 changed in "), (second, "^1 unchanged in ")):
                        result = self.must(run(*command, stdin=documents({**secret, **content}), env=self.env))
                        self.assertRegex(result.stdout.splitlines()[-1], said)
                    self.assertEqual(kubectl("-n", self.home, "get", "secret", f"login{name}", "-o", "jsonpath={.data}"), '{"a":"Mw=="}')


class SideBySide(DayTwo):
    def test_run_that_starts_while_another_ends(self):
        """It decides by what the other has left, not by what was there before."""
        old, new = [config_map("a", value="old")], [config_map("a", value="new"), named("v1", "ServiceAccount", "robot")]
        self.must(self.apply("shop", *old))
        waits = deployment(container("app"), replicas=1)
        holder = subprocess.Popen([FAIRLEAD, "apply", "--name", "shop", "-f", "-"], env=self.env, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        holder.stdin.write(documents(*new, waits))
        holder.stdin.close()
        while "ServiceAccount" not in holder.stdout.readline():
            pass
        # Killed: the second run is told at once that nobody holds the bundle any more, by a claim that it has seen alive.
        holder.kill()
        holder.wait()
        self.must(self.apply("shop", *old, more=["--prune"]))
        self.assertEqual(kubectl("-n", self.home, "get", "configmap", "a", "-o", "jsonpath={.data.value}"), "old")
        self.assertFalse(self.is_there("serviceaccount", "robot"))
        self.assertFalse(self.is_there("deployment", "web"))


class Terminating(DayTwo):
    def test_namespace(self):
        place = f"{self.home}-in"
        self.addCleanup(run, KUBECTL, "delete", "namespace", place, "--wait=false")
        objects = [named("v1", "Namespace", place), config_map("a", place, value="1"), config_map("b", place, value="1")]
        self.must(self.apply("shop", *objects))
        held = {**config_map("held", place), "metadata": {"name": "held", "namespace": place, "finalizers": ["acme.dev/hold"]}}
        kubectl("create", "-f", "-", stdin=documents(held))
        kubectl("delete", "namespace", place, "--wait=false")
        applying = subprocess.Popen([FAIRLEAD, "apply", "--name", "shop", "-f", "-"], env=self.env, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(applying.stdout.close)
        applying.stdin.write(documents(*objects))
        applying.stdin.close()
        seen = applying.stdout.readline()
        kubectl("-n", place, "patch", "configmap", "held", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        seen += applying.stdout.read()
        self.assertEqual(applying.wait(), 0, seen)
        self.assertRegex(seen, "(?m)^3 created in ")
        self.assertTrue(self.is_there("-n", place, "configmap", "a"))
        self.assertTrue(self.is_there("-n", place, "configmap", "b"))

    def test_definition(self):
        group = f"t{os.getpid()}.acme.dev"
        kind = definition(group, "widgets", "Widget", {"a": {"type": "string"}})
        self.addCleanup(run, KUBECTL, "delete", "crd", f"widgets.{group}", "--wait=false")
        widget = named(f"{group}/v1", "Widget", "one", spec={"a": "1"})
        self.must(self.apply("shop", kind, widget))
        held = {**widget, "metadata": {"name": "held", "finalizers": ["acme.dev/hold"]}}
        kubectl("-n", self.home, "create", "-f", "-", stdin=documents(held))
        kubectl("delete", "crd", f"widgets.{group}", "--wait=false")
        applying = subprocess.Popen([FAIRLEAD, "apply", "--name", "shop", "-f", "-"], env=self.env, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(applying.stdout.close)
        applying.stdin.write(documents(kind, widget))
        applying.stdin.close()
        seen = applying.stdout.readline()
        kubectl("-n", self.home, "patch", f"widgets.{group}", "held", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        seen += applying.stdout.read()
        self.assertEqual(applying.wait(), 0, seen)
        self.assertRegex(seen, "(?m)^2 created in ")
        self.assertTrue(self.is_there(f"widgets.{group}", "one"))


class GrowingDefinitions(DayTwo):
    COUNT = 20

    def test_fields_that_come_with_their_definition(self):
        group = f"g{os.getpid()}.acme.dev"
        names = [f"thing{number}" for number in range(self.COUNT)]
        for name in names:
            self.addCleanup(run, KUBECTL, "delete", "crd", f"{name}s.{group}", "--wait=false")

        def bundle(fields):
            properties = {field: {"type": "string"} for field in fields}
            return [one for name in names for one in (
                definition(group, f"{name}s", name.capitalize(), properties),
                named(f"{group}/v1", name.capitalize(), "one", spec={field: "x" for field in fields}))]
        for fields in (["a"], ["a", "b"], ["a", "b", "c"]):
            self.must(self.apply("shop", *bundle(fields)))
        for name in names:
            self.assertEqual(json.loads(kubectl("-n", self.home, "get", f"{name}s.{group}", "one", "-o", "jsonpath={.spec}")),
                             {"a": "x", "b": "x", "c": "x"})


unittest.main()
