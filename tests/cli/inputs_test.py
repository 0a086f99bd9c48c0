"""Charts, kustomizations and fairlead.yaml, on the sandbox. helm, kubectl and kustomize are small scripts here that write down how
they were called; tests/charts has the real helm."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from tests.cli.on_sandbox import FAIRLEAD, sandbox

HELM = """#!/bin/sh
echo "helm $*" >> "$LOG"
if [ "$1" = version ]; then echo v4.3.1; exit; fi
echo 'a word of warning' >&2
cat "$CHART"
"""


def config_map(name):
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"


def hook(name, events, more="", exit_code=0):
    return f"""---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, annotations: {{helm.sh/hook: "{events}"{more}}}}}
spec:
  backoffLimit: 0
  template:
    metadata: {{annotations: {{sandbox.fairlead.dev/runs-for: 10ms, sandbox.fairlead.dev/exit-code: "{exit_code}"}}}}
    spec: {{restartPolicy: Never, containers: [{{name: main, image: x}}]}}
"""


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        self.log, self.chart = self.folder / "log", self.folder / "chart.txt"
        self.env = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": str(self.folder), "LOG": str(self.log),
                    "CHART": str(self.chart)}

    def install(self, name, script):
        path = self.folder / "bin" / name
        path.write_text(script)
        path.chmod(0o700)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def calls(self):
        """Those of templates, without what a cluster serves."""
        lines = [line for line in self.log.read_text().splitlines() if "version" not in line.split()[1]]
        return [" ".join(word for word in line.replace(str(self.folder), "TEMP").split()) for line in lines]

    def fairlead(self, *arguments):
        return subprocess.run([FAIRLEAD, *arguments], capture_output=True, text=True, timeout=60, env=self.env, cwd=self.folder)

    def assert_usage(self, result, complaint, command="apply"):
        self.assertEqual((result.returncode, result.stderr),
                         (64, f"error: {complaint}\n  next      fairlead {command} --help\n"))


class OnTheSandbox(Case):
    def setUp(self):
        super().setUp()
        kubeconfig = self.folder / "kubeconfig"
        self.enterContext(sandbox(kubeconfig))
        self.env["KUBECONFIG"] = str(kubeconfig)

    def objects(self, result):
        """What became of each object: "ConfigMap a created"."""
        document = json.loads(result.stdout)
        return sorted(f"{one['kind']} {one['name']} {one['outcome']}" for one in document["objects"])

    def applied(self, *arguments):
        result = self.fairlead("apply", "-o", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return self.objects(result)


class Charts(OnTheSandbox):
    def setUp(self):
        super().setUp()
        self.install("helm", HELM)

    def test_an_installation_and_an_upgrade(self):
        self.chart.write_text("---\n# Source: shop/templates/a.yaml\n" + config_map("a")[4:])
        (self.folder / "b.yaml").write_text(config_map("b"))
        first = self.fairlead("apply", "--chart", "./shop", "--name", "web", "-f", "b.yaml", "-o", "json", "--", "--set", "x=1")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(self.objects(first), ["ConfigMap a created", "ConfigMap b created"])
        sources = {one["name"]: one["source"] for one in json.loads(first.stdout)["objects"]}
        self.assertEqual(sources, {"a": "chart shop, templates/a.yaml", "b": "b.yaml:2"})
        self.assertEqual(first.stderr, "warning: a word of warning\n")
        self.assertEqual(self.applied("--chart", "./shop", "--release", "web", "-f", "b.yaml"),
                         ["ConfigMap a unchanged", "ConfigMap b unchanged"])
        self.assertEqual(self.calls(), [
            "helm template --include-crds --namespace default --kube-context sandbox --dry-run=server --take-ownership --set x=1 -- web ./shop",
            "helm template --include-crds --namespace default --is-upgrade --kube-context sandbox --dry-run=server --take-ownership -- web ./shop"])

    def test_the_context_is_the_same_and_the_token_is_not_seen(self):
        self.install("helm", HELM.replace('echo "helm', 'echo "$HELM_KUBETOKEN" > "$LOG.token"; echo "helm'))
        self.chart.write_text(config_map("a"))
        self.fairlead("apply", "--chart", "c", "--name", "web", "-n", "kube-public", "--as", "ann", "--as-group", "dev",
                      "--token", "sesame", "--kubeconfig", self.env["KUBECONFIG"])
        self.assertEqual(self.calls(), [
            "helm template --include-crds --namespace kube-public --kubeconfig TEMP/kubeconfig --kube-context sandbox "
            "--kube-as-user ann --kube-as-group dev --dry-run=server --take-ownership -- web c"])
        self.assertEqual((self.folder / "log.token").read_text(), "sesame\n")
        result = self.fairlead("apply", "--chart", "c", "--name", "web", "--user", "sandbox")
        self.assertEqual((result.returncode, result.stderr), (1, (
            "error: --user cannot be used with a chart\n"
            "  because   helm has no such flag\n"
            "  next      put it into a context of the kubeconfig, and give --context\n")))

    def test_helm_that_is_older_is_told_what_is_served(self):
        self.install("helm", HELM.replace("v4.3.1", "v3.12.0"))
        self.chart.write_text(config_map("a"))
        self.applied("--chart", "c", "--name", "web")
        [call] = self.calls()
        self.assertIn(" --kube-version v1.37.1+sandbox --api-versions v1 --api-versions v1/", call)
        self.assertIn(" --api-versions apps/v1/Deployment ", call)
        self.assertNotIn("--dry-run", call)

    def test_hooks_run_on_the_installation_on_upgrades_and_on_deletion(self):
        self.chart.write_text(config_map("a") + hook("prepare", "pre-install,pre-upgrade") + hook("try", "test") +
                              hook("farewell", "pre-delete", ', helm.sh/hook-delete-policy: "hook-succeeded"') +
                              hook("obituary", "post-delete"))
        for state, outcome in (("created", "created"), ("unchanged", "changed")):
            self.assertIn(self.applied("--chart", "c", "--name", "web"), [
                sorted([f"ConfigMap a {state}", f"Job prepare {one}", "Job try left out", "Job farewell left out",
                        "Job obituary left out"]) for one in ("created", "changed")], outcome)
        gone = self.fairlead("delete", "--all", "--name", "web", "--chart", "c")
        self.assertEqual(gone.returncode, 0, gone.stdout + gone.stderr)
        said = gone.stdout + gone.stderr
        order = [said.index("Job farewell: runs as a Helm hook for pre-delete"), said.index("ConfigMap default/a deleted"),
                 said.index("Job obituary: runs as a Helm hook for post-delete")]
        self.assertEqual(order, sorted(order), said)
        left = self.fairlead("delete", "job/obituary", "job/farewell", "-o", "json")
        self.assertEqual(self.objects(left), ["Job farewell absent", "Job obituary gone"])

    def test_hooks_for_deletion_are_found_in_the_cluster_too(self):
        self.chart.write_text(config_map("a") + hook("farewell", "pre-delete") + hook("obituary", "post-delete"))
        self.applied("--chart", "c", "--name", "web")
        gone = self.fairlead("delete", "--all", "--name", "web")
        said = gone.stdout + gone.stderr
        self.assertEqual(gone.returncode, 0, said)
        order = [said.index("Job default/farewell: runs as a Helm hook for pre-delete"), said.index("ConfigMap default/a deleted"),
                 said.index("Job default/obituary: runs as a Helm hook for post-delete")]
        self.assertEqual(order, sorted(order), said)

    def test_hooks_for_deletion_that_cannot_be_read_hold_it(self):
        self.chart.write_text(config_map("a") + hook("farewell", "pre-delete"))
        self.applied("--chart", "c", "--name", "web")
        self.assertEqual(self.fairlead("delete", "secret/fairlead-web.revision-1").returncode, 0)
        held = self.fairlead("delete", "--name", "web")
        self.assertEqual(held.returncode, 1, held.stdout)
        self.assertTrue(held.stderr.startswith("error: bundle web has Helm hooks for its deletion, and they cannot be read\n"
                                               "  because   the manifests of revision 1 are not kept\n"), held.stderr)
        self.assertTrue(held.stderr.endswith("  next      fairlead delete --name web --chart CHART gives them; "
                                             "--no-hooks deletes it without them\n"), held.stderr)
        gone = self.fairlead("delete", "--name", "web", "--no-hooks", "-o", "json")
        self.assertEqual((gone.returncode, self.objects(gone)), (0, ["ConfigMap a gone"]))

    def test_a_hook_that_fails_holds_the_deletion(self):
        self.chart.write_text(config_map("a") + hook("farewell", "pre-delete", exit_code=3))
        self.applied("--chart", "c", "--name", "web")
        result = self.fairlead("delete", "--name", "web", "--chart", "c")
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: a hook for pre-delete failed, and nothing was deleted\n", result.stderr)
        self.assertIn("  event     BackoffLimitExceeded: Job has reached the specified backoff limit\n", result.stderr)
        self.assertIn("--no-hooks deletes the bundle without its hooks\n", result.stderr)
        self.assertEqual(self.applied("--chart", "c", "--name", "web"), ["ConfigMap a unchanged", "Job farewell left out"])
        result = self.fairlead("delete", "--name", "web", "--chart", "c", "--no-hooks", "-o", "json")
        self.assertEqual((result.returncode, self.objects(result)), (0, ["ConfigMap a gone"]))


class Kustomizations(OnTheSandbox):
    def test_a_kustomization_beside_a_file(self):
        self.install("kubectl", "#!/bin/sh\necho kubectl $* >> $LOG\n" + f"cat <<'END'\n{config_map('a')}END\n")
        (self.folder / "b.yaml").write_text(config_map("b"))
        self.assertEqual(self.applied("-k", "overlay", "-f", "b.yaml"), ["ConfigMap a created", "ConfigMap b created"])
        self.assertEqual(self.calls(), ["kubectl kustomize -- overlay"])


class BundleFile(OnTheSandbox):
    def test_apply_alone_does_it_and_so_does_delete(self):
        self.write("k8s/a.yaml", config_map("a"))
        self.write("fairlead.yaml", "name: shop\nprune: true\ntimeout: 1m\nsources: [{file: k8s}]\n")
        self.assertEqual(self.applied(), ["ConfigMap a created"])
        self.write("k8s/a.yaml", config_map("b"))
        self.assertEqual(self.applied(), ["ConfigMap a removed", "ConfigMap b created"])
        result = self.fairlead("delete", "-o", "json")
        self.assertEqual((result.returncode, self.objects(result)), (0, ["ConfigMap b gone"]))

    def test_from_elsewhere_paths_are_relative_to_the_file(self):
        self.write("shop/k8s/a.yaml", config_map("a"))
        self.write("shop/fairlead.yaml", "name: shop\nsources: [{file: k8s}]\n")
        self.assertEqual(self.applied("--config", "shop/fairlead.yaml"), ["ConfigMap a created"])

    def test_flags_win_over_it(self):
        self.write("fairlead.yaml", "name: shop\nnamespace: kube-public\ntimeout: nonsense\nsources: [{file: a.yaml}]\n")
        self.write("a.yaml", config_map("a"))
        self.assertIn('--timeout: "nonsense" is not a duration', self.fairlead("apply").stderr)
        result = self.fairlead("apply", "--timeout", "1m", "-n", "default", "-o", "json")
        self.assertEqual({one["namespace"] for one in json.loads(result.stdout)["objects"]}, {"default"})

    def test_whoever_names_something_else_does_not_mean_that_bundle(self):
        self.write("fairlead.yaml", "name: shop\nprune: true\nsources: [{file: a.yaml}]\n")
        self.write("a.yaml", config_map("a"))
        self.write("b.yaml", config_map("b"))
        self.applied()
        self.assertEqual(self.applied("-f", "b.yaml"), ["ConfigMap b created"], "nothing of shop is pruned")
        result = self.fairlead("delete", "configmap/b", "-o", "json")
        self.assertEqual((result.returncode, self.objects(result)), (0, ["ConfigMap b gone"]))

    def test_other_contexts_are_refused(self):
        self.write("fairlead.yaml", "name: shop\n\ncontexts: [prod-*, staging]\nsources: [{file: a.yaml}]\n")
        self.write("a.yaml", config_map("a"))
        for command in ("apply", "delete"):
            result = self.fairlead(command)
            self.assertEqual((result.returncode, result.stderr), (1, (
                'error: context "sandbox" may not be used with this bundle\n'
                "  because   it allows prod-*, staging\n"
                "  from      fairlead.yaml:3\n"
                "  next      --context NAME chooses another one\n")))
        self.write("fairlead.yaml", "name: shop\ncontexts: [sand*]\nsources: [{file: a.yaml}]\n")
        self.assertEqual(self.applied(), ["ConfigMap a created"])

    def test_a_chart_in_it(self):
        self.install("helm", HELM)
        self.chart.write_text(config_map("a"))
        self.write("shop/fairlead.yaml", "sources:\n- chart: ./chart\n  release: web\n  values: [v.yaml]\n  flags: [--set, a=b]\n")
        self.assertEqual(self.applied("--config", "shop/fairlead.yaml", "--", "--set", "c=d"), ["ConfigMap a created"])
        self.assertEqual(self.calls(), [
            "helm template --include-crds --namespace default --kube-context sandbox --dry-run=server --take-ownership --values=shop/v.yaml "
            "--set a=b --set c=d -- web ./shop/chart"])

    def test_commands_that_take_a_name_and_commands_that_take_none(self):
        self.install("helm", HELM)
        self.chart.write_text(config_map("a"))
        self.write("fairlead.yaml", "name: shop\nsources: [{chart: ./chart}]\n")
        self.applied()
        status = self.fairlead("status")
        self.assertEqual(status.returncode, 0, status.stderr)
        self.assertIn("shop", status.stdout)
        graph = self.fairlead("graph")
        self.assertEqual(graph.returncode, 0, graph.stderr)
        self.assertEqual([call.split(" -- ")[1] for call in self.calls()], ["shop ./chart"] * 2)

    def test_it_is_no_manifest_of_its_folder(self):
        self.write("fairlead.yaml", "name: shop\nsources: [{file: .}]\n")
        self.write("a.yaml", config_map("a"))
        self.assertEqual(self.applied(), ["ConfigMap a created"])
        result = self.fairlead("apply", "-f", "fairlead.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--config fairlead.yaml if it describes a bundle; it is no manifest then", result.stderr)


class Mistakes(Case):
    def test_programs_that_are_missing(self):
        self.env["PATH"] = str(self.folder / "bin")
        self.env["KUBECONFIG"] = str(self.write("kubeconfig", ""))
        result = self.fairlead("apply", "-k", ".")
        self.assertEqual((result.returncode, result.stderr), (1, (
            "error: -k needs kubectl or kustomize, and neither is in PATH\n"
            "  next      install one of them: https://kubernetes.io/docs/tasks/tools/ or "
            "https://kubectl.docs.kubernetes.io/installation/kustomize/\n")))

    def test_command_lines(self):
        self.assert_usage(self.fairlead("apply"), "there are no manifests to read: give -f FILE, -k FOLDER or --chart CHART")
        self.assert_usage(self.fairlead("apply", "-f", "x", "--", "--set", "a=b"),
                          "--set is a flag for helm, and there is no chart: give --chart CHART")
        self.assert_usage(self.fairlead("apply", "--chart", "x"),
                          "the chart x needs the name of its release: give --name or --release")
        self.assert_usage(self.fairlead("apply", "-f", "x", "--release", "y"), "--release needs --chart as well")
        self.assert_usage(self.fairlead("apply", "--config", "nowhere.yaml"), "the file of --config, nowhere.yaml, cannot be read")

    def test_what_is_wrong_with_the_file_is_told_with_its_line(self):
        self.write("fairlead.yaml", "name: shop\nprun: true\ntimeout: 1\n")
        result = self.fairlead("apply", "--prune")
        self.assertEqual((result.returncode, result.stderr), (1, (
            "error: unknown key prun; did you mean prune?\n"
            "  from      fairlead.yaml:2\n"
            "  next      the keys here are name, namespace, contexts, sources, recursive, prune, createNamespace, timeout, "
            "timeoutFor\n"
            "error: timeout must be a string: put it in quotes\n"
            "  from      fairlead.yaml:3\n")))
        for arguments in (["version"], ["apply", "--help"]):
            self.assertEqual(self.fairlead(*arguments).returncode, 0, "it does not stand in the way of other commands")


unittest.main()
