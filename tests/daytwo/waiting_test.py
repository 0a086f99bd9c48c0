"""Apply neither hangs nor gives up wrongly: rights, deletions by others, immutable fields, on a real control plane."""
import os
import shutil
import subprocess
import unittest

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, documents, kubectl, named, run


def deployment(name, namespace, replicas=0):
    """No node runs pods: with no replicas it is ready as soon as its controller has seen it, with any it never is."""
    return named("apps/v1", "Deployment", name, namespace, spec={
        "replicas": replicas, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}})


class Waiting(DayTwo):
    def make_namespace(self, name):
        kubectl("create", "namespace", name)
        self.addCleanup(run, KUBECTL, "delete", "namespace", name, "--wait=false")

    def env_of(self, user=None):
        """The environment of a user with its home in the test's namespace; of the administrator without one."""
        path = self.env["KUBECONFIG"]
        if user:
            path = shutil.copy(path, self.folder / user)
            token = kubectl("-n", self.home, "create", "token", user).strip()
            kubectl("--kubeconfig", path, "config", "set-credentials", user, f"--token={token}")
            kubectl("--kubeconfig", path, "config", "set-context", "--current", f"--user={user}")
        return {**os.environ, "KUBECONFIG": path}

    def make_user(self, name, namespaces, *rules):
        """A ServiceAccount that has these rights in these namespaces, and no others."""
        kubectl("-n", self.home, "create", "serviceaccount", name)
        for namespace in namespaces:
            role = named("rbac.authorization.k8s.io/v1", "Role", name, namespace, rules=list(rules))
            binding = named("rbac.authorization.k8s.io/v1", "RoleBinding", name, namespace,
                            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
                            subjects=[{"kind": "ServiceAccount", "name": name, "namespace": self.home}])
            kubectl("apply", "-f", "-", stdin=documents(role, binding))
        return self.env_of(name)

    def apply(self, *objects, more=(), env=None, timeout="60s"):
        return run(FAIRLEAD, "apply", "--timeout", timeout, *more, "-f", "-", stdin=documents(*objects),
                   env=env or self.env_of())

    EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}

    def test_rights_in_two_namespaces(self):
        other = f"{self.home}-other"
        self.make_namespace(other)
        env = self.make_user("dev", [self.home, other], self.EVERYTHING)
        bundle = [deployment("web", self.home), deployment("web", other)]
        for more in ([], ["--name", "shop"], ["--name", "shop", "--prune"]):
            result = self.must(self.apply(*bundle, more=more, env=env))
            self.assertEqual(result.stderr, "")
            self.assertEqual(result.stdout.splitlines()[0],
                             "this user may not list APIServices, CRDs, Services, admission policies, namespaces, webhook "
                             "configurations: what they block is known only when the API server refuses it")
        quiet = self.must(self.apply(*bundle, more=["-o", "quiet"], env=env))
        self.assertEqual(quiet.stdout + quiet.stderr, "")

    def test_right_to_get_only(self):
        env = self.make_user("dev", [self.home], {"apiGroups": ["apps"], "resources": ["deployments"],
                                                  "verbs": ["get", "create", "patch"]})
        self.must(self.apply(deployment("web", self.home), env=env))

    def test_no_right_to_read(self):
        env = self.make_user("dev", [self.home], {"apiGroups": ["apps"], "resources": ["deployments"],
                                                  "verbs": ["create", "patch"]})
        result = self.apply(deployment("web", self.home), env=env)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(result.stderr, (
            f"error: Deployment {self.home}/web is stored, but it is not known whether it becomes ready\n"
            f'  because   deployments.apps "web" is forbidden: User "system:serviceaccount:{self.home}:dev" cannot get '
            f'resource "deployments" in API group "apps" in the namespace "{self.home}"\n'
            "  from      stdin:1\n"
            f"  next      kubectl auth can-i get deployments.apps -n {self.home}; or fairlead apply … --no-wait, which does not wait until objects are ready"
            "\n"))
        self.must(self.apply(deployment("web", self.home), env=env, more=["--no-wait"]))

    def test_no_wait(self):
        """What refers to the Deployment needs it to be stored, not to be ready."""
        scaler = named("autoscaling/v2", "HorizontalPodAutoscaler", "web", self.home, spec={
            "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})
        self.must(self.apply(deployment("web", self.home, replicas=1), scaler, more=["--no-wait"]))

    def begin(self, *objects):
        """An apply that waits for the last object; given once that is stored."""
        waits = subprocess.Popen([FAIRLEAD, "apply", "--timeout", "60s", "-f", "-"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env_of())
        for stream in (waits.stdout, waits.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(waits.wait)
        self.addCleanup(waits.kill)
        waits.stdin.write(documents(*objects))
        waits.stdin.close()
        waits.stdin = None
        name = objects[-1]["metadata"]["name"]
        for line in waits.stdout:
            if line.endswith(f"/{name} created\n"):
                return waits
        self.fail(waits.stderr.read())

    def test_deleted_while_it_is_waited_for(self):
        waits = self.begin(deployment("web", self.home, replicas=1))
        kubectl("-n", self.home, "delete", "deployment", "web", "--wait=false")
        _, error = waits.communicate(timeout=60)
        self.assertEqual(waits.returncode, 1, error)
        self.assertEqual(error, (
            f"error: Deployment {self.home}/web was deleted while Fairlead waited for it\n"
            "  because   another user or a controller deleted it\n"
            "  from      stdin:1\n"
            f"  next      kubectl -n {self.home} get events --field-selector involvedObject.name=web; then apply again\n"))

    def test_being_deleted_while_it_is_waited_for(self):
        held = deployment("web", self.home, replicas=1)
        held["metadata"]["finalizers"] = ["example.com/stay"]
        self.addCleanup(run, KUBECTL, "-n", self.home, "patch", "deployment", "web", "--type=merge",
                        "-p", '{"metadata":{"finalizers":null}}')
        waits = self.begin(held)
        kubectl("-n", self.home, "delete", "deployment", "web", "--wait=false")
        _, error = waits.communicate(timeout=60)
        self.assertEqual(waits.returncode, 1, error)
        self.assertIn(f"error: Deployment {self.home}/web began terminating while Fairlead waited for it\n", error)

    def immutable_cases(self):
        """Objects and a change of each that the API server does not accept."""
        group = f"g{os.getpid()}.acme.dev"
        template: dict = {"metadata": {"labels": {"a": "b"}},
                    "spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}
        workload: dict = {"selector": {"matchLabels": {"a": "b"}},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}}
        labels: dict = {"selector": {"matchLabels": {"a": "c"}},
                  "template": {**workload["template"], "metadata": {"labels": {"a": "c"}}}}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}
        claim: dict = {"storageClassName": "none", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        at = self.home
        rights = "rbac.authorization.k8s.io/v1"
        yield named("batch/v1", "Job", "job", at, spec={"suspend": True, "template": template}), {
            "spec": {"suspend": True, "template": {**template, "spec": {**template["spec"], "containers": [
                {"name": "x", "image": "y"}]}}}}
        yield named("apps/v1", "Deployment", "web", at, spec={**workload, "replicas": 0}), {"spec": {**labels, "replicas": 0}}
        stateful: dict = {**workload, "replicas": 0, "serviceName": "one"}
        yield named("apps/v1", "StatefulSet", "db", at, spec=stateful), {"spec": {**stateful, "serviceName": "two"}}
        yield named(rights, "RoleBinding", "right", at, roleRef=role), {"roleRef": {**role, "name": "b"}}
        yield named("v1", "Service", "svc", at, spec={"ports": [{"port": 80}]}), {
            "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}
        yield named("v1", "PersistentVolumeClaim", "data", at, spec=claim), {
            "spec": {**claim, "accessModes": ["ReadWriteMany"]}}
        yield named("v1", "Secret", "secret", at, immutable=True, stringData={"a": "hunter2"}), {
            "stringData": {"a": "hunter3"}}
        yield named("v1", "ConfigMap", "config", at, immutable=True, data={"a": "1"}), {"data": {"a": "2"}}
        yield named("storage.k8s.io/v1", "StorageClass", at, provisioner="a.acme.dev"), {"provisioner": "b.acme.dev"}
        yield named("scheduling.k8s.io/v1", "PriorityClass", at, value=7), {"value": 8}
        rule = {"rule": "self == oldSelf", "message": "Value is immutable"}
        schema = {"type": "object", "properties": {"zone": {"type": "string", "x-kubernetes-validations": [rule]}}}
        definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{group}", spec={
            "group": group, "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})
        self.addCleanup(run, KUBECTL, "delete", "crd", f"widgets.{group}", "--wait=false")
        self.must(self.apply(definition))
        yield named(f"{group}/v1", "Widget", "widget", at, zone="a"), {"zone": "b"}

    def test_immutable_fields(self):
        recreate = {"fairlead.dev/on-immutable": "recreate"}
        for one, change in self.immutable_cases():
            what = [f"{one['kind']}.{one['apiVersion'].partition('/')[0]}" if "/" in one["apiVersion"] else one["kind"],
                    one["metadata"]["name"]]
            with self.subTest(one["kind"]):
                self.addCleanup(run, KUBECTL, "-n", self.home, "delete", *what, "--wait=false", "--ignore-not-found")
                # A claim of a class that is not there never becomes ready.
                self.must(self.apply(one, more=["--no-wait"]))
                uid = ["-n", self.home, "get", *what, "-o", "jsonpath={.metadata.uid}"]
                first = kubectl(*uid)
                refused = self.apply({**one, **change}, more=["--no-wait"])
                self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)
                self.assertIn("set the annotation fairlead.dev/on-immutable: recreate", refused.stderr.splitlines()[-1])
                self.assertIn(" cannot be changed: ", refused.stderr)
                self.assertLess(len(refused.stderr), 1500)
                self.assertNotIn("hunter", refused.stderr)
                self.assertEqual(kubectl(*uid), first)
                changed = {**one, **change, "metadata": {**one["metadata"], "annotations": recreate}}
                self.must(self.apply(changed, more=["--no-wait"]))
                self.assertNotEqual(kubectl(*uid), first)

    def test_object_that_may_not_be_deleted(self):
        env = self.make_user("dev", [self.home], {"apiGroups": [""], "resources": ["configmaps"],
                                                  "verbs": ["get", "create", "patch"]})
        one = named("v1", "ConfigMap", "config", self.home, immutable=True, data={"a": "1"},
                    metadata={"annotations": {"fairlead.dev/on-immutable": "recreate"}})
        self.must(self.apply(one, env=env))
        refused = self.apply({**one, "data": {"a": "2"}}, env=env)
        self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)
        self.assertIn('cannot delete resource "configmaps"', refused.stderr)

    def test_secret_that_is_not_base64(self):
        refused = self.apply(named("v1", "Secret", "secret", self.home, data={"password": "hunter2!"}))
        self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)
        self.assertEqual(refused.stderr, (
            f"error: Secret {self.home}/secret was not accepted\n"
            f"  because   secrets {self.home}/secret does not match its schema: error decoding from json: illegal base64 data "
            "at input byte 7\n"
            f"  because   failed to convert new object ({self.home}/secret; /v1, Kind=Secret) to proper version: unable to "
            "convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 7\n"
            "  from      stdin:1\n"
            "  next      encode the values with base64; a Secret also takes plain ones, under stringData\n"))

    def policy(self, name, parameter_kind, where, forbidden):
        """A policy for Services of the home, and its binding. Its parameters say which name is forbidden."""
        place = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.home}}, "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["services"]}]}
        group = "admissionregistration.k8s.io/v1"
        for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
            self.addCleanup(run, KUBECTL, "delete", kind, name, "--ignore-not-found")
        return [
            named(group, "ValidatingAdmissionPolicyBinding", name, spec={
                "policyName": name, "validationActions": ["Deny"], "paramRef": {**where, "parameterNotFoundAction": "Deny"}}),
            named(group, "ValidatingAdmissionPolicy", name, spec={
                "failurePolicy": "Fail", "paramKind": parameter_kind, "matchConstraints": place,
                "validations": [{"expression": f"object.metadata.name != {forbidden}"}]})]

    def service(self, name):
        return named("v1", "Service", name, self.home, spec={"ports": [{"port": 80}]})

    def limits_kind(self):
        """A CRD for parameters, and the kind. Not ConfigMaps: once the last policy with parameters of a built-in kind is
        deleted, the API server may stop following that kind, and finds none by labels for the policies that come later."""
        group = f"{self.id().rsplit('_')[-1]}{os.getpid()}.acme.dev"
        schema = {"type": "object", "properties": {"forbidden": {"type": "string"}}}
        definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"limits.{group}", spec={
            "group": group, "scope": "Namespaced", "names": {"kind": "Limit", "plural": "limits", "singular": "limit"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})
        self.addCleanup(run, KUBECTL, "delete", "crd", f"limits.{group}", "--wait=false")
        return definition, {"apiVersion": f"{group}/v1", "kind": "Limit"}

    def limits(self, kind):
        return named(kind["apiVersion"], kind["kind"], "limits", self.home, forbidden="bad",
                     metadata={"labels": {"limits": "yes"}})

    def test_parameters_by_selector_and_per_namespace(self):
        definition, kind = self.limits_kind()
        self.must(self.apply(definition))
        resource = f"limits.{kind['apiVersion'].partition('/')[0]}"
        ways = {"selector": {"selector": {"matchLabels": {"limits": "yes"}}, "namespace": self.home}, "each": {"name": "limits"}}
        for name, where in ways.items():
            with self.subTest(name):
                policy = self.policy(f"{self.home}-{name}", kind, where, "params.forbidden")
                self.must(self.apply(self.service(f"good-{name}"), *policy, self.limits(kind)))
                refused = self.apply(self.service("bad"))
                self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)
                # The policy is there already, and only its parameters come.
                kubectl("-n", self.home, "delete", resource, "limits")
                self.must(self.apply(self.service(f"better-{name}"), self.limits(kind)))
                kubectl("-n", self.home, "delete", resource, "limits")
                kubectl("delete", "validatingadmissionpolicybinding", f"{self.home}-{name}")

    def test_parameters_of_a_kind_of_the_bundle(self):
        definition, kind = self.limits_kind()
        policy = self.policy(self.home, kind, {"name": "limits", "namespace": self.home}, "params.forbidden")
        self.must(self.apply(self.service("good"), *policy, self.limits(kind), definition))
        refused = self.apply(self.service("bad"))
        self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)

    def test_policy_without_parameters(self):
        """Nobody brings them: that is told at once."""
        definition, kind = self.limits_kind()
        self.must(self.apply(definition))
        kubectl("apply", "-f", "-", stdin=documents(*self.policy(self.home, kind, {"name": "none"}, "params.forbidden")))
        guarded = self.service("svc")
        while run(KUBECTL, "create", "--dry-run=server", "-f", "-", stdin=documents(guarded)).returncode == 0:
            pass  # the API server does not use the policy yet
        refused = self.apply(guarded)
        self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)
        self.assertIn("denied request: failed to configure ", refused.stderr)


unittest.main()
