"""examples/in-cluster/job.yaml in a real cluster: the Job runs the image that `./dev image` makes in real pods, with exactly the rights of its
Role. None of them can be taken away.

A whole cluster is brought up for it, unless FAIRLEAD_PODS_CLUSTER names one.
"""
import copy
import os
import pathlib
import re
import subprocess
import time
import unittest
from unittest import mock

import yaml

from tests.scripts.image_in_cluster import IMAGE, cluster_tool, cluster_with_image
from tests.scripts.server import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAIRLEAD = os.environ["FAIRLEAD"]
HOME = "in-cluster"
USER = f"system:serviceaccount:{HOME}:fairlead"
MAPS = f"/api/v1/namespaces/{HOME}/configmaps"
SECRETS = f"/api/v1/namespaces/{HOME}/secrets"
ROLE = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{HOME}/roles/fairlead"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
# How many revisions the history keeps, each under a name of its own.
KEPT = 10


def objects():
    """Those of the example, with the image of this binary."""
    found = list(yaml.safe_load_all((ROOT / "examples/in-cluster/job.yaml").read_text()))
    found[-1]["spec"]["template"]["spec"]["containers"][0] |= {"image": IMAGE, "imagePullPolicy": "Never"}
    return found


def rights_of(role):
    """Each right of the Role alone: resource, verb, name."""
    return [(rule["resources"][0], verb, name) for rule in role["rules"] for verb in rule["verbs"] for name in rule.get("resourceNames", [""])]


def without(role, right):
    """The Role without one right: a rule for each of the others."""
    rules = [{"apiGroups": [""], "resources": [resource], "verbs": [verb]} | ({"resourceNames": [name]} if name else {})
             for resource, verb, name in rights_of(role) if (resource, verb, name) != right]
    return role | {"rules": rules}


class Pods(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        name = cluster_with_image(cls, "ship-pods")
        kubeconfig = cluster_tool("kubeconfig", "--name", name)
        cls.admin = Server(kubeconfig)
        cls.enterClassContext(mock.patch.dict(os.environ, {"KUBECONFIG": kubeconfig}))

    def setUp(self):
        made = objects()
        self.rest, self.job = made[:-1], made[-1]
        self.role = next(one for one in self.rest if one["kind"] == "Role")
        self.bundle = next(one for one in self.rest if one["kind"] == "ConfigMap")["data"]["bundle.yaml"]
        self.addCleanup(self.fairlead, "delete", "-f", "-", "--yes", "--timeout", "3m", stdin=made)
        self.fairlead("apply", "--timeout", "1m", "-f", "-", stdin=self.rest)

    def fairlead(self, *arguments, code=0, stdin=()):
        text = stdin if isinstance(stdin, str) else yaml.safe_dump_all(stdin)
        done = subprocess.run([FAIRLEAD, *arguments], input=text, capture_output=True, text=True, timeout=240)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def get(self, path):
        status, answer = self.admin.json("GET", path)
        self.assertEqual(status, 200, answer)
        return answer

    def put_role(self, role):
        status, answer = self.admin.json("PUT", ROLE, role)
        self.assertEqual(status, 200, answer)

    def await_right(self, right, allowed):
        """The API server learns of a changed Role a moment later."""
        resource, verb, name = right
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {"user": USER, "resourceAttributes": {
            "namespace": HOME, "resource": resource, "verb": verb, "name": name}}}
        deadline = time.monotonic() + 30
        while self.admin.json("POST", REVIEWS, review)[1]["status"]["allowed"] != allowed:
            self.assertLess(time.monotonic(), deadline, "the API server does not learn of the Role")
            time.sleep(0.02)

    def run_job(self, name, code=0):
        """Returns what its last pod wrote."""
        job = copy.deepcopy(self.job)
        job["metadata"]["name"] = name
        job["spec"]["backoffLimit"] = 0
        said = self.fairlead("apply", "--timeout", "2m", "-f", "-", stdin=[job], code=code)
        pods = self.get(f"/api/v1/namespaces/{HOME}/pods?labelSelector=job-name%3D{name}")["items"]
        self.assertEqual(len(pods), 1, said.stdout + said.stderr)
        return self.admin.request("GET", f"/api/v1/namespaces/{HOME}/pods/{pods[0]['metadata']['name']}/log")[2]

    def test_the_job(self):
        self.assertIn(f"ConfigMap {HOME}/colours created", self.run_job("fairlead"))
        stored = self.get(f"{MAPS}/colours")
        self.assertEqual(stored["data"], {"sky": "blue"})
        self.assertEqual([one["manager"] for one in stored["metadata"]["managedFields"]], ["fairlead/in-cluster/colours"])
        # Another one finds everything as it is.
        self.assertIn("1 unchanged", self.run_job("again"))
        self.assertEqual(self.get(f"{MAPS}/colours")["metadata"]["resourceVersion"], stored["metadata"]["resourceVersion"])
        self.assertRegex(self.fairlead("history", "colours", "-n", HOME).stdout, r"(?m)^1 .* done +1")

    def test_the_job_without_its_rights(self):
        self.put_role(self.role | {"rules": []})
        self.await_right(("configmaps", "get", "fairlead-colours"), False)
        said = self.run_job("refused", code=1)
        self.assertIn(f"kubectl auth can-i get configmaps -n {HOME}", said)
        self.assertEqual(self.admin.json("GET", f"{MAPS}/colours")[0], 404)

    # ---- each right ---------------------------------------------------------------------------------------------------
    def by_its_account(self, number):
        """The command of the Job, by its ServiceAccount, with manifests that were not there before; without what differs between runs."""
        done = self.fairlead("--as", USER, "apply", "-n", HOME, "--name", "colours", "-f", "-",
                             stdin=self.bundle.replace("blue", f"blue {number}"), code=None)
        return done.returncode, re.sub(r" in \d+\.\ds|longest: .*|revision \d+", "", done.stdout + done.stderr)

    def remove_bundle(self):
        self.fairlead("delete", "--name", "colours", "-n", HOME, "--yes")

    def differs(self, right, usual_first, usual_later):
        """Whether the command does or says something else: a right to create the first time, others later. Each revision has its turn."""
        if right[1] == "create":
            self.remove_bundle()
            return self.by_its_account(1) != usual_first
        return any(self.by_its_account(number) != usual_later for number in range(2, KEPT + 2))

    def test_none_of_the_rights_is_too_much(self):
        self.remove_bundle()
        first, *later = [self.by_its_account(number) for number in range(1, KEPT + 2)]
        self.assertEqual(first[0], 0, first)
        self.assertNotIn("warning", first[1])
        self.assertEqual([one for one in later if one != later[0] or one[0] != 0], [])
        # What is created is tried last: until then, all revisions are there.
        for right in sorted(rights_of(self.role), key=lambda right: right[1] == "create"):
            with self.subTest(right=right):
                self.put_role(without(self.role, right))
                self.await_right(right, False)
                self.assertTrue(self.differs(right, first, later[0]))
                self.put_role(self.role)
                self.await_right(right, True)
                # What was left undone is made up for before the next right has its turn.
                self.assertTrue(any(self.by_its_account(number) == later[0] for number in range(KEPT)))


unittest.main()
