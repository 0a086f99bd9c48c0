"""Completion in the real shells."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from tests.cli.on_sandbox import FAIRLEAD, sandbox


class InShells(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        bin_folder = pathlib.Path(self.folder.name) / "bin"
        bin_folder.mkdir()
        (bin_folder / "fairlead").symlink_to(FAIRLEAD)
        config = pathlib.Path(self.folder.name) / "config"
        config.write_text("apiVersion: v1\nkind: Config\ncontexts:\n"
                          "- {name: production, context: {}}\n- {name: preview, context: {}}\n")
        (pathlib.Path(self.folder.name) / "bundle.yaml").touch()
        self.env = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "KUBECONFIG": str(config),
                    "HOME": self.folder.name}

    def run_in(self, *argv):
        return subprocess.run(argv, capture_output=True, text=True, env=self.env, cwd=self.folder.name, timeout=60,
                              check=True).stdout.split("\n")

    def bash(self, *words):
        script = f"""source <(fairlead completion bash)
COMP_WORDS=({' '.join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
_fairlead; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return [word for word in self.run_in("bash", "-c", script) if word]


class Shells(InShells):
    def test_bash(self):
        self.assertEqual(self.bash("fairlead", "ap"), ["apply"])
        self.assertEqual(self.bash("fairlead", "apply", "--force"), ["--force-conflicts"])
        self.assertEqual(self.bash("fairlead", "apply", "--context", "pr"), ["production", "preview"])
        self.assertEqual(self.bash("fairlead", "apply", "--context", "=", "pro"), ["production"])
        self.assertEqual(self.bash("fairlead", "apply", "-o", "js"), ["json", "jsonl"])
        self.assertIn("bundle.yaml", self.bash("fairlead", "apply", "-f", "bun"))
        for flag in ("-k", "--chart", "--config"):
            self.assertIn("bundle.yaml", self.bash("fairlead", "apply", flag, "bun"))
        self.assertEqual(self.bash("fairlead", "completion", ""), ["bash", "zsh", "fish"])

    def test_fish(self):
        lines = self.run_in("fish", "-c", "fairlead completion fish | source; complete -C 'fairlead apply --context pr'")
        self.assertEqual([line.strip() for line in lines if line], ["preview", "production"])

    def test_zsh_accepts_the_script(self):
        self.run_in("zsh", "-f", "-c", "autoload -U compinit; compinit -u; source <(fairlead completion zsh); whence -w _fairlead")


class Bundles(InShells):
    """The names of bundles come from the cluster."""

    def setUp(self):
        super().setUp()
        self.env["KUBECONFIG"] = f"{self.folder.name}/sandbox.kubeconfig"
        self.enterContext(sandbox(self.env["KUBECONFIG"]))
        bundle = pathlib.Path(self.folder.name) / "one.yaml"
        for name in ("shop", "shipping", "web"):
            bundle.write_text(f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}")
            self.run_in("fairlead", "apply", "-f", "one.yaml", "--name", name)

    def test_bash(self):
        for command in (["status"], ["history"], ["rollback"], ["logs"], ["delete", "--name"], ["apply", "--name"]):
            self.assertEqual(self.bash("fairlead", *command, "sh"), ["shipping", "shop"], command)
        self.assertEqual(self.bash("fairlead", "status", ""), ["shipping", "shop", "web"])
        self.assertEqual(self.bash("fairlead", "-n", "kube-system", "status", ""), [])
        self.assertEqual(self.bash("fairlead", "rollback", "shop", ""), [])
        self.assertEqual(self.bash("fairlead", "delete", "--name", "=", "w"), ["web"])

    def test_fish(self):
        lines = self.run_in("fish", "-c", "fairlead completion fish | source; complete -C 'fairlead status sh'")
        self.assertEqual([line.strip() for line in lines if line], ["shipping", "shop"])

    def test_a_cluster_that_cannot_be_reached_has_none(self):
        self.assertEqual(self.bash("fairlead", "status", "--server", "https://127.0.0.1:1", ""), [])
        self.assertEqual(self.bash("fairlead", "status", "--kubeconfig", "nowhere", ""), [])


unittest.main()
