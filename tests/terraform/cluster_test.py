"""The real terraform or tofu with the provider on a real control plane: what the sandbox cannot show."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from peers import peers
from tests.daytwo.daytwo import KUBECTL, DayTwo, kubectl, run
from tests.gate.late_operator import LateOperator
from tests.manifests import config_map, named, yaml
from tests.terraform.workspace import LONG, PROGRAM, Workspace

FINALIZER = "example.com/held"


def deployment(name, namespace, image, **more):
    """Of no pods, because nothing runs them here."""
    labels = {"app": name}
    return named("apps/v1", "Deployment", name, namespace, spec={
        "replicas": 0, "selector": {"matchLabels": labels}, **more,
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "x", "image": image}]}}})


class OnCluster(DayTwo, Workspace):
    def setUp(self):
        super().setUp()
        self.prepare(self.env["KUBECONFIG"])

    def get(self, kind, name):
        return json.loads(kubectl("-n", self.home, "get", kind, name, "-o", "json"))

    def uid(self, kind, name):
        return self.get(kind, name)["metadata"]["uid"]

    def config_map(self, name, **data):
        return config_map(name, self.home, **data)

    def set_finalizers(self, name, *finalizers):
        kubectl("-n", self.home, "patch", "configmap", name, "--type=merge", "-p",
                json.dumps({"metadata": {"finalizers": list(finalizers) or None}}))

    def start(self):
        """An apply that is still under way."""
        process = subprocess.Popen([PROGRAM, "apply", "-auto-approve", "-input=false", "-no-color"], env=self.env, cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        return process

    def read_until(self, process, text):
        for line in process.stdout:
            if text in line:
                return
        self.fail(f"it ended before it said: {text}")


class Objects(OnCluster):
    def test_life(self):
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", **{"config.yaml": "a: 1"}))})
        self.apply_all()
        uid = self.uid("configmap", "a")
        self.assert_plan(changes=False)

        kubectl("-n", self.home, "patch", "configmap", "a", "--type=merge", "-p", '{"data": {"config.yaml": "a: 2"}}')
        self.assertIn("a: 2", self.assert_plan(changes=True))
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", **{"config.yaml": "a: 3", "other": "1"}))})
        self.apply_all()
        self.assertEqual(self.get("configmap", "a")["data"], {"config.yaml": "a: 3", "other": "1"})

        self.terraform("state", "rm", "fairlead_object.a")
        self.terraform("import", "-input=false", "-no-color", "fairlead_object.a",
                       f"cluster=main,namespace={self.home},api_version=v1,kind=ConfigMap,name=a")
        self.apply_all()
        self.assert_plan(changes=False)
        self.assertEqual(self.uid("configmap", "a"), uid)
        self.destroy()
        self.assertFalse(self.is_there("configmap", "a"))

    def test_an_immutable_field_replaces_and_a_strategy_does_not(self):
        body = self.config_map("fixed", key="1")
        web = deployment("web", self.home, "x:1")
        self.configure(object__fixed={"yaml_body": yaml({**body, "immutable": True})}, object__web={"yaml_body": yaml(web)})
        self.apply_all()
        fixed, deployed = self.uid("configmap", "fixed"), self.uid("deployment", "web")
        body["data"]["key"] = "2"
        web["spec"]["strategy"] = {"type": "Recreate"}
        self.configure(object__fixed={"yaml_body": yaml({**body, "immutable": True})}, object__web={"yaml_body": yaml(web)})
        self.assertIn("1 to add, 1 to change, 1 to destroy", self.assert_plan(changes=True))
        self.apply_all()
        self.assertEqual(self.get("configmap", "fixed")["data"], {"key": "2"})
        self.assertNotEqual(self.uid("configmap", "fixed"), fixed)
        self.assertEqual(self.uid("deployment", "web"), deployed)
        self.assertEqual(self.get("deployment", "web")["spec"]["strategy"], {"type": "Recreate"})
        self.assert_plan(changes=False)

    def test_a_finalizer_holds_the_deletion(self):
        def configure(**more):
            self.configure(object__held={"yaml_body": yaml(self.config_map("held", key="1")), "delete_timeout": "2s", **more})

        configure()
        self.apply_all()
        self.set_finalizers("held", FINALIZER)
        self.addCleanup(run, KUBECTL, "-n", self.home, "patch", "configmap", "held", "--type=merge", "-p",
                        '{"metadata": {"finalizers": null}}')
        output = self.destroy(code=1)
        self.assertIn(FINALIZER, output)
        self.assertIn("force_destroy = true", output)
        self.assertIsNotNone(self.state("fairlead_object.held"))

        configure(force_destroy=True)
        self.apply_all()
        self.destroy()
        self.assertFalse(self.is_there("configmap", "held"))

    def test_74_objects(self):
        names = [f"{self.home[:40]}-{number}" for number in range(4)]
        self.addCleanup(run, KUBECTL, "delete", "namespace", "--wait=false", *names)
        spaces = {name: yaml(named("v1", "Namespace", name, "")) for name in names}
        kinds = [named("v1", "ConfigMap", "x", data={"a.b": "1"}), named("v1", "Secret", "x", stringData={"a": "b"}),
                 named("v1", "ServiceAccount", "x"), named("v1", "Service", "x", spec={"ports": [{"port": 80}]}),
                 named("rbac.authorization.k8s.io/v1", "Role", "x", rules=[
                     {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}])]
        objects = {}
        for number in range(70):
            one = json.loads(json.dumps(kinds[number % len(kinds)]))
            one["metadata"] = {"name": f"x-{number}", "namespace": names[number % len(names)]}
            objects[f"x-{number}"] = yaml(one)
        self.configure(object__spaces={"for_each": spaces, "yaml_body": "${each.value}"},
                       object__all={"for_each": objects, "yaml_body": "${each.value}", "depends_on": ["fairlead_object.spaces"]})
        self.assertIn("74 added", self.apply_all())
        self.assert_plan(changes=False)
        self.assertIn("74 destroyed", self.destroy())
        self.assertEqual(kubectl("get", "namespaces", *names, "--ignore-not-found"), "")


class Connections(OnCluster):
    def described(self, **change):
        """The cluster without a kubeconfig, as its admin by a token."""
        kubectl("-n", self.home, "create", "serviceaccount", "runner")
        kubectl("create", "clusterrolebinding", self.home, "--clusterrole=cluster-admin", f"--serviceaccount={self.home}:runner")
        self.addCleanup(run, KUBECTL, "delete", "clusterrolebinding", self.home)
        authority = pathlib.Path(os.environ["FAIRLEAD_CLUSTER_CA"]).read_text()
        token = kubectl("-n", self.home, "create", "token", "runner").strip()
        return {"host": os.environ["FAIRLEAD_CLUSTER_SERVER"], "cluster_ca_certificate": authority, "token": token, **change}

    def test_a_token_in_the_state_has_expired(self):
        cluster = self.described()
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="1")), "cluster": cluster})
        self.apply_all()
        uid, written = self.uid("configmap", "a"), self.get("configmap", "a")["metadata"]["resourceVersion"]
        state = json.loads((self.folder / "terraform.tfstate").read_text())
        state["resources"][0]["instances"][0]["attributes"]["cluster"]["token"] = "expired"
        (self.folder / "terraform.tfstate").write_text(json.dumps(state))

        # The configuration has a token that works: a warning, and the state gets it, without a write to the object.
        self.assertIn("could not be read; the state stays as it was", self.assert_plan(changes=True))
        self.apply_all()
        self.assertEqual(self.state("fairlead_object.a")["cluster"]["token"], cluster["token"])
        self.assertEqual(self.get("configmap", "a")["metadata"]["resourceVersion"], written)
        self.assert_plan(changes=False)

        # Nor has the configuration one: an error, and nothing is lost.
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="2")), "cluster": {**cluster, "token": "expired"}})
        self.assertIn("Unauthorized", self.apply_all(code=1))
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="2")), "cluster": cluster})
        self.apply_all()
        self.assertEqual((self.get("configmap", "a")["data"], self.uid("configmap", "a")), ({"key": "2"}, uid))

    def test_a_cluster_that_the_same_run_makes(self):
        content = pathlib.Path(self.kubeconfig).read_text()
        self.configure(terraform_data__made={"input": content},
                       object__a={"yaml_body": yaml(self.config_map("a", key="1")),
                                  "cluster": {"kubeconfig": "${terraform_data.made.output}"}})
        self.assertIn("known after apply", self.plan())
        self.apply_all()
        uid, written = self.uid("configmap", "a"), self.get("configmap", "a")["metadata"]["resourceVersion"]
        self.assert_plan(changes=False)

        # Another way to the same cluster is a change of the state alone.
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="1")), "cluster": {"name": "main"}})
        self.assertIn("1 changed", self.apply_all())
        after = self.get("configmap", "a")["metadata"]
        self.assertEqual((after["uid"], after["resourceVersion"]), (uid, written))

    def test_a_cluster_that_does_not_answer(self):
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="1"))})
        self.apply_all()
        works = pathlib.Path(self.kubeconfig).read_text()
        # Nobody listens at this port.
        pathlib.Path(self.kubeconfig).write_text(works.replace(os.environ["FAIRLEAD_CLUSTER_SERVER"], "https://127.0.0.1:1"))
        output = self.destroy(code=1)
        self.assertIn("The cluster cannot be reached, so nothing was deleted", output)
        self.assertIn("cluster_gone = true", output)
        self.assertIsNotNone(self.state("fairlead_object.a"))
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="1")), "cluster_gone": True})
        self.apply_all()
        self.destroy()
        self.assertEqual(self.resources(), [])
        pathlib.Path(self.kubeconfig).write_text(works)
        self.assertTrue(self.is_there("configmap", "a"))


class Bundles(OnCluster):
    def test_guarded_objects_in_one_apply(self):
        """CRD, webhook and instances in one apply; the webhook listens two seconds after its Service is there."""
        operator = LateOperator(self.home, self.folder)
        self.addCleanup(operator.stop)
        self.addCleanup(kubectl, "delete", "validatingwebhookconfiguration", self.home, "--ignore-not-found")
        self.configure(bundle__all={"name": "all", "namespace": self.home, "timeout": "60s",
                                    "yaml": yaml(operator.widget("one"), operator.widget("two"), *operator.objects())},
                       object__after={"yaml_body": yaml(operator.widget("three")), "depends_on": ["fairlead_bundle.all"]})
        process = self.start()
        for _ in range(600):
            if self.is_there("service", "hook"):
                break
            time.sleep(0.1)
        thread = operator.listen_after(2)
        output, _ = process.communicate(timeout=LONG)
        thread.join()
        self.assertEqual(process.returncode, 0, output)
        self.assertEqual(operator.names, {"one", "two", "three"})
        self.assertTrue(self.state("fairlead_bundle.all")["complete"])
        self.assert_plan(changes=False)
        self.destroy()
        self.assertEqual(kubectl("get", "crd", f"widgets.{operator.group}", "--ignore-not-found"), "")

    def test_half_way(self):
        """Nothing runs pods here, so that a Deployment of one pod is not ready in time."""
        first = self.config_map("first", key="1")

        def configure(replicas):
            web = deployment("web", self.home, "x:1", replicas=replicas)
            self.configure(bundle__shop={"name": "shop", "namespace": self.home, "timeout": "4s", "yaml": yaml(first, web)})

        configure(1)
        output = self.apply_all(code=1)
        self.assertIn(f"Deployment {self.home}/web", output)
        self.assertIs(self.state("fairlead_bundle.shop")["complete"], False)
        uids = self.uid("configmap", "first"), self.uid("deployment", "web")
        configure(0)
        self.apply_all()
        self.assertIs(self.state("fairlead_bundle.shop")["complete"], True)
        self.assertFalse(self.is_tainted("fairlead_bundle.shop"))
        self.assertEqual((self.uid("configmap", "first"), self.uid("deployment", "web")), uids)
        self.assert_plan(changes=False)


class Charts(OnCluster):
    def test_charts(self):
        """A CRD and an instance, a hook and values, with each version of helm. Nothing runs pods here: the hook is no Job."""
        for helm in ("helm3", "helm4"):
            with self.subTest(helm):
                program = peers.binary(helm)
                if not program:
                    self.skipTest(f"{helm} cannot be built here")
                self.install(program)
                self.life_of_a_chart(helm)

    def install(self, program):
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        (programs / "helm").unlink(missing_ok=True)
        (programs / "helm").symlink_to(program)
        self.env["PATH"] = f"{programs}:{os.environ['PATH']}"

    def life_of_a_chart(self, release):
        group = f"{release}.{self.home}.example.com"
        version = {"name": "v1", "served": True, "storage": True,
                   "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
        crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"sails.{group}", "", spec={
            "group": group, "scope": "Namespaced", "versions": [version],
            "names": {"plural": "sails", "singular": "sail", "kind": "Sail", "listKind": "SailList"}})
        settings = config_map("{{ .Release.Name }}", "{{ .Release.Namespace }}", size="{{ .Values.size }}", color="{{ .Values.color }}")
        hook = config_map("{{ .Release.Name }}-before", "{{ .Release.Namespace }}", size="{{ .Values.size }}")
        hook["metadata"]["annotations"] = {"helm.sh/hook": "pre-install,pre-upgrade"}
        files = {"Chart.yaml": json.dumps({"apiVersion": "v2", "name": "boat", "version": "1.0.0"}),
                 "values.yaml": json.dumps({"size": "none", "color": "none"}), "crds/sails.yaml": yaml(crd),
                 "templates/sail.yaml": yaml(named(f"{group}/v1", "Sail", "main", "{{ .Release.Namespace }}", spec={"size": 1})),
                 "templates/settings.yaml": yaml(settings), "templates/hook.yaml": yaml(hook)}
        chart = self.folder / release
        for name, content in files.items():
            (chart / name).parent.mkdir(parents=True, exist_ok=True)
            (chart / name).write_text(content)

        def configure(color, **more):
            self.configure(bundle__boat={"name": release, "namespace": self.home, "timeout": "60s",
                                         "chart": {"chart": str(chart), "values": ["size: large"], "set": {"color": color}, **more}})

        for color in ("white", "red"):
            configure(color)
            self.assert_plan(changes=True)
            self.apply_all()
            self.assertEqual(self.get("configmap", release)["data"], {"size": "large", "color": color})
            self.assertEqual(self.get("configmap", f"{release}-before")["data"], {"size": "large"})
            self.assertTrue(self.is_there(f"sails.{group}", "main"))
            self.assert_plan(changes=False)
        configure("red", flags=["--no-such-flag"])
        self.assertIn("helm cannot render the chart", self.plan(code=1))
        configure("red")
        self.destroy()
        self.assertFalse(self.is_there("configmap", release))
        self.assertEqual(kubectl("get", "crd", crd["metadata"]["name"], "--ignore-not-found"), "")


class Waits(OnCluster):
    def test_it_waits_again_after_a_change_of_the_image(self):
        def configure(image):
            self.configure(object__web={"yaml_body": yaml(deployment("web", self.home, image))},
                           wait__web={"object_ref": "${fairlead_object.web.object_ref}", "wait_for": {"rollout": True},
                                      "triggers": {"revision": "${fairlead_object.web.revision}"}},
                           wait__status={"object_ref": "${fairlead_object.web.object_ref}",
                                         "wait_for": {"condition": "Available"}, "depends_on": ["fairlead_wait.web"]})

        configure("x:1")
        self.apply_all()
        first = self.state("fairlead_wait.web")
        self.assert_plan(changes=False)
        configure("x:2")
        self.assertIn("2 to change", self.assert_plan(changes=True))
        self.apply_all()
        second = self.state("fairlead_wait.web")
        self.assertNotEqual(second["triggers"], first["triggers"])
        self.assertEqual(second["id"], first["id"])
        web = self.get("deployment", "web")
        self.assertEqual(web["status"]["observedGeneration"], web["metadata"]["generation"])


class Interruptions(OnCluster):
    def begin(self, **more):
        """An apply that has made one object and waits for something that does not happen."""
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="1")), **more},
                       wait__a={"object_ref": "${fairlead_object.a.object_ref}",
                                "wait_for": {"field_value": {"data.key": "never"}}, "timeout": "5m"})
        process = self.start()
        self.read_until(process, "fairlead_wait.a: Creating")
        return process

    def go_on(self, **more):
        self.configure(object__a={"yaml_body": yaml(self.config_map("a", key="1")), **more},
                       wait__a={"object_ref": "${fairlead_object.a.object_ref}", "wait_for": {"field_value": {"data.key": "1"}}})
        self.apply_all()
        self.assert_plan(changes=False)

    def test_interrupted(self):
        process = self.begin()
        uid = self.uid("configmap", "a")
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: to terraform and to the provider
        output, _ = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 1, output)
        self.assertIn("The wait was interrupted", output)
        self.assertIsNotNone(self.state("fairlead_object.a"))
        self.go_on()
        self.assertEqual(self.uid("configmap", "a"), uid)

    def test_killed(self):
        process = self.begin()
        uid = self.uid("configmap", "a")
        process.kill()
        # The provider ends by itself: nobody has its end of the pipe open any more.
        process.communicate(timeout=LONG)
        lock = self.folder / ".terraform.tfstate.lock.info"
        lock.unlink(missing_ok=True)
        # What was made since the state was last stored is adopted on request.
        self.go_on(adopt=True)
        self.assertEqual(self.uid("configmap", "a"), uid)


if __name__ == "__main__":
    unittest.main()
