"""The live view on a real terminal (tmux), in windows of several sizes: what the screen shows, and that nothing stays behind."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time
import unittest

from tests.cli.on_sandbox import FAIRLEAD, sandbox

PATIENCE = 120


def config_map(name, **labels):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}}


def deployment(name, **annotations):
    annotations = {f"sandbox.fairlead.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}, "annotations": annotations},
                                  "spec": {"containers": [{"name": "app", "image": "web:1"}]}}}}


def guard():
    """A webhook behind a Deployment that never gets ready, and the Service between them."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"},
               "spec": {"selector": {"app": "slow"}, "ports": [{"port": 443}]}}
    hook = {"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": {"namespace": "default", "name": "hook"}},
            "objectSelector": {"matchLabels": {"guarded": "yes"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
    return [service, {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                      "metadata": {"name": "guard"}, "webhooks": [hook]}]


class Terminal:
    """A window of tmux in which a command runs; its exit code is shown behind it."""
    def __init__(self, folder, command, width, height, env):
        self.tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        words = " ".join(f"{key}={shlex.quote(value)}" for key, value in env.items())
        script = folder / "run.sh"
        # Ctrl-C is for the command.
        script.write_text(f"trap : INT\n{words} {shlex.join(command)}\necho \"exit code $?\"\nexec sleep 600\n")
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(width), "-y", str(height), "sh", str(script)], check=True)
        subprocess.run([*self.tmux, "set", "-g", "window-size", "manual"], check=True)

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True)

    def resize(self, width, height):
        subprocess.run([*self.tmux, "resize-window", "-x", str(width), "-y", str(height)], check=True)

    def keys(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def screen(self):
        """The lines on the screen, with times made equal."""
        text = subprocess.run([*self.tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
        return re.sub(r" *\b\d+(\.\d)?(s|m\d\ds)", " TIME", text).rstrip("\n").split("\n")

    def wait_for(self, *expected):
        """Waits until the screen ends with these lines."""
        limit = time.monotonic() + PATIENCE
        while (screen := self.screen())[-len(expected):] != list(expected):
            if time.monotonic() > limit:
                raise AssertionError("\n".join(["on the screen:", *screen, "instead of:", *expected]))
        return screen


class Live(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        config = self.folder / "kubeconfig"
        self.enterContext(sandbox(config))
        self.env = {"KUBECONFIG": str(config), "NO_COLOR": "1"}

    def manifest(self, *objects):
        path = self.folder / "bundle.json"
        path.write_text("\n---\n".join(json.dumps(one) for one in objects))
        return str(path)

    def open(self, *command, width=100, height=20, **env):
        terminal = Terminal(self.folder, [FAIRLEAD, *command], width, height, {**self.env, **env})
        self.addCleanup(terminal.close)
        return terminal

    def waiting_bundle(self):
        guarded = [config_map(f"guarded-{number}", guarded="yes") for number in range(5)]
        return self.manifest(*(config_map(f"plain-{number}") for number in range(30)), *guard(),
                             deployment("slow", fail="never-ready"), *guarded)

    def view(self, terminal):
        """The lines of the live view; none if there is more than one head line, or none."""
        screen = terminal.screen()
        heads = [number for number, line in enumerate(screen) if re.match(r"^ TIME · \d+ of", line)]
        return screen[heads[0]:] if len(heads) == 1 else []

    def until(self, terminal, holds):
        limit = time.monotonic() + PATIENCE
        while not (lines := self.view(terminal)) or not holds(lines):
            if time.monotonic() > limit:
                self.fail("\n".join(["on the screen:", *terminal.screen()]))
        return lines

    def test_sizes(self):
        # The window becomes wider and lower. Where it becomes narrower, tmux wraps what is on the screen, and lets as many rows
        # leave it at the top, out of reach; board_test.cc has what the view is in narrow windows.
        terminal = self.open("apply", "-f", self.waiting_bundle(), width=20, height=20)
        self.until(terminal, lambda lines: len(lines) > 3)
        for width, height in ((34, 20), (34, 12), (60, 20), (100, 6), (100, 20), (140, 30)):
            with self.subTest(f"{width} x {height}"):
                terminal.resize(width, height)

                def fits(lines):
                    # Narrow windows show names only, and low ones say that there is more.
                    explains = any("TIME" in line for line in lines[1:])
                    cut = lines[-1].startswith("  … and ")
                    return (len(lines) < height and all(len(line) < width for line in lines) and explains == (width > 40)
                            and cut == (height <= 6) and ("waiting for" in lines[0]) == (width > 50))
                self.until(terminal, fits)
        terminal.keys("C-c")
        text = "\n".join(terminal.wait_for("exit code 130"))
        self.assertNotIn("of 38 ready", text)
        self.assertIn("error: interrupted", text)
        self.assertRegex(text, r"38 objects: 33 created, 5 not tried \(.*\) in TIME")

    def test_everything_is_ready_in_the_end(self):
        terminal = self.open("apply", "-f", self.manifest(*(config_map(f"cm-{number}") for number in range(40)),
                                                        deployment("web", ready_after="1s")))
        screen = terminal.wait_for("exit code 0")
        # On a slow machine they come in several lots.
        lots = [re.match(r"^created (\d+) ConfigMaps in default$", line) for line in screen]
        alone = [line for line in screen if re.match(r"^ConfigMap default/cm-\d+ created$", line)]
        self.assertEqual(sum(int(lot.group(1)) for lot in lots if lot) + len(alone), 40, screen)
        self.assertIn("Deployment default/web created", screen)
        self.assertIn("Deployment default/web ready after TIME", screen)
        self.assertEqual([line for line in screen if line.startswith("41 created in TIME") or " of 41 ready" in line],
                         ["41 created in TIME"])

    def test_trouble_and_failures(self):
        terminal = self.open("apply", "--timeout", "8s", "-f",
                             self.manifest(deployment("web", fail="crash-loop", exit_code="3", logs="no database")))
        screen = "\n".join(terminal.wait_for("exit code 3"))
        self.assertRegex(screen, r"Deployment default/web is not ready: pod web-\S+ is waiting: CrashLoopBackOff")
        self.assertRegex(screen, r"1 failed \(not ready\) in TIME")
        self.assertIn("            | no database\n", screen)
        self.assertNotIn("of 1 ready", screen)

    def test_a_dumb_terminal_gets_lines(self):
        terminal = self.open("apply", "-f", self.manifest(config_map("a")), TERM="dumb")
        self.assertEqual(terminal.wait_for("exit code 0"), ["ConfigMap default/a created", "1 created in TIME", "exit code 0"])

    def test_colours_are_for_terminals_that_want_them(self):
        self.env.pop("NO_COLOR")
        terminal = self.open("apply", "--timeout", "8s", "-f", self.manifest(deployment("web", fail="crash-loop")))
        terminal.wait_for("exit code 3")
        painted = subprocess.run([*terminal.tmux, "capture-pane", "-p", "-e"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(painted, r"\x1b\[33mDeployment default/web is not ready")

    def test_a_deletion_has_the_same(self):
        held = {**config_map("held"), "metadata": {"name": "held", "finalizers": ["example.com/never"]}}
        bundle = self.manifest(*(config_map(f"cm-{number}") for number in range(10)), held)
        env = {**os.environ, **self.env}
        subprocess.run([FAIRLEAD, "apply", "-o", "quiet", "-f", bundle], check=True, env=env)
        terminal = self.open("delete", "-y", "-f", bundle)
        # What has a finalizer goes first, and everything else waits for it.
        lines = self.until(terminal, lambda lines: len(lines) == 3 and lines[1].startswith("  ConfigMap default/held "))
        self.assertRegex(lines[0], r"^ TIME · 0 of 11 deleted · waiting for ConfigMap default/held$")
        self.assertRegex(lines[2], r"^  10 (objects|ConfigMaps in default) +wait for ")
        terminal.keys("C-c")
        text = "\n".join(terminal.wait_for("exit code 130"))
        self.assertIn("\n11 objects: 1 being deleted, 10 not tried (not begun) in TIME\nerror: interrupted\nexit code 130", "\n" + text)
        self.assertNotIn("of 11 deleted", text)


if __name__ == "__main__":
    unittest.main()
