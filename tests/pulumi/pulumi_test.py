"""The real pulumi with the provider and its SDKs, on the sandbox and on a real cluster: the same stories in Node.js and in Python."""
import json
import unittest

from tests.manifests import behind_a_webhook, config_map, job
from tests.pulumi.on_pulumi import IN_NODE, IN_PYTHON, OnCluster, OnPulumi, Programs

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def an_object(name, manifest, **more):
    return {"type": "KubeObject", "name": name, "args": {"manifest": manifest, **more.pop("args", {})}, **more}


class Stories(Programs):
    """One test per story; the classes below say in which language, and where."""

    def test_an_object_from_preview_to_destroy(self):
        first = an_object("a", config_map("a", level="low"), exports=["revision", "objectRef"])
        self.assertIn("create", self.pulumi("preview", first)["changes"])
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[0], 404)
        made = self.pulumi("up", first)
        self.assertEqual(made["outputs"]["a.objectRef"]["kind"], "ConfigMap")
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[1]["data"], {"level": "low"})
        self.assert_changes(self.pulumi("up", first))
        self.assert_changes(self.pulumi("refresh", first))

        changed = an_object("a", config_map("a", level="high"), exports=["revision"])
        told = self.pulumi("preview", changed)
        self.assert_changes(told, update=1)
        self.assertIn("level", told["text"])
        again = self.pulumi("up", changed)
        self.assert_changes(again, update=1)
        self.assertNotEqual(again["outputs"]["a.revision"], made["outputs"]["a.revision"])
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[1]["data"], {"level": "high"})

        self.assert_changes(self.pulumi("destroy", changed), delete=2)  # and the stack
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[0], 404)

    def test_drift_is_found_and_taken_back(self):
        one = an_object("a", config_map("a", level="low"))
        self.pulumi("up", one)
        self.api.request("PUT", f"{CONFIG_MAPS}/a", config_map("a", level="drifted"))
        self.assert_changes(self.pulumi("refresh", one), update=1)
        self.assert_changes(self.pulumi("up", one), update=1)
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[1]["data"], {"level": "low"})
        self.api.request("DELETE", f"{CONFIG_MAPS}/a")
        self.assert_changes(self.pulumi("refresh", one), delete=1)
        self.assert_changes(self.pulumi("up", one), create=1)

    def test_another_name_and_an_immutable_field_replace(self):
        self.pulumi("up", an_object("a", {**config_map("a", level="low"), "immutable": True}))
        changed = an_object("a", {**config_map("a", level="high"), "immutable": True})
        self.assert_changes(self.pulumi("preview", changed), replace=1)
        self.assert_changes(self.pulumi("up", changed), replace=1)
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[1]["data"], {"level": "high"})
        self.assert_changes(self.pulumi("up", an_object("a", config_map("b", level="high"))), replace=1)
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[0], 404)
        self.assertEqual(self.get(f"{CONFIG_MAPS}/b")[0], 200)

    def test_an_object_that_exists_is_imported(self):
        self.api.request("POST", CONFIG_MAPS, config_map("a", level="low", more="x"))
        refused = self.pulumi("up", an_object("a", config_map("a", level="low")), ok=False)
        self.assertIn("pulumi import fairlead:index:KubeObject NAME 'v1/ConfigMap:default/a'", refused["text"])
        imported = an_object("a", config_map("a", level="low", more="x"), options={"import": "v1/ConfigMap:default/a"})
        self.assert_changes(self.pulumi("up", imported), **{"import": 1})
        self.assert_changes(self.pulumi("up", an_object("a", config_map("a", level="high", more="x"))), update=1)
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[1]["data"], {"level": "high", "more": "x"})

    def test_a_secret_is_nowhere_to_be_read(self):
        guarded = an_object("a", config_map("a", level={"$secret": "hunter2hunter2"}), exports=["manifest", "managedStateProjection"])
        told = self.pulumi("up", guarded)
        self.assertEqual(told["outputs"], {"a.manifest": "[secret]", "a.managedStateProjection": "[secret]"})
        self.assertNotIn("hunter2", json.dumps(told))
        state = "".join(path.read_text() for path in (self.folder / "state").rglob("*.json"))
        self.assertIn("fairlead:index:KubeObject", state)
        self.assertNotIn("hunter2", state)
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[1]["data"], {"level": "hunter2hunter2"})
        self.assert_changes(self.pulumi("up", guarded))

    def test_a_wait_follows_its_object(self):
        def program(level):
            wait = {"objectRef": {"$ref": "a.objectRef"}, "waitFor": {"fieldValue": {"data.level": level}}, "timeout": "20s",
                    "triggers": {"revision": {"$ref": "a.revision"}}}
            return [an_object("a", config_map("a", level=level)), {"type": "Wait", "name": "w", "args": wait, "exports": ["result"]}]
        self.assertEqual(self.pulumi("up", *program("low"))["outputs"]["w.result"], {"data": {"level": "low"}})
        self.pulumi("preview", *program("high"))
        again = self.pulumi("up", *program("high"))
        self.assert_changes(again, update=2)
        self.assertEqual(again["outputs"]["w.result"], {"data": {"level": "high"}})
        function = {"type": "getObject", "name": "f", "args": {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}}
        read = self.pulumi("up", *program("high"), functions=[function])
        self.assertEqual(read["outputs"]["f"]["object"]["data"], {"level": "high"})
        self.assert_changes(self.pulumi("destroy", *program("high")), delete=3)


class SandboxStories(Stories, OnPulumi):
    """What needs pods that the sandbox plays."""

    def test_objects_behind_a_webhook_come_at_the_first_attempt(self):
        objects = [an_object(f"object-{index}", manifest) for index, manifest in enumerate(behind_a_webhook())]
        for _ in range(3):
            self.pulumi("up", *objects)
            self.assertEqual(self.get("/apis/example.com/v1/namespaces/default/widgets/one")[0], 200)
            self.assert_changes(self.pulumi("destroy", *objects), delete=len(objects) + 1)

    def test_a_bundle_that_fails_is_gone_on_with(self):
        def bundle(exit_code):
            manifests = [config_map("first", key="1"), job(f"job-{exit_code}", exit_code)]
            return {"type": "Bundle", "name": "b", "args": {"name": "shop", "manifests": manifests, "timeout": "60s"}, "exports": ["complete"]}
        failed = self.pulumi("up", bundle(1), ok=False)
        self.assertIn("job-1", failed["text"])
        self.assertEqual(self.get(f"{CONFIG_MAPS}/first")[0], 200)
        self.assertTrue(self.pulumi("up", bundle(0))["outputs"]["b.complete"])
        self.assert_changes(self.pulumi("up", bundle(0)))
        self.pulumi("destroy", bundle(0))
        self.assertEqual(self.get(f"{CONFIG_MAPS}/first")[0], 404)


class NodeTest(SandboxStories):
    driver = IN_NODE


class PythonTest(SandboxStories):
    driver = IN_PYTHON


class NodeOnClusterTest(Stories, OnCluster):
    driver = IN_NODE


class PythonOnClusterTest(Stories, OnCluster):
    driver = IN_PYTHON


del Stories, SandboxStories


if __name__ == "__main__":
    unittest.main()
