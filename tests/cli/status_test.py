"""list, status, history, rollback and trace, on the sandbox."""
import json
import re
import unittest

from tests.cli.on_sandbox import OnSandbox


def config_map(name, value):
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: '{value}'}}\n"


class Bundles(OnSandbox):
    def apply(self, text, *more, **others):
        (self.folder / "k8s.yaml").write_text(text)
        return self.fairlead("apply", "--name", "shop", "-f", "k8s.yaml", *more, **others)

    @staticmethod
    def timeless(text):
        """Ages, holders and columns differ from run to run."""
        return re.sub(r" +", " ", re.sub(r"\S+@\S+, process \d+", "WHO", re.sub(r"\b\d+s\b", "AGE", text)))

    def test_from_the_first_run_to_the_rollback(self):
        self.apply(config_map("a", 1) + config_map("b", 1))
        left = self.apply(config_map("a", 2)).stdout
        self.assertIn("1 object of the bundle is no longer in the manifests: ConfigMap default/b; --prune deletes it\n", left)
        self.assertRegex(left, r"\n1 changed in [\d.]+s; 1 no longer in the manifests\n")
        plan = self.fairlead("plan", "--name", "shop", "-f", "k8s.yaml").stdout
        self.assertRegex(plan, r"^Nothing to do: 1 object is unchanged \([\d.]+s\)\n"
                               r"1 object of the bundle is no longer in the manifests: ConfigMap default/b; --prune deletes it\n$")
        plan = json.loads(self.fairlead("plan", "--name", "shop", "-f", "k8s.yaml", "-o", "json").stdout)
        self.assertEqual((plan["left"], plan["counts"]["left"]), (["ConfigMap default/b"], 1))
        summary = json.loads(self.fairlead("apply", "--name", "shop", "-f", "k8s.yaml", "-o", "json").stdout)["summary"]
        self.assertEqual(summary["left"], ["ConfigMap default/b"])
        self.assertEqual(self.timeless(self.fairlead("list").stdout),
                         "NAMESPACE NAME OBJECTS READY REVISION LAST RUN BY AGE\n"
                         "default shop 2 2 2 done AGE ago WHO AGE\n")
        self.assertEqual(self.timeless(self.fairlead("history", "shop").stdout),
                         "REVISION AGE HOW OBJECTS BY NOTE\n2 AGE done 1 WHO -\n1 AGE done 2 WHO -\n")
        self.assertEqual(self.fairlead("history", "shop", "--diff", "2").stdout, """\
ConfigMap default/a changed
--- revision 1
+++ revision 2
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  a: "1"
+  a: "2"
 kind: ConfigMap
 metadata:
   name: a
ConfigMap default/b removed
--- revision 1
+++ revision 2
@@ -1,7 +0,0 @@
-apiVersion: v1
-data:
-  a: "1"
-kind: ConfigMap
-metadata:
-  name: b
-  namespace: default
""")
        self.assertEqual(self.timeless(self.fairlead("status", "shop").stdout),
                         "bundle shop, namespace default, revision 2; last run done AGE ago by WHO\n"
                         "2 of 2 objects ready\n"
                         "├─ ConfigMap default/a ready\n"
                         "└─ ConfigMap default/b ready; no longer in the manifests\n")
        self.assertEqual(self.timeless(self.fairlead("trace", "cm/a").stdout),
                         "ConfigMap default/a\n bundle shop, namespace default\n from k8s.yaml:2\n"
                         " applied revision 2, done, AGE ago by WHO\n changed revision 2, done, AGE ago by WHO\n")
        self.fairlead("rollback", "shop")
        history = json.loads(self.fairlead("history", "shop", "-o", "json").stdout)
        self.assertEqual((history["schemaVersion"], history["revisions"][0]["note"]), (1, "rollback to revision 1"))
        self.fairlead("delete", "configmap/a", "--force")
        gone = self.fairlead("status", "shop", code=1).stdout
        self.assertIn("├─ ConfigMap default/a gone: it was applied, and is not in the cluster\n", self.timeless(gone))
        self.assertIn("schemaVersion: 1\n", self.fairlead("status", "shop", "-o", "yaml", code=1).stdout)

    def test_a_failed_upgrade_goes_back_by_itself(self):
        self.apply(config_map("a", 1))
        bad = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: {b: c}}\n"
        self.apply(config_map("a", 2) + bad, "--rollback-on-failure", code=1)
        history = json.loads(self.fairlead("history", "shop", "-o", "json").stdout)["revisions"]
        self.assertEqual([one["how"] for one in history], ["done", "failed", "done"])
        self.assertEqual(history[0]["note"], "rollback to revision 1, after a run that failed")
        self.assertEqual(self.apply(config_map("a", 1)).stdout.split(" in ")[0], "1 unchanged")

    def test_what_is_not_there_is_an_error(self):
        self.assertEqual(self.fairlead("list").stderr, "note: there are no bundles in namespace default; -A lists all namespaces\n")
        for arguments in (["status", "nope"], ["history", "nope"], ["rollback", "nope"]):
            with self.subTest(arguments):
                self.assertEqual(self.fairlead(*arguments, code=1).stderr,
                                 "error: there is no bundle nope in namespace default\n  next      fairlead list -A\n")
        self.apply(config_map("a", 1))
        self.assertEqual(self.fairlead("rollback", "shop", code=1).stderr,
                         "error: bundle shop has no revision to go back to\n"
                         "  because   no earlier run that was done applied anything else\n"
                         "  next      fairlead history shop\n")
        self.assertEqual(self.fairlead("history", "shop", "--diff", "x", code=1).stderr,
                         'error: --diff: "x" is no revision\n  next      write it like 3, or 2..3 to compare two of them\n')


unittest.main()
