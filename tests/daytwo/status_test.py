"""list, status, history, rollback and trace on a real API server."""
import concurrent.futures
import json
import unittest

from tests.daytwo.daytwo import FAIRLEAD, DayTwo, config_map, kubectl, named, run


class Status(DayTwo):
    def fairlead(self, *arguments, **more):
        return run(FAIRLEAD, *arguments, env=self.env, **more)

    def document(self, *arguments, code=0):
        result = self.fairlead(*arguments, "-o", "json")
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        document = json.loads(result.stdout)
        self.assertEqual(document["schemaVersion"], 1)
        return document

    def revisions(self):
        return [(one["revision"], one["how"], one.get("note")) for one in self.document("history", "shop")["revisions"]]

    def value(self, name="settings"):
        return json.loads(kubectl("-n", self.home, "get", "configmap", name, "-o", "json"))["data"]

    def secret(self, value):
        return named("v1", "Secret", "key", stringData={"password": value})

    def test_the_life_of_a_bundle(self):
        first, second = config_map("settings", a="1"), config_map("settings", a="2")
        self.must(self.apply("shop", first, config_map("more")))
        unchanged = self.must(self.apply("shop", first, config_map("more")))
        self.assertIn("2 unchanged", unchanged.stdout)
        left = self.must(self.apply("shop", second))
        self.assertIn(f"1 object of the bundle is no longer in the manifests: ConfigMap {self.home}/more; --prune deletes it",
                      left.stdout + left.stderr)
        self.assertEqual(self.revisions(), [(2, "done", None), (1, "done", None)])

        difference = self.must(self.fairlead("history", "shop", "--diff", "2")).stdout
        self.assertIn(f"ConfigMap {self.home}/more removed\n", difference)
        self.assertRegex(difference, r'(?m)^-  a: "1"\n\+  a: "2"$')

        [bundle] = self.document("list")["bundles"]
        self.assertEqual((bundle["name"], bundle["namespace"], bundle["objects"], bundle["ready"]), ("shop", self.home, 2, 2))
        self.assertEqual((bundle["revision"]["revision"], bundle["lastRun"]["how"]), (2, "done"))
        self.assertIn("shop", self.must(self.fairlead("list", "-A", "-o", "wide")).stdout)

        kubectl("-n", self.home, "patch", "configmap", "settings", "-p", '{"data": {"a": "drifted", "b": "added"}}')
        status = self.document("status", "shop")
        [settings, more] = status["objects"]
        self.assertEqual((settings["drift"], settings["fields"]), ("changed", ["data.a"]))
        self.assertTrue(more["left"])

        self.must(self.fairlead("rollback", "shop", "--force-conflicts"))
        self.assertEqual(self.value(), {"a": "1", "b": "added"})
        self.assertEqual(self.revisions()[0], (3, "done", "rollback to revision 1"))
        trace = self.document("trace", "configmap/settings")
        self.assertEqual((trace["bundle"], trace["source"], trace["applied"]["revision"], trace["changed"]["revision"]),
                         ({"name": "shop", "namespace": self.home}, "stdin:1", 3, 3))

        kubectl("-n", self.home, "delete", "configmap", "more")
        status = self.document("status", "shop", code=1)
        self.assertEqual([one["drift"] for one in status["objects"]], ["none", "gone"])

        self.must(self.delete("--name", "shop"))
        self.assertEqual(kubectl("-n", self.home, "get", "secrets", "-l", "fairlead.dev/revision-of", "-o", "name"), "")
        gone = self.fairlead("status", "shop")
        self.assertEqual((gone.returncode, gone.stderr),
                         (1, f"error: there is no bundle shop in namespace {self.home}\n  next      fairlead list -A\n"))

    def test_secrets_are_kept_by_hash_unless_asked_for(self):
        self.must(self.apply("shop", self.secret("hunter2"), config_map("settings", a="1")))
        self.must(self.apply("shop", self.secret("hunter2"), config_map("settings", a="2")))
        self.must(self.fairlead("rollback", "shop"))  # the value is still in the cluster
        self.assertEqual(self.value(), {"a": "1"})
        self.must(self.apply("shop", self.secret("new"), config_map("settings", a="1")))
        refused = self.fairlead("rollback", "shop", "1")
        self.assertEqual((refused.returncode, refused.stderr), (1, (
            "error: bundle shop cannot go back to revision 1\n"
            f"  because   values of Secrets are needed that were not kept: Secret {self.home}/key (key password)\n"
            "  because   the cluster has other values by now\n"
            "  next      fairlead rollback … --current-secrets keeps the values that are in the cluster\n")))
        result = self.must(self.fairlead("rollback", "shop", "2", "--current-secrets"))
        self.assertIn("warning: the values in the cluster stay", result.stderr)
        self.assertEqual(self.password(), "bmV3")
        self.must(self.apply("shop", self.secret("kept"), more=["--keep-secrets"]))
        self.must(self.apply("shop", self.secret("other")))
        number = self.revisions()[1][0]
        self.must(self.fairlead("rollback", "shop", str(number)))
        self.assertEqual(self.password(), "a2VwdA==")
        self.assertNotIn("hunter2", self.fairlead("history", "shop", "--diff", "1..2").stdout)

    def password(self):
        return json.loads(kubectl("-n", self.home, "get", "secret", "key", "-o", "json"))["data"]["password"]

    def test_a_failed_upgrade_goes_back_by_itself(self):
        good, bad = config_map("settings", a="1"), named("v1", "ConfigMap", "bad", data={"a": {"b": "c"}})
        first = self.apply("shop", config_map("settings", a="0"), bad, more=["--rollback-on-failure"])
        self.assertEqual(first.returncode, 1)
        self.assertIn("has no revision to go back to", first.stdout + first.stderr)
        self.must(self.apply("shop", good))
        failed = self.apply("shop", config_map("settings", a="2"), bad, more=["--rollback-on-failure"])
        self.assertEqual(failed.returncode, 1, failed.stdout + failed.stderr)
        self.assertEqual(self.value(), {"a": "1"})
        numbers = [one[0] for one in self.revisions()]
        self.assertEqual([one[1:] for one in self.revisions()][:2],
                         [("done", f"rollback to revision {numbers[2]}, after a run that failed"), ("failed", None)])

    def test_two_runs_at_once_make_revisions_one_after_the_other(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ended = list(pool.map(lambda value: self.apply("shop", config_map("settings", a=value)), ["1", "2"]))
        done = [result for result in ended if result.returncode == 0]
        refused = [result for result in ended if result.returncode != 0]
        self.assertGreaterEqual(len(done), 1)
        for result in refused:
            self.assertIn("is claimed by another run", result.stderr)
        self.assertEqual([one[0] for one in self.revisions()], list(range(len(done), 0, -1)))

    def test_the_last_ten_revisions_are_kept(self):
        for number in range(12):
            self.must(self.apply("shop", config_map("settings", a=str(number))))
        self.assertEqual([one[0] for one in self.revisions()], list(range(12, 2, -1)))
        secrets = kubectl("-n", self.home, "get", "secrets", "-l", "fairlead.dev/revision-of", "-o", "name")
        self.assertEqual(len(secrets.splitlines()), 10)
        self.must(self.fairlead("rollback", "shop", "3"))
        self.assertEqual(self.value(), {"a": "2"})


if __name__ == "__main__":
    unittest.main()
