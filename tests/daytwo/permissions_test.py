"""docs/permissions.md: the rules on that page are enough on a real API server, and none of them is too much."""
import copy
import json
import os
import pathlib
import re
import tempfile
import time
import unittest

import yaml

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, documents, kubectl, named, run
from tests.scripts.server import Server
from tests.scripts.webhooks import Webhooks

ROOT = pathlib.Path(__file__).resolve().parents[2]

PAGE = ROOT / "docs" / "permissions.md"
RBAC = "rbac.authorization.k8s.io"
PATHS = {"Role": "/apis/{group}/v1/namespaces/{home}/roles", "ClusterRole": "/apis/{group}/v1/clusterroles",
         "RoleBinding": "/apis/{group}/v1/namespaces/{home}/rolebindings",
         "ClusterRoleBinding": "/apis/{group}/v1/clusterrolebindings"}


def blocks():
    """The roles on the page, by name."""
    found = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return {role["metadata"]["name"]: role for role in map(yaml.safe_load, found)}


TRIED: set[str] = set()


class Rights(DayTwo):
    """Everything is done by a user who has nothing but the roles that a test names."""

    def setUp(self):
        super().setUp()
        self.user = f"user-{self.home}"
        self.admin = Server(os.environ["KUBECONFIG"])
        self.group = f"{self.home}.example.com"
        self.made = []
        self.addCleanup(self.remove_roles)

    # ---- roles ----------------------------------------------------------------------------------------------------
    def roles(self, *names):
        """As they are on the page, with this test's names in place of the examples'."""
        TRIED.update(names)
        text = json.dumps([blocks()[name] for name in names])
        return json.loads(text.replace('"example.com"', json.dumps(self.group)))

    def path(self, kind):
        return PATHS[kind].format(group=RBAC, home=self.home)

    def put(self, value):
        path = f"{self.path(value['kind'])}/{value['metadata']['name']}"
        status, answer = self.admin.json("PATCH", f"{path}?fieldManager=test&force=true", value,
                                         {"Content-Type": "application/apply-patch+yaml"})
        self.assertIn(status, (200, 201), answer)
        self.made.append(path)

    def remove_roles(self):
        for path in set(self.made):
            self.admin.json("DELETE", path)

    def grant(self, roles):
        for role in roles:
            name = f"{role['metadata']['name']}-{self.home}"
            place = {"namespace": self.home} if role["kind"] == "Role" else {}
            self.put({"apiVersion": f"{RBAC}/v1", "kind": role["kind"], "metadata": {"name": name, **place},
                      "rules": role["rules"]})
            self.put({"apiVersion": f"{RBAC}/v1", "kind": f"{role['kind']}Binding", "metadata": {"name": name, **place},
                      "roleRef": {"apiGroup": RBAC, "kind": role["kind"], "name": name},
                      "subjects": [{"apiGroup": RBAC, "kind": "User", "name": self.user}]})
        self.await_rights(roles)

    def may(self, role, rule, resource, verb):
        attributes = {"verb": verb, "group": rule["apiGroups"][0], "resource": resource,
                      **({"namespace": self.home} if role["kind"] == "Role" else {}),
                      **({"name": rule["resourceNames"][0]} if "resourceNames" in rule else {})}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                  "spec": {"user": self.user, "resourceAttributes": attributes}}
        return self.admin.json("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)[1]["status"]["allowed"]

    def await_rights(self, roles, *refused):
        """The API server learns of changed roles a moment later."""
        wanted = [(right, True) for right in rights_of(roles)] + [(right, False) for right in refused]
        deadline = time.monotonic() + 30
        while not all(self.may(*right) == allowed for right, allowed in wanted):
            self.assertLess(time.monotonic(), deadline, "the API server does not learn of the roles")
            time.sleep(0.02)

    # ---- what a command does --------------------------------------------------------------------------------------
    def outcome(self, command, objects):
        """The exit code and what is said, without what differs from run to run."""
        before = ["--as", self.user, *command, "-f", "-"] if objects else ["--as", self.user, *command]
        result = run(FAIRLEAD, *before, stdin=documents(*objects), env=self.env)
        text = re.sub(r" in \d+\.\ds|ready after \d+(\.\d)?s|\(\d+\.\ds| \d+s ago|longest: .*", "", result.stdout + result.stderr)
        return result.returncode, sorted(filter(None, text.splitlines()))

    def enough(self, roles, command, objects, before):
        """What the command does with these roles: all that it has to, and the same each time."""
        self.grant(roles)
        before()
        whole = self.outcome(command, objects)
        self.assertEqual(whole[0], 0, whole)
        self.assertNotRegex("\n".join(whole[1]), "warning|could not prove")
        before()
        self.assertEqual(self.outcome(command, objects), whole)
        return whole

    def without_each(self, roles, rights, command, objects, before, whole):
        """Without any one of these rights it does or says something else."""
        for right in rights:
            with self.subTest(resource=right[2], verb=right[3]):
                self.grant(without(roles, right))
                self.await_rights([], right)
                before()
                self.assertNotEqual(self.outcome(command, objects), whole)
        self.grant(roles)

    def judge(self, names, command, objects, before=lambda: None):
        roles = self.roles(*names)
        whole = self.enough(roles, command, objects, before)
        # The roles before the last one have had their turn elsewhere.
        rights = [right for right in rights_of(roles[-1:]) if self.is_known(right)]
        self.without_each(roles, rights, command, objects, before, whole)

    def is_known(self, right):
        """Older API servers do not serve mutating policies, or not in any version that they serve unasked."""
        _, rule, resource, _ = right
        if not resource.startswith("mutatingadmissionpolic"):
            return True
        _, group = self.admin.json("GET", f"/apis/{rule['apiGroups'][0]}")
        lists = [self.admin.json("GET", f"/apis/{version['groupVersion']}")[1] for version in group["versions"]]
        return any(one["name"] == resource for each in lists for one in each["resources"])

    # ---- what there is to apply -----------------------------------------------------------------------------------
    def objects(self, value="1"):
        template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}
        return [named("v1", "Secret", "secret", self.home, stringData={"a": value}),
                named("v1", "Service", "web", self.home, spec={"selector": {"app": "x"}, "ports": [{"port": 80}]}),
                named("apps/v1", "Deployment", "web", self.home, spec={
                    "replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "template": template})]

    def containers(self):
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        place = f"{self.home}-new"
        return [named("v1", "Namespace", place), named("v1", "Secret", "inside", place, stringData={"a": "1"}),
                named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{self.group}", spec={
                    "group": self.group, "scope": "Namespaced",
                    "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}),
                self.widget()]

    def widget(self):
        return named(f"{self.group}/v1", "Widget", "one", self.home)

    def as_admin(self, *arguments, objects=()):
        self.must(run(FAIRLEAD, *arguments, *(["-f", "-"] if objects else []), stdin=documents(*objects), env=self.env))

    def remove(self, objects):
        """As an administrator, and until they are gone."""
        result = run(FAIRLEAD, "delete", "--force", "-f", "-", stdin=documents(*objects), env=self.env)
        self.must(result)
        run(KUBECTL, "-n", self.home, "delete", "configmap", "fairlead-shop", "--ignore-not-found")
        run(KUBECTL, "-n", self.home, "delete", "secrets", "-l", "fairlead.dev/revision-of")

    # ---- the page -------------------------------------------------------------------------------------------------
    def test_apply(self):
        self.judge(["apply"], ["apply"], self.objects(), before=lambda: self.remove(self.objects()))

    def test_dry_run(self):
        self.judge(["dry-run"], ["apply", "--dry-run=server"], self.objects())

    def test_plan(self):
        """Nothing but reading is needed. There is nothing to do, so that the exit code is 0."""
        self.as_admin("apply", "--no-wait", objects=self.objects())
        self.addCleanup(self.remove, self.objects())
        self.judge(["plan"], ["plan", "--dry-run=client"], self.objects())

    def test_name(self):
        """The first run creates the record; only later ones have something to list by it."""
        roles, command, objects = self.roles("apply", "name"), ["apply", "--name", "shop"], self.objects()

        def again():
            self.remove(objects)
            self.as_admin(*command, objects=objects)

        for before, is_judged in ((lambda: self.remove(objects), lambda verb: verb == "create"),
                                  (again, lambda verb: verb != "create")):
            rights = [right for right in rights_of(roles[1:]) if is_judged(right[3])]
            whole = self.enough(roles, command, objects, before)
            self.without_each(roles, rights, command, objects, before, whole)

    def test_history(self):
        """The first revision is created. A place that is taken, by one that the record does not list, is written again."""
        [_, web, deployment] = self.objects()
        objects = [web, deployment]
        roles, command = self.roles("apply", "name", "history"), ["apply", "--name", "shop"]
        for role in roles[:2]:  # what gives the same rights for the Secrets of the bundle itself
            for rule in role["rules"]:
                rule["resources"] = [one for one in rule["resources"] if one != "secrets"]

        def taken():
            self.remove(objects)
            self.as_admin(*command, objects=[web])
            run(KUBECTL, "-n", self.home, "annotate", "configmap", "fairlead-shop", "fairlead.dev/revisions-")

        for before, is_judged in ((lambda: self.remove(objects), lambda verb: verb == "create"),
                                  (taken, lambda verb: verb != "create")):
            rights = [right for right in rights_of(roles[2:]) if is_judged(right[3])]
            whole = self.enough(roles, command, objects, before)
            self.without_each(roles, rights, command, objects, before, whole)

    def test_status(self):
        self.as_admin("apply", "--name", "shop", objects=self.objects())
        self.judge(["status"], ["status", "shop"], [])

    def test_doctor(self):
        self.judge(["doctor"], ["doctor", "namespace", self.home, "--fail-on", "never"], [])

    def test_prune(self):
        def before():
            self.remove(self.objects())
            self.as_admin("apply", "--name", "shop", objects=[*self.objects(), self.left()])

        # One object of each kind leaves, and one stays.
        self.judge(["apply", "name", "prune"], ["apply", "--name", "shop", "--prune"], [self.left()], before=before)

    def left(self):
        return named("v1", "Secret", "left", self.home, stringData={"a": "1"})

    def test_delete(self):
        self.judge(["delete"], ["delete"], self.objects(), before=lambda: self.as_admin("apply", objects=self.objects()))

    def test_delete_name(self):
        self.judge(["delete-name"], ["delete", "--name", "shop"], [],
                   before=lambda: self.as_admin("apply", "--name", "shop", objects=self.objects()))

    def test_containers(self):
        self.addCleanup(self.remove, self.containers())
        self.judge(["apply-containers"], ["apply"], self.containers(), before=lambda: self.remove(self.containers()))

    def test_delete_containers(self):
        self.addCleanup(self.remove, self.containers())
        self.judge(["delete-containers"], ["delete", "--name", "shop", "--timeout", "60s"], [],
                   before=lambda: self.as_admin("apply", "--name", "shop", objects=self.containers()))

    def test_read_guards(self):
        self.judge(["apply", "read-guards"], ["apply"], self.objects(), before=lambda: self.remove(self.objects()))

    def test_prove_webhooks(self):
        hooks = Webhooks()
        self.addCleanup(hooks.close)
        hooks.set("guard", {})
        definition = self.containers()[2]
        self.as_admin("apply", objects=[definition])
        self.addCleanup(self.remove, [definition])

        def guard(*operations):
            return named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", f"guard-{self.home}", webhooks=[{
                "name": f"guard.{self.group}", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "failurePolicy": "Ignore", "clientConfig": {"url": hooks.url("guard"), "caBundle": hooks.ca},
                "rules": [{"apiGroups": [self.group], "apiVersions": ["v1"], "operations": list(operations),
                           "resources": ["widgets"]}]}])

        self.addCleanup(self.remove, [guard("CREATE")])
        self.judge_proof(guard)

    def judge_proof(self, guard):
        """A webhook that comes needs all but `get`; one that is changed needs that as well."""
        objects = [guard("CREATE"), self.widget()]
        roles = self.roles("prove-webhooks")

        def anew():
            self.remove(objects)

        def updated():
            self.remove(objects)
            self.as_admin("apply", objects=[guard("DELETE")])

        for before, is_judged in ((anew, lambda verb: verb != "get"), (updated, lambda verb: verb == "get")):
            rights = [right for right in rights_of(roles) if is_judged(right[3])]
            whole = self.enough(roles, ["apply"], objects, before)
            self.without_each(roles, rights, ["apply"], objects, before, whole)
        shadows = run(KUBECTL, "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-l", "fairlead.dev/shadow",
                      "-o", "name").stdout
        self.assertEqual(shadows, "", "without a right, too, none is left")

    def test_wait(self):
        self.as_admin("apply", objects=self.objects())
        self.addCleanup(self.remove, self.objects())
        self.judge(["wait"], ["wait", "deployment/web"], [])

    def test_wait_webhooks(self):
        hooks = Webhooks()
        self.addCleanup(hooks.close)
        hooks.set("guard", {})
        guard = named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", f"guard-{self.home}", webhooks=[{
            "name": f"guard.{self.group}", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": hooks.url("guard"), "caBundle": hooks.ca},
            "rules": [{"apiGroups": [self.group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}]}])
        self.as_admin("apply", objects=[guard])
        self.addCleanup(self.remove, [guard])
        self.judge(["wait-webhooks"], ["wait", f"validatingwebhookconfiguration/guard-{self.home}"], [])

    CERTS = ["--service", "hook", "--secret", "hook-cert"]

    def empty_secret(self):
        """There is a Secret, and nothing in it."""
        kubectl("-n", self.home, "delete", "secret", "hook-cert", "hook-cert-ca", "--ignore-not-found")
        kubectl("-n", self.home, "create", "secret", "generic", "hook-cert")

    def test_certs_ensure(self):
        self.judge(["certs-ensure"], ["certs", "ensure", *self.CERTS], [], self.empty_secret)

    def test_certs_inject(self):
        guard = named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", f"guard-{self.home}", webhooks=[{
            "name": f"guard.{self.group}", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": {"namespace": self.home, "name": "hook"}},
            "rules": [{"apiGroups": [self.group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}]}])

        def without_bundle():
            kubectl("delete", "validatingwebhookconfiguration", f"guard-{self.home}", "--ignore-not-found")
            kubectl("create", "-f", "-", stdin=documents(guard))

        self.as_admin("certs", "ensure", *self.CERTS)
        self.addCleanup(kubectl, "delete", "validatingwebhookconfiguration", f"guard-{self.home}", "--ignore-not-found")
        command = ["certs", "inject", *self.CERTS, "--webhook", f"guard-{self.home}"]
        self.judge(["certs-inject", "certs-read"], command, [], without_bundle)
        self.judge(["certs-read", "certs-inject"], command, [], without_bundle)

    def test_run_events(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "p.yaml").write_text("phases: [{name: one, steps: [{command: ['true']}]}]")
        self.judge(["run-events"], ["run", str(folder / "p.yaml")], [], lambda: (folder / "p.yaml.state").unlink(missing_ok=True))

    def test_zz_every_role_was_tried(self):
        self.assertEqual(TRIED, set(blocks()))


def rights_of(roles):
    """Each as (role, rule, resource, verb)."""
    return [(role, rule, resource, verb) for role in roles for rule in role["rules"] for resource in rule["resources"]
            for verb in rule["verbs"]]


def without(roles, right):
    """Copies of the roles that lack one verb of one resource."""
    result = []
    for role in roles:
        changed = copy.deepcopy(role)
        if role is right[0]:
            changed["rules"] = []
            for rule in role["rules"]:
                for resource in rule["resources"]:
                    verbs = [verb for verb in rule["verbs"] if (rule is right[1], resource, verb) != (True, *right[2:])]
                    if verbs:
                        changed["rules"].append({**rule, "resources": [resource], "verbs": verbs})
        result.append(changed)
    return result


if __name__ == "__main__":
    unittest.main()
