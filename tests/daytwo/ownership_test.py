"""Nothing is taken that is not the bundle's: prune, delete and claims on a real control plane."""
import os
import re
import subprocess
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, config_map, documents, kubectl, named, run


class Ownership(DayTwo):
    def test_copied_labels(self):
        """The labels of a Service are copied to its EndpointSlices; people copy labels with `kubectl label`."""
        service = named("v1", "Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]})
        own = named("discovery.k8s.io/v1", "EndpointSlice", "outside", addressType="IPv4", endpoints=[], ports=[])
        self.must(self.apply("shop", service, own, config_map("a"), config_map("b")))
        kubectl("-n", self.home, "wait", "--for=create", "endpointslice", "-l", "kubernetes.io/service-name=web",
                "--timeout=60s")
        [copy] = kubectl("-n", self.home, "get", "endpointslice", "-l", "kubernetes.io/service-name=web",
                         "-o", "jsonpath={.items[*].metadata.uid}").split()
        label = kubectl("-n", self.home, "get", "configmap", "a", "-o",
                        r"jsonpath={.metadata.labels.applyset\.kubernetes\.io/part-of}")
        kubectl("-n", self.home, "create", "configmap", "theirs")
        kubectl("-n", self.home, "label", "configmap", "theirs", f"applyset.kubernetes.io/part-of={label}")

        pruned = self.must(self.apply("shop", service, config_map("a"), more=["--prune"]))
        self.assertIn(f"EndpointSlice {self.home}/outside deleted\n", pruned.stdout)
        self.assertIn(f"ConfigMap {self.home}/b deleted\n", pruned.stdout)
        self.assertRegex(pruned.stdout.splitlines()[-1], r"^2 unchanged in \d+\.\ds; 2 pruned$")
        self.assertIn(f"warning: ConfigMap {self.home}/theirs is left alone: it has the bundle's label, but the bundle "
                      "did not apply it\n", pruned.stdout + pruned.stderr)
        self.assertEqual(kubectl("-n", self.home, "get", "endpointslice", "-o", "jsonpath={.items[*].metadata.uid}"), copy)

        self.must(self.delete("--name", "shop"))
        self.assertTrue(self.is_there("configmap", "theirs"))
        self.assertFalse(self.is_there("configmap", "a"))
        self.assertFalse(self.is_there("configmap", "fairlead-shop"))

    def test_object_of_another_bundle(self):
        self.must(self.apply("one", config_map("x", a="1")))
        error = (f"error: ConfigMap {self.home}/x belongs to bundle one, namespace {self.home}\n  from      stdin:1\n"
                 "  next      fairlead apply … --adopt moves it to this bundle; or leave it out of these manifests\n")
        for flags in ([], ["--force-conflicts"], ["--force-conflicts", "--dry-run=server"]):
            refused = self.apply("two", config_map("x", a="2"), more=flags)
            self.assertEqual((refused.returncode, refused.stderr), (4, error))
        plain = run(FAIRLEAD, "apply", "-n", self.home, "-f", "-", "--force-conflicts",
                    stdin=documents(config_map("x", a="2")))
        self.assertEqual(plain.returncode, 4, plain.stdout + plain.stderr)
        self.assertIn(f"error: ConfigMap {self.home}/x belongs to bundle one, namespace {self.home}\n", plain.stderr)
        value = ["-n", self.home, "get", "configmap", "x", "-o", "jsonpath={.data.a}"]
        self.assertEqual(kubectl(*value), "1")

        moved = self.must(self.apply("two", config_map("x", a="2"), more=["--adopt"]))
        self.assertIn(f"ConfigMap {self.home}/x: moved here from bundle one, namespace {self.home}\n", moved.stdout)
        self.assertEqual(kubectl(*value), "2")
        again = self.apply("one", config_map("x", a="1"))
        self.assertIn(f"error: ConfigMap {self.home}/x belongs to bundle two, namespace {self.home}\n", again.stderr)
        self.must(self.apply("one", config_map("y"), more=["--prune"]))
        self.must(self.delete("--name", "one"))
        self.assertEqual(kubectl(*value), "2")

    def test_shared_namespace(self):
        shared = f"{self.home}-shared"
        self.addCleanup(run, KUBECTL, "delete", "namespace", shared, "--wait=false")
        namespace = named("v1", "Namespace", shared)
        self.must(self.apply("one", namespace, config_map("a", shared)))
        self.must(self.apply("two", config_map("theirs", shared)))
        stays = (f"Namespace {shared}: kept: 1 object of others would be deleted with it: ConfigMap {shared}/theirs of "
                 f"bundle two, namespace {self.home} (delete those bundles first, or move these objects to another namespace)")
        pruned = self.must(self.apply("one", config_map("b"), more=["--prune", "--with-contents"]))
        self.assertIn(f"warning: {stays}\n", pruned.stdout + pruned.stderr)
        removed = self.must(self.delete("--name", "one", "--with-contents"))
        self.assertIn(f"warning: {stays}\n", removed.stdout + removed.stderr)
        self.assertRegex(removed.stdout.splitlines()[-1], "^2 objects: 1 deleted, 1 kept in ")
        self.assertTrue(self.is_there("-n", shared, "configmap", "theirs"))

        kubectl("-n", shared, "create", "serviceaccount", "robot")
        self.must(self.delete("--name", "two"))
        kept = self.must(self.delete("--name", "one"))
        self.assertIn(f"1 object of others would be deleted with it: ServiceAccount {shared}/robot", kept.stdout + kept.stderr)
        gone = self.must(self.delete("--name", "one", "--with-contents"))
        self.assertRegex(gone.stdout.splitlines()[-1], "^1 deleted in ")
        self.assertFalse(self.is_there("namespace", shared))
        self.assertFalse(self.is_there("configmap", "fairlead-one"))

    def test_definition_with_instances_of_others(self):
        group = f"{self.home[:30].strip('-')}-{os.getpid()}.acme.dev"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{group}", spec={
            "group": group, "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})
        self.addCleanup(run, KUBECTL, "delete", "crd", f"widgets.{group}", "--wait=false")
        widget = named(f"{group}/v1", "Widget", "theirs", self.home)
        self.must(self.apply("shop", definition, config_map("a")))
        kubectl("apply", "-f", "-", stdin=documents(widget))
        pruned = self.must(self.apply("shop", config_map("a"), more=["--prune"]))
        self.assertIn(f"CustomResourceDefinition widgets.{group}: kept: 1 object of others would be deleted with it: "
                      f"Widget {self.home}/theirs (--with-contents deletes them as well)", pruned.stdout + pruned.stderr)
        self.must(self.delete("--name", "shop"))
        self.assertTrue(self.is_there(f"widgets.{group}", "theirs"))
        self.must(self.delete("--name", "shop", "--with-contents"))
        self.assertFalse(self.is_there("crd", f"widgets.{group}"))

    def test_dry_run_writes_nothing(self):
        place = f"{self.home}-new"
        hook = {"name": f"guard.{self.home}.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "failurePolicy": "Ignore", "clientConfig": {"service": {"name": "webhook", "namespace": place}},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.home}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]}
        bundle = [named("v1", "Namespace", place), config_map("inside", place), config_map("guarded", self.home),
                  named("v1", "Service", "webhook", place, spec={"ports": [{"port": 443}]}),
                  named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", self.home, webhooks=[hook])]
        # Not with -n: the bundle has a second namespace.
        result = self.must(run(FAIRLEAD, "apply", "--name", self.home[:50].strip("-"), "--prune", "--dry-run=server", "-v", "6",
                               "-f", "-", stdin=documents(*bundle)))
        writes = re.findall(r"\b(?:POST|PUT|PATCH|DELETE) (?!\S+/selfsubjectaccessreviews )\S+", result.stderr)
        self.assertEqual(len(writes), len(bundle), result.stderr)
        self.assertEqual([one for one in writes if "dryRun=All" not in one], [])
        self.assertRegex(result.stdout.splitlines()[-1], r"^5 objects: 3 created, 2 not tried \(not checked\) in .*\(dry run: nothing was stored\)$")
        self.assertFalse(self.is_there("validatingwebhookconfiguration", self.home))

    def test_bundle_that_is_gone_already(self):
        self.must(self.apply("shop", config_map("a")))
        self.must(self.delete("--name", "shop"))
        again = self.must(self.delete("--name", "shop"))
        self.assertIn(f"there is no bundle shop in namespace {self.home}: nothing to delete", again.stdout)

    def test_live_claim_seen_from_a_container(self):
        """A run in another PID namespace does not see the holder's process, and must not take it for dead."""
        waits = named("apps/v1", "Deployment", "never-ready", spec={
            "selector": {"matchLabels": {"app": "x"}},
            "template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}})
        arguments = ["-n", self.home, "--name", "shop", "-f", "-"]
        holder = subprocess.Popen([FAIRLEAD, "apply", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        holder.stdin.write(documents(waits))
        holder.stdin.close()
        self.assertIn("Deployment", holder.stdout.readline())
        container = ["unshare", *(["--map-root-user"] if os.getuid() else []), "--pid", "--fork", "--mount-proc"]
        other = run(*container, FAIRLEAD, "apply", *arguments, "--timeout", "60s", stdin=documents(waits))
        self.assertEqual(other.returncode, 1, other.stdout + other.stderr)
        self.assertIn(f"error: bundle shop in namespace {self.home} is claimed by another run\n", other.stderr)
        self.assertIsNone(holder.poll())


unittest.main()
