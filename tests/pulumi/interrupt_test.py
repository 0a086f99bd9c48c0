"""Runs of pulumi that are interrupted or killed while a resource waits, on the sandbox and on a real cluster. on_pulumi.py says what they need."""
import os
import pathlib
import signal

from tests.manifests import config_map
from tests.pulumi.on_pulumi import IN_NODE, OnCluster, OnPulumi, Programs

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def program():
    """An object, and a wait for another one, which nobody has made."""
    wait = {"objectRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "b", "namespace": "default"},
            "waitFor": {"field": "data.level"}, "timeout": "5m"}
    return [{"type": "KubeObject", "name": "a", "args": {"manifest": config_map("a", level="low")}},
            {"type": "Wait", "name": "w", "args": wait, "options": {"dependsOn": ["a"]}}]


def child_of(process):
    """The only child of a process: pulumi itself."""
    text = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return int(text)


class Interrupts(Programs):
    driver = IN_NODE

    def end_an_up(self, sent):
        """What is told of an `up` that gets this signal while the wait waits."""
        return self.when_it_says("ConfigMap default/b", lambda driver: os.kill(child_of(driver), sent), "up", *program(), ok=False)

    def go_on(self):
        self.assertEqual(self.get(f"{CONFIG_MAPS}/a")[0], 200)
        self.assertEqual(self.api.request("POST", CONFIG_MAPS, config_map("b", level="low"))[0], 201)
        self.assert_changes(self.pulumi("up", *program()), create=1)
        self.assert_changes(self.pulumi("up", *program()))

    def test_an_interrupted_up_is_gone_on_with(self):
        told = self.end_an_up(signal.SIGINT)
        self.assertIn("The wait was interrupted", told["text"])
        self.assertNotIn("bug in the provider", told["text"])
        self.go_on()

    def test_a_killed_up_is_gone_on_with(self):
        self.end_an_up(signal.SIGKILL)
        # pulumi itself left a lock.
        self.assertIn("pulumi cancel", self.pulumi("up", *program(), ok=False)["error"])
        self.pulumi("cancel")
        self.go_on()


class InterruptTest(Interrupts, OnPulumi):
    pass


class InterruptOnClusterTest(Interrupts, OnCluster):
    pass


del Interrupts
