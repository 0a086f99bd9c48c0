"""The real terraform or tofu with the provider, on the sandbox. Skipped where there is neither."""
import contextlib
import json
import shutil
import unittest

from tests.cli.on_sandbox import OnSandbox
from tests.kube_api import Connection
from tests.manifests import behind_a_webhook, config_map, deployment, encoded, job, named, secret, yaml
from tests.terraform.connect_proxy import ConnectProxy
from tests.terraform.workspace import PROGRAM, Workspace, client

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def guarded_bundle():
    return yaml(*behind_a_webhook(), config_map("beside", key="1"))


class RealTerraform(OnSandbox, Workspace):
    def setUp(self):
        super().setUp()
        self.prepare(self.folder / "kubeconfig")
        self.api = Connection(json.loads((self.folder / "kubeconfig").read_text()))
        self.addCleanup(self.api.connection.close)

    def status_of(self, path):
        return self.api.request("GET", path)[0]

    def patch(self, path, patch):
        status, answer = self.api.request("PATCH", path, patch, content_type="application/merge-patch+json")
        self.assertEqual(status, 200, answer)

    def test_the_life_of_an_object(self):
        path = f"{CONFIG_MAPS}/settings"
        self.configure(object__settings={"yaml_body": yaml(config_map("settings", **{"config.yaml": "a: 1"}))})
        self.apply_all()
        created = self.api.get(path)
        self.assertEqual(created["data"], {"config.yaml": "a: 1"})
        self.assertEqual(self.state("fairlead_object.settings")["object_ref"]["name"], "settings")
        self.assert_plan(changes=False)

        self.patch(path, {"data": {"config.yaml": "a: 2"}})
        self.assertIn("a: 2", self.assert_plan(changes=True))
        self.apply_all()
        self.assertEqual(self.api.get(path)["data"], {"config.yaml": "a: 1"})
        self.assert_plan(changes=False)

        revision = self.state("fairlead_object.settings")["revision"]
        self.configure(object__settings={"yaml_body": yaml(config_map("settings", other="3"))})
        self.apply_all()
        updated = self.api.get(path)
        self.assertEqual((updated["data"], updated["metadata"]["uid"]), ({"other": "3"}, created["metadata"]["uid"]))
        self.assertNotEqual(self.state("fairlead_object.settings")["revision"], revision)

        # Forgotten and imported, it is the same object still.
        self.terraform("state", "rm", "fairlead_object.settings")
        self.terraform("import", "-input=false", "-no-color", "fairlead_object.settings",
                       "cluster=main,namespace=default,api_version=v1,kind=ConfigMap,name=settings")
        self.apply_all()
        self.assert_plan(changes=False)
        self.assertEqual(self.api.get(path)["metadata"]["uid"], created["metadata"]["uid"])

        self.destroy()
        self.assertEqual(self.status_of(path), 404)

    @unittest.skipIf(PROGRAM and client() < (1, 12), "before 1.12, neither terraform nor tofu imports by identity")
    def test_import_by_identity(self):
        self.assertEqual(self.api.request("POST", CONFIG_MAPS, config_map("there", key="1"))[0], 201)
        uid = self.api.get(f"{CONFIG_MAPS}/there")["metadata"]["uid"]
        identity = {"cluster": "main", "kind": "ConfigMap", "namespace": "default", "name": "there"}
        self.configure({"to": "fairlead_object.there", "identity": identity},
                       object__there={"yaml_body": yaml(config_map("there", key="2"))})
        self.apply_all()
        there = self.api.get(f"{CONFIG_MAPS}/there")
        self.assertEqual((there["data"], there["metadata"]["uid"]), ({"key": "2"}, uid))
        self.assert_plan(changes=False)

    def test_messages_above_4_mib(self):
        manifests = (config_map(f"large-{number}", key="x" * 6000) for number in range(900))
        (self.folder / "large.yaml").write_text(yaml(*manifests))
        (self.folder / "main.tf.json").write_text(json.dumps({
            "terraform": {"required_providers": {"fairlead": {"source": "fairlead/fairlead"}}},
            "data": {"fairlead_manifests": {"large": {"pattern": "large.yaml"}}},
            "output": {"read": {"value": "${length(data.fairlead_manifests.large.manifests)}"},
                       "sent": {"value": '${length(provider::fairlead::manifests(file("large.yaml")).namespaced)}'}}}))
        output = self.apply_all()
        self.assertIn("read = 900 sent = 900", output)

    def test_a_protected_object(self):
        self.configure(object__kept={"yaml_body": yaml(config_map("kept", key="1")), "delete_protection": True})
        self.apply_all()
        for change in ("destroy", "replace"):
            with self.subTest(change):
                if change == "replace":
                    self.configure(object__kept={"yaml_body": yaml(config_map("renamed", key="1")), "delete_protection": True})
                arguments = ["-destroy"] if change == "destroy" else []
                output = self.plan(*arguments, code=1)
                self.assertIn("protected", output)
                self.assertIn("delete_protection = false", output)
        self.assertEqual(self.status_of(f"{CONFIG_MAPS}/kept"), 200)

    def test_what_is_protected_is_not_replaced_on_request_either(self):
        self.configure(object__kept={"yaml_body": yaml(config_map("kept", key="1")), "delete_protection": True},
                       bundle__all={"name": "all", "yaml": yaml(config_map("inside", key="1")), "delete_protection": True})
        self.apply_all()
        for address in ("fairlead_object.kept", "fairlead_bundle.all"):
            with self.subTest(address):
                self.assertIn("is protected and cannot be replaced", self.plan(f"-replace={address}", code=1))
                self.terraform("taint", address)
                for refresh in ("true", "false"):
                    self.assertIn("is protected and cannot be replaced", self.plan(f"-refresh={refresh}", code=1))
                self.terraform("untaint", address)
        for name in ("kept", "inside"):
            self.assertEqual(self.status_of(f"{CONFIG_MAPS}/{name}"), 200)
        self.assert_plan(changes=False)

    def test_an_object_that_exists(self):
        self.assertEqual(self.api.request("POST", CONFIG_MAPS, config_map("there", key="theirs"))[0], 201)
        # The provider block alone knows the cluster.
        self.env.pop("KUBECONFIG", None)
        manifest = yaml(config_map("there", key="ours"))
        self.configure(object__there={"yaml_body": manifest})
        output = self.apply_all(code=1)
        self.assertIn("Error: The object exists already (ConfigMap default/there)", output)
        self.assertEqual(self.api.get(f"{CONFIG_MAPS}/there")["data"], {"key": "theirs"})
        # The block of the message is one that works.
        block = output[output.index("import {"):].partition("}")[0]
        self.configure({"to": "fairlead_object.there", "id": block.partition('id = "')[2].partition('"')[0]},
                       object__there={"yaml_body": manifest})
        self.apply_all()
        self.assertEqual(self.api.get(f"{CONFIG_MAPS}/there")["data"], {"key": "ours"})
        self.assert_plan(changes=False)

    def test_a_bundle_with_a_webhook_and_two_waits(self):
        # The bundle and the rest use one connection at the same time.
        def configure(image):
            self.configure(
                bundle__guarded={"name": "guarded", "yaml": guarded_bundle()},
                object__web={"yaml_body": yaml(deployment("web", image))},
                wait__web={"object_ref": "${fairlead_object.web.object_ref}", "wait_for": {"rollout": True},
                           "triggers": {"revision": "${fairlead_object.web.revision}"}},
                object__after={"yaml_body": yaml(config_map("after", key="1")), "depends_on": ["fairlead_wait.web"]})

        configure("x:1")
        self.apply_all()
        self.assertTrue(self.state("fairlead_bundle.guarded")["complete"])
        self.assertEqual(self.status_of("/apis/example.com/v1/namespaces/default/widgets/one"), 200)
        self.assert_plan(changes=False)

        first = self.state("fairlead_wait.web")["triggers"]
        configure("x:2")
        self.apply_all()
        self.assertNotEqual(self.state("fairlead_wait.web")["triggers"], first)
        web = self.api.get("/apis/apps/v1/namespaces/default/deployments/web")
        self.assertEqual(web["status"]["observedGeneration"], web["metadata"]["generation"])

        self.destroy()
        for path in (f"{CONFIG_MAPS}/beside", f"{CONFIG_MAPS}/after", "/apis/example.com/v1/namespaces/default/widgets"):
            self.assertEqual(self.status_of(path), 404, path)

    def test_a_bundle_that_fails_half_way_goes_on(self):
        path = f"{CONFIG_MAPS}/first"
        self.configure(bundle__shop={"name": "shop", "yaml": yaml(config_map("first", key="1"), job("fails", 1))})
        self.assertIn("Job default/fails failed (bundle default/shop)", self.apply_all(code=1))
        self.assertIs(self.state("fairlead_bundle.shop")["complete"], False)
        uid = self.api.get(path)["metadata"]["uid"]

        self.configure(bundle__shop={"name": "shop", "yaml": yaml(config_map("first", key="1"), job("works", 0))})
        self.apply_all()
        self.assertIs(self.state("fairlead_bundle.shop")["complete"], True)
        self.assertFalse(self.is_tainted("fairlead_bundle.shop"))
        self.assertEqual(self.api.get(path)["metadata"]["uid"], uid)
        # What left the manifests is pruned.
        self.assertEqual(self.status_of("/apis/batch/v1/namespaces/default/jobs/fails"), 404)
        self.assert_plan(changes=False)

    def test_a_wait_that_times_out_recreates_nothing(self):
        manifest = yaml(config_map("waited", key="1"))

        def configure(value, **more):
            self.configure(object__waited={"yaml_body": manifest},
                           wait__waited={"object_ref": "${fairlead_object.waited.object_ref}",
                                         "wait_for": {"field_value": {"data.key": value}}, **more})

        configure("2", timeout="1s")
        self.assertIn("Error: The wait timed out (ConfigMap default/waited)", self.apply_all(code=1))
        uid = self.api.get(f"{CONFIG_MAPS}/waited")["metadata"]["uid"]
        configure("1")
        self.apply_all()
        self.assertEqual(self.api.get(f"{CONFIG_MAPS}/waited")["metadata"]["uid"], uid)
        self.assertEqual(self.state("fairlead_wait.waited")["result"]["value"], {"data": {"key": "1"}})

    def test_the_token_of_a_program_through_a_proxy(self):
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        self.assertEqual(self.api.request("POST", accounts, named("v1", "ServiceAccount", "runner"))[0], 201)
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        status, answer = self.api.request("POST", f"{accounts}/runner/token", request)
        self.assertEqual(status, 201, answer)
        token = answer["status"]["token"]
        (self.folder / "answer").write_text(json.dumps({
            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}))
        program = self.folder / "program"
        program.write_text(f'#!/bin/sh\ncd {self.folder}\necho "$1 $ROLE" >> called\ncat "$ANSWER"\n')
        program.chmod(0o700)
        with contextlib.closing(ConnectProxy()) as proxy:
            server = json.loads((self.folder / "kubeconfig").read_text())["clusters"][0]["cluster"]
            cluster = {"host": server["server"], "cluster_ca_certificate": server["certificate-authority-data"],
                       "proxy_url": proxy.url,
                       "exec": {"api_version": "client.authentication.k8s.io/v1", "command": str(program), "args": ["token"],
                                "env": {"ROLE": "runner", "ANSWER": "answer"}}}
            self.configure(object__a={"yaml_body": yaml(config_map("a", key="1")), "cluster": cluster})
            self.apply_all()
            self.assert_plan(changes=False)
            self.assertEqual(self.api.get(f"{CONFIG_MAPS}/a")["data"], {"key": "1"})
            # Every connection went through the proxy, and the program was called as the description says.
            self.assertEqual(set(proxy.targets), {server["server"].removeprefix("https://")})
            self.assertEqual(set((self.folder / "called").read_text().splitlines()), {"token runner"})
            for place in ("terraform.tfstate", "log"):
                self.assertNotIn(token, (self.folder / place).read_text(), place)

            program.write_text("#!/bin/sh\necho nobody is logged in >&2\nexit 3\n")
            output = self.destroy(code=1)
            self.assertIn("nobody is logged in", output)
            self.assertEqual(self.status_of(f"{CONFIG_MAPS}/a"), 200)
            self.assertIsNotNone(self.state("fairlead_object.a"))

    @unittest.skipUnless(shutil.which("kubectl") or shutil.which("kustomize"), "neither kubectl nor kustomize is in PATH")
    def test_a_kustomization(self):
        folder = self.folder / "production"
        folder.mkdir()
        (folder / "settings.yaml").write_text(yaml(config_map("settings", key="1")))

        def configure(value):
            (folder / "kustomization.yaml").write_text(json.dumps({
                "namePrefix": "my-", "namespace": "default", "resources": ["settings.yaml"],
                "configMapGenerator": [{"name": "made", "literals": [f"key={value}"]}]}))
            self.configure(bundle__production={"name": "production", "kustomize": str(folder)})

        def made():
            return {one["metadata"]["name"]: one["data"] for one in self.api.get(CONFIG_MAPS)["items"]
                    if one["metadata"]["name"].startswith("my-")}

        for value in ("1", "2"):
            # kustomize gives the generated object a name that depends on its content: the former one is pruned.
            configure(value)
            self.assert_plan(changes=True)
            self.apply_all()
            generated = {name: data for name, data in made().items() if name.startswith("my-made-")}
            self.assertEqual(list(generated.values()), [{"key": value}])
            self.assertEqual(made()["my-settings"], {"key": "1"})
            self.assert_plan(changes=False)

        (folder / "settings.yaml").unlink()
        self.assertIn("settings.yaml", self.plan(code=1))
        self.assertEqual(len(made()), 2)

    @unittest.skipIf(PROGRAM and client() < (1, 11), "before 1.11, neither terraform nor tofu has ephemeral resources")
    def test_an_ephemeral_value_that_is_another_one_in_the_apply(self):
        def configure(value, version):
            (self.folder / "first.json").write_text(yaml(secret("first", value)))
            self.configure(object__first={"yaml_body_wo": '${file("first.json")}', "yaml_body_wo_version": version},
                           object__copy={"yaml_body_wo": "${yamlencode(merge(jsondecode(file(\"copy.json\")), "
                                                         "{data = ephemeral.fairlead_object.first.data}))}",
                                         "yaml_body_wo_version": version})
            path = self.folder / "main.tf.json"
            config = json.loads(path.read_text())
            config["ephemeral"] = {"fairlead_object": {"first": {
                "api_version": "v1", "kind": "Secret", "namespace": "default",
                "name": '${fairlead_object.first.id == "" ? "" : "first"}'}}}
            path.write_text(json.dumps(config))

        (self.folder / "copy.json").write_text(yaml(named("v1", "ConfigMap", "copy")))
        for value, version in (("one", "1"), ("two", "2")):
            # The plan of the second apply reads the Secret as the first one left it.
            configure(value, version)
            self.apply_all()
            self.assertEqual(self.api.get(f"{CONFIG_MAPS}/copy")["data"], {"password": value})
            self.assert_plan(changes=False)

    def test_the_data_of_secrets_is_shown_nowhere(self):
        first, second, changed = "gl0wworm-first", "gl0wworm-second", "gl0wworm-changed"
        (self.folder / "stored.json").write_text(yaml(secret("stored", second)))

        def configure(value, version):
            (self.folder / "hidden.json").write_text(yaml(secret("hidden", value)))
            hidden = {"yaml_body_wo": '${file("hidden.json")}', "yaml_body_wo_version": version}
            if client() < (1, 11):  # Neither terraform nor tofu has write-only attributes.
                hidden = {"yaml_body": '${sensitive(file("hidden.json"))}'}
            self.configure(object__hidden=hidden,
                           object__stored={"yaml_body": '${sensitive(file("stored.json"))}'})

        outputs = []
        configure(first, "1")
        outputs.append(self.apply_all())
        self.assertEqual(self.api.get("/api/v1/namespaces/default/secrets/hidden")["data"]["password"],
                         encoded(first))
        configure(changed, "2")
        outputs.append(self.plan())
        outputs.append(self.apply_all())
        self.assertEqual(self.api.get("/api/v1/namespaces/default/secrets/hidden")["data"]["password"],
                         encoded(changed))
        outputs.append(self.terraform("show", "-no-color"))

        stored, hidden = (self.state(f"fairlead_object.{name}") for name in ("stored", "hidden"))
        # What terraform itself stores.
        self.assertIn(second, stored.pop("yaml_body"))
        if client() < (1, 11):
            hidden.pop("yaml_body")
        state = json.dumps([hidden, stored])
        log = self.log.read_text()
        self.assertIn("ConfigureProvider", log)
        for value in (first, second, changed):
            for form in (value, encoded(value)):
                for place, text in (("output", "".join(outputs)), ("state", state), ("log", log)):
                    self.assertNotIn(form, text, f"in the {place}")


if __name__ == "__main__":
    unittest.main()
