"""deploy/gate-chart makes the same objects as `fairlead gate manifests`, for a table of values, and refuses what cannot work.

helm is built from its Go module (about two minutes, once). No cluster is needed.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import typing
import unittest

import yaml

from peers import peers

CHART = pathlib.Path(__file__).resolve().parents[2] / "deploy/gate-chart"
FAIRLEAD = os.environ["FAIRLEAD"]
VERSION = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
Values = dict[str, typing.Any]
IMAGE = {"repository": "registry:5000/team/fairlead", "tag": "1.20", "pullPolicy": "Never"}

# Values of the chart, and the flags of `fairlead gate manifests` that say the same.
SAME: dict[str, tuple[Values, list[str]]] = {
    "defaults": ({}, []),
    "image": ({"image": IMAGE}, ["--image", "registry:5000/team/fairlead:1.20", "--image-pull-policy", "Never"]),
    "one replica of another name": ({"name": "front-gate", "replicas": 1}, ["--name", "front-gate", "--replicas", "1"]),
    "patience": ({"patience": "2m", "patienceGone": "500ms", "patienceServiceAccounts": "90"},
                 ["--patience", "2m", "--patience-gone", "500ms", "--patience-service-accounts", "90"]),
    "shadows": ({"shadows": True}, ["--shadows"]),
    "no priority": ({"priorityClassName": ""}, ["--priority-class", ""]),
    "a priority of their own": ({"priorityClassName": "platform"}, ["--priority-class", "platform"]),
}
# Values, and words of helm.
REFUSED: dict[str, tuple[Values, str]] = {
    "unknown key": ({"replica": 1}, "'replica' not allowed"),
    "replicas": ({"replicas": 0}, "/replicas"),
    "patience": ({"patience": "soon"}, "/patience"),
    "name": ({"name": "Gate"}, "/name"),
    "priority": ({"priorityClassName": "High"}, "/priorityClassName"),
    "long name": ({"name": "a" * 41}, "/name"),
    "pull policy": ({"image": {"pullPolicy": "never"}}, "/image/pullPolicy"),
    "image": ({"image": {"repository": "a b;rm"}}, "/image/repository"),
}


def by_key(objects):
    return {(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in objects}


def is_hook(one):
    return "helm.sh/hook" in one["metadata"].get("annotations", {})


class Chart(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.binary = peers.binary("helm4")
        if cls.binary is None:
            raise AssertionError("helm cannot be built here")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.env = {**os.environ, "HOME": str(cls.folder), **peers.helm_homes(cls.folder)}

    def helm(self, values, release="rel"):
        file = self.folder / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        return subprocess.run([self.binary, "template", release, str(CHART), "--values", str(file), "--namespace", "platform"],
                              capture_output=True, text=True, timeout=60, env=self.env)

    def rendered(self, values, release="rel"):
        done = self.helm(values, release)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [one for one in yaml.safe_load_all(done.stdout) if one]

    def manifests(self, *flags):
        done = subprocess.run([FAIRLEAD, "gate", "manifests", "-n", "platform", *flags], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr, [one for one in yaml.safe_load_all(done.stdout) if one]

    def test_both_make_the_same_objects(self):
        for name, (values, flags) in SAME.items():
            with self.subTest(name):
                # Of two --image, the last one counts.
                image = [] if "--image" in flags else ["--image", f"fairlead.dev/fairlead:{VERSION}"]
                code, complaint, made = self.manifests(*(["--name", "rel"] if "--name" not in flags else []), *image, *flags)
                self.assertEqual(code, 0, complaint)
                # helm makes the namespace of a release itself.
                expected = by_key(one for one in made if one["kind"] != "Namespace")
                found = by_key(one for one in self.rendered(values) if not is_hook(one))
                self.assertEqual(sorted(found), sorted(expected))
                for key, one in expected.items():
                    self.assertEqual(found[key], one, key)

    def test_the_order_is_one_in_which_they_can_be_created(self):
        kinds = [one["kind"] for one in self.rendered({}) if not is_hook(one)]
        self.assertLess(kinds.index("ServiceAccount"), kinds.index("Deployment"))

    def test_bad_values_are_refused(self):
        for name, (values, words) in REFUSED.items():
            with self.subTest(name):
                done = self.helm(values)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)
        self.assertIn('"a.b" cannot be the name of a gate', self.helm({}, "a.b").stderr)

    def test_manifests_refuse_them_too(self):
        for flags, words in ((["--patience", "soon"], "--patience"), (["--replicas", "0"], "--replicas"), (["--name", "Gate"], '"Gate" cannot be')):
            code, complaint, _ = self.manifests(*flags)
            self.assertEqual(code, 64, complaint)
            self.assertIn(words, complaint)

    def test_what_the_gate_has_made_goes_with_it(self):
        hooks = [one for one in self.rendered({"name": "front"}) if is_hook(one)]
        self.assertEqual({one["metadata"]["annotations"]["helm.sh/hook"] for one in hooks}, {"post-delete"})
        [job] = [one for one in hooks if one["kind"] == "Job"]
        self.assertEqual(job["spec"]["template"]["spec"]["containers"][0]["args"],
                         ["gate", "uninstall", "--left-behind", "--namespace=platform", "--name=front"])
        [role] = [one for one in hooks if one["kind"] == "Role"]
        # What it may delete is what the gate may make.
        _, _, made = self.manifests("--name", "front")
        [own] = [one for one in made if one["kind"] == "Role" and one["metadata"]["namespace"] == "platform"]
        self.assertEqual([rule["resourceNames"] for rule in role["rules"]],
                         [rule["resourceNames"] for rule in own["rules"] if "resourceNames" in rule])
        self.assertEqual([one for one in self.rendered({"cleanUp": False}) if is_hook(one)], [])

    def test_the_schema_has_the_keys_of_the_values(self):
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
        self.assertEqual(set(values) | {"global"}, set(schema))
        self.assertEqual(set(values["image"]), set(schema["image"]["properties"]))

    def test_the_version_is_that_of_the_binary(self):
        done = subprocess.run([FAIRLEAD, "version"], capture_output=True, text=True, check=True)
        self.assertIn(VERSION, done.stdout)


unittest.main()
