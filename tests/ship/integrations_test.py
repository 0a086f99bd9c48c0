"""What integrations/ and action.yml contain, run for real: their shell and their commands, with a release behind a local server and on a
sandbox. What only their hosts have, such as the cache of GitHub, is stood in for by variables and folders."""
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import unittest
from unittest import mock

import yaml

from scripts.release import files, manifests
from scripts.release.project import ARCHITECTURES
from tests.cli.on_sandbox import FAIRLEAD, OnSandbox

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "1.2.3"
GOOD: dict = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours", "namespace": "default"}, "data": {"sky": "blue"}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
       "spec": {"containers": [{"name": "c", "image": "i"}]}}
THINGS = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
          "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": [
              {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
# Each needs the other to be ready first.
LOOP = [GOOD | {"metadata": {"name": name, "namespace": "default", "annotations": {"fairlead.dev/needs": f"ConfigMap/{other}"}}}
        for name, other in (("one", "two"), ("two", "one"))]


class Integrations(OnSandbox):
    """Each test has a folder for a checkout, a home, and a server with a release."""

    def setUp(self):
        super().setUp()
        served = self.folder / "served" / VERSION
        served.mkdir(parents=True)
        architecture = next(one for one in ARCHITECTURES.values() if one.machine == os.uname().machine)
        name = manifests.archive_name(VERSION, architecture)
        tree = {f"{name}/fairlead": files.File(f'#!/bin/sh\nexec {FAIRLEAD} "$@"\n'.encode(), 0o755), f"{name}/man/fairlead.1": files.File(),
                **{f"{name}/completions/{one}": files.File() for one in ("fairlead.bash", "fairlead.fish", "_fairlead")}}
        (served / f"{name}.tar.gz").write_bytes(files.tar_gz(tree, 0))
        (served / "SHA256SUMS").write_text(f"{files.sha256(served / f'{name}.tar.gz')}  {name}.tar.gz\n")
        (served / "install.sh").write_text(manifests.install_script(ROOT, VERSION))
        self.enterContext(mock.patch.object(http.server.SimpleHTTPRequestHandler, "log_message", lambda *_: None))
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=self.folder / "served")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.work = self.folder / "work"
        self.work.mkdir()
        # No fairlead of the machine's own.
        self.path = "/usr/bin:/bin"
        self.write("k8s/good.json", GOOD)

    def write(self, name, *objects):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n---\n".join(json.dumps(one) for one in objects))

    def sh(self, script, code=0, shell=("bash", "-e", "-o", "pipefail", "-c"), stdin=None, **environment):
        result = subprocess.run([*shell, script], capture_output=True, text=True, timeout=60, cwd=self.work, input=stdin,
                                env={"PATH": self.path, "HOME": str(self.folder), "KUBECONFIG": self.env["KUBECONFIG"]} | environment)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def with_fairlead(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/fairlead").symlink_to(FAIRLEAD)
        self.path = f"{self.folder}/bin:{self.path}"

    # ---- GitHub -------------------------------------------------------------------------------------------------------
    def github(self, command, args="", code=0):
        """The steps of action.yml, as a runner runs them. Returns what the last one printed."""
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
        inputs |= {"version": VERSION, "command": command, "args": args, "url": self.url}
        temp = {name: self.work / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in temp.values():
            path.write_text("")
        said = None
        for step in action["runs"]["steps"]:
            if "run" not in step or (step.get("if") == "inputs.command != 'setup'" and command == "setup"):
                continue
            # Nothing that somebody else may have written is put into the script itself.
            self.assertNotIn("${{", step["run"])
            own = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], value) for name, value in step["env"].items()}
            said = self.sh(step["run"], code=code if step["id"] == "run" else 0, RUNNER_TEMP=str(self.work),
                           **own, **{name: str(path) for name, path in temp.items()})
            self.path = ":".join([*temp["GITHUB_PATH"].read_text().split(), "/usr/bin", "/bin"])
        self.outputs = dict(line.split("=", 1) for line in temp["GITHUB_OUTPUT"].read_text().splitlines())
        return said

    def test_github_sets_it_up_once(self):
        self.github("setup")
        self.assertTrue((self.folder / f".local/share/fairlead/{VERSION}/bin/fairlead").exists())
        self.url = "http://127.0.0.1:1"  # the second time it comes from the cache
        self.assertIn("fairlead", self.github("setup").args[-1])

    def test_github_plans_applies_and_deletes(self):
        self.github("plan", "-f k8s/")
        comment = pathlib.Path(self.outputs["comment"]).read_text()
        self.assertEqual(self.outputs["changes"], "true")
        self.assertTrue(comment.startswith("### fairlead plan\n``````\n"))
        self.assertIn("ConfigMap default/colours", comment)
        self.assertIn("ConfigMap default/colours created", self.github("apply", "-f 'k8s/'").stdout)
        self.github("plan", "-f k8s/")
        self.assertEqual(self.outputs["changes"], "false")
        self.assertIn("1 deleted", self.github("delete", "-f k8s/").stdout)

    def test_github_fails_if_the_plan_does(self):
        self.github("plan", "-f nothing/", code=1)
        self.assertEqual(self.outputs, {})
        self.github("dance", code=64)

    def test_github_runs_nothing_that_the_arguments_say(self):
        self.github("apply", "-f k8s/ --name $(touch${IFS}hacked);touch hacked", code=64)
        self.assertFalse((self.work / "hacked").exists())

    # ---- GitLab -------------------------------------------------------------------------------------------------------
    def gitlab(self, job, args="", code=0):
        template = yaml.safe_load((ROOT / "integrations/gitlab/fairlead.gitlab-ci.yml").read_text())
        lines = template[".fairlead"]["before_script"] + template[job]["script"]
        variables = template["variables"] | {"FAIRLEAD_URL": self.url, "FAIRLEAD_VERSION": VERSION, "FAIRLEAD_ARGS": args}
        return self.sh("\n".join(lines), code=code, CI_PROJECT_DIR=str(self.work), **variables)

    def test_gitlab_applies_what_was_planned(self):
        self.gitlab(".fairlead-plan", "-f k8s/")
        self.assertIn("ConfigMap default/colours created", self.gitlab(".fairlead-apply").stdout)
        # Somebody else was faster: the plan is out of date.
        self.gitlab(".fairlead-apply", code=1)
        (self.work / "fairlead.plan").unlink()
        self.gitlab(".fairlead-apply", "-f k8s/")
        self.assertIn("1 deleted", self.gitlab(".fairlead-delete", "-f k8s/").stdout)
        self.gitlab(".fairlead-plan", "-f nothing/", code=1)

    # ---- Tekton -------------------------------------------------------------------------------------------------------
    def test_tekton(self):
        task = yaml.safe_load((ROOT / "integrations/tekton/task.yaml").read_text())
        step, = task["spec"]["steps"]
        self.assertEqual((step["command"], step["workingDir"]), (["/fairlead"], "$(workspaces.source.path)"))
        params = {one["name"]: one for one in task["spec"]["params"]}
        args = [params["command"]["default"] if one == "$(params.command)" else one for one in step["args"]]
        at = args.index("$(params.args[*])")
        args[at:at + 1] = ["-f", "k8s/"]
        said = subprocess.run([FAIRLEAD, *args], cwd=self.work, env=self.env, capture_output=True, text=True, timeout=60)
        self.assertIn("ConfigMap default/colours created", said.stdout, said.stderr)

    # ---- Argo CD ------------------------------------------------------------------------------------------------------
    def argo(self, phase, code=0, **parameters):
        step = yaml.safe_load((ROOT / "integrations/argocd/plugin.yaml").read_text())["spec"][phase]
        return self.sh(step["args"][0], code=code, shell=step["command"], **parameters)

    def test_argo_cd_generates_what_has_no_mistakes(self):
        self.with_fairlead()
        self.write("manifests/b.json", POD)
        self.write("manifests/a/a.json", GOOD)
        self.assertEqual(self.argo("init").stdout, "")
        self.assertEqual(list(yaml.safe_load_all(self.argo("generate").stdout)), [GOOD, POD])
        self.assertEqual(list(yaml.safe_load_all(self.argo("generate", PARAM_MANIFESTS="k8s").stdout)), [GOOD])

    def test_argo_cd_stops_at_a_mistake(self):
        self.with_fairlead()
        self.write("manifests/loop.yaml", *LOOP)
        self.assertIn("is part of a dependency cycle", self.argo("init", code=1).stderr)

    def test_argo_cd_stops_at_an_object_that_is_there_twice(self):
        self.with_fairlead()
        self.write("manifests/one.json", GOOD)
        self.write("manifests/two.json", GOOD)
        self.assertRegex(self.argo("init", code=1).stderr, r"(?s)error: .*ConfigMap default/colours.*two\.json")

    def test_argo_cd_stops_at_a_version_that_is_not_served(self):
        self.with_fairlead()
        self.write("manifests/crd.json", THINGS)
        self.write("manifests/thing.json", {"apiVersion": "example.com/v2", "kind": "Thing", "metadata": {"name": "one", "namespace": "default"}})
        self.assertIn("example.com/v2", self.argo("init", code=1).stderr)

    # ---- Helm ---------------------------------------------------------------------------------------------------------
    def test_helm_post_renderer_gives_back_what_it_got(self):
        self.with_fairlead()
        rendered = f"---\n# Source: chart/x.yaml\n{yaml.safe_dump(GOOD)}"
        self.assertEqual(self.sh(str(ROOT / "integrations/helm/post-render.sh"), stdin=rendered).stdout, rendered)

    def test_helm_post_renderer_stops_at_a_mistake(self):
        self.with_fairlead()
        result = self.sh(str(ROOT / "integrations/helm/post-render.sh"), stdin=yaml.safe_dump_all(LOOP), code=1)
        self.assertEqual(result.stdout, "")
        self.assertIn("is part of a dependency cycle", result.stderr)

    def test_helm_plugin_calls_fairlead_with_the_chart(self):
        plugin = yaml.safe_load((ROOT / "integrations/helm/plugin.yaml").read_text())
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "fairlead").write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n")
        (folder / "fairlead").chmod(0o755)
        self.path = f"{folder}:{self.path}"
        said = self.sh(f"{plugin['command']} apply ./chart --name shop -- --set 'a=b c'", HELM_PLUGIN_DIR=str(ROOT / "integrations/helm"))
        self.assertEqual(said.stdout, "apply|--chart|./chart|--name|shop|--|--set|a=b c|")
        self.sh(f"{plugin['command']} apply", code=64, HELM_PLUGIN_DIR=str(ROOT / "integrations/helm"))

    # ---- in the cluster -----------------------------------------------------------------------------------------------
    def test_the_job_in_the_cluster(self):
        """The objects are accepted, and its command does what it says with what it mounts."""
        self.fairlead("apply", "-f", str(ROOT / "examples/in-cluster/job.yaml"))
        objects = {one["kind"]: one for one in yaml.safe_load_all((ROOT / "examples/in-cluster/job.yaml").read_text())}
        container, = objects["Job"]["spec"]["template"]["spec"]["containers"]
        volume, = objects["Job"]["spec"]["template"]["spec"]["volumes"]
        mount, = container["volumeMounts"]
        self.assertEqual((volume["configMap"]["name"], volume["name"]), (objects["ConfigMap"]["metadata"]["name"], mount["name"]))
        for name, text in objects["ConfigMap"]["data"].items():
            (self.work / name).write_text(text)
        args = [one.replace(mount["mountPath"], str(self.work)) for one in container["args"]]
        self.assertIn("ConfigMap in-cluster/colours created", self.fairlead(*args, "-n", "in-cluster").stdout)


del OnSandbox
unittest.main()
