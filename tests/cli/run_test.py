"""`fairlead run` on two sandboxes: phases, state, events, and runs that are killed. helm is a small script here; tests/rollout/kof_test.py
has the real one."""
import json
import os
import re
import select
import signal
import subprocess
import unittest

from tests.cli.on_sandbox import FAIRLEAD, OnSandbox, sandbox

HELM = """#!/bin/sh
if [ "$1" = version ]; then echo v4.3.1; exit; fi
echo "helm $*" >> helm.log
echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: chart}}'
"""

PIPELINE = """\
name: install
values: [config.yaml]
phases:
- name: operators
  context: mothership
  namespace: ${kof.namespace:other}
  createNamespace: true
  events: {completed: kof_operators_installed}
  steps:
  - {manifests: k8s/, name: operators}
- name: mothership
  context: mothership
  namespace: ${kof.namespace:other}
  steps:
  - chart: ./chart
    release: mothership
    set: {storageClass: "${kof.storage_class:standard}"}
  - {wait: configmap/chart, for: create, events: {completed: kof_ready}}
- name: regional
  context: regional
  steps:
  - command: [sh, -c, 'echo "$FAIRLEAD_PIPELINE $FAIRLEAD_PHASE $FAIRLEAD_CONTEXT $COLOUR"; echo trouble >&2']
    env: {COLOUR: blue}
"""

# Waits, the first time, until the test has read the number of its process from the pipe.
BLOCKS = "echo $FAIRLEAD_PHASE >> log; if [ ! -e go-$FAIRLEAD_PHASE ]; then echo $$ > pipe; exec sleep 300; fi"


def config_map(name):
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}\n"


def plain(text):
    return re.sub(r"\d+\.\ds", "TIME", text)


class Pipelines(OnSandbox):
    def setUp(self):
        super().setUp()
        other = self.folder / "regional.kubeconfig"
        self.enterContext(sandbox(other))
        for path, name in ((self.folder / "kubeconfig", "mothership"), (other, "regional")):
            path.write_text(path.read_text().replace('"sandbox"', f'"{name}"'))
        self.env["KUBECONFIG"] = f"{self.folder}/kubeconfig:{other}"
        self.env["PATH"] = f"{self.folder}/bin:/usr/bin:/bin"
        self.write("bin/helm", HELM).chmod(0o700)
        self.write("k8s/one.yaml", config_map("one"))
        self.write("chart/Chart.yaml", "")
        self.write("config.yaml", "kof: {namespace: kof}\n")
        self.write("p.yaml", PIPELINE)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self, name):
        return (self.folder / name).read_text()

    def statuses(self, *arguments, code=0):
        document = json.loads(self.fairlead("run", "status", "p.yaml", "-o", "json", *arguments, code=code).stdout)
        return {phase["name"]: phase["status"] for phase in document["phases"]}

    def events(self):
        return [json.loads(line) for line in self.read("p.yaml.events").splitlines()]

    def start(self, *arguments):
        process = subprocess.Popen([FAIRLEAD, "run", "p.yaml", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.env, cwd=self.folder)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def await_block(self):
        """The number of the process that blocks."""
        return int((self.folder / "pipe").read_text())


class Run(Pipelines):
    def test_phases_run_in_order_in_their_clusters(self):
        result = self.fairlead("run", "p.yaml")
        self.assertEqual(plain(result.stdout), """\
[operators] started: 1 step
[operators] manifests k8s/ started
[operators] Namespace kof created
[operators] ConfigMap kof/one created
[operators] manifests k8s/ completed: 2 created in TIME
[operators] completed
[mothership] started: 2 steps
[mothership] chart ./chart started
[mothership] ConfigMap kof/chart created
[mothership] chart ./chart completed: 1 created in TIME
[mothership] wait configmap/chart started
[mothership] ConfigMap kof/chart exists after TIME
[mothership] wait configmap/chart completed: 1 met in TIME
[mothership] completed
[regional] started: 1 step
[regional] command sh started
[regional] | install regional regional blue
[regional] | trouble
[regional] command sh completed: exit status 0 in TIME
[regional] completed
install: 3 completed in TIME
""")
        self.assertIn("--set-json=storageClass=\"standard\"", self.read("helm.log"))
        self.assertEqual([event["action"] for event in self.events() if event["phase"] != "regional"],
                         ["phase_started", "step_started", "step_completed", "kof_operators_installed", "phase_started", "step_started",
                          "step_completed", "step_started", "kof_ready", "phase_completed"])
        self.assertEqual(os.stat(self.folder / "p.yaml.state").st_mode & 0o777, 0o600)
        self.assertFalse((self.folder / "p.yaml.state.lock").exists())
        self.assertEqual(plain(self.fairlead("run", "p.yaml").stdout), "install: 3 completed in TIME\n")

    def test_events_are_in_the_cluster(self):
        self.fairlead("run", "p.yaml")
        found = self.fairlead("wait", "events", "--all", "-n", "kof", "--context", "mothership", "--for", "field=involvedObject.name", "-o", "json")
        self.assertEqual(len(json.loads(found.stdout)["objects"]), 10)

    def test_the_journal_has_all_steps_and_becomes_a_page(self):
        self.fairlead("run", "p.yaml", "--journal", "run.jsonl", "--timeline", "run.html")
        events = [json.loads(line) for line in self.read("run.jsonl").splitlines()]
        self.assertEqual((events[0]["event"], events[0]["details"]["command"], events[0]["details"]["bundle"]), ("started", "run", "install"))
        self.assertEqual((events[-1]["event"], events[-1]["state"]), ("ended", "done"))
        stored = [(event["details"]["phase"], event["details"]["step"], event["object"]["name"])
                  for event in events if event["event"] == "stored"]
        self.assertEqual(stored, [("operators", "manifests k8s/", "kof"), ("operators", "manifests k8s/", "one"),
                                  ("mothership", "chart ./chart", "chart")])
        self.assertEqual([event["state"] for event in events if event["event"] == "note" and event["details"]["phase"] == "regional"],
                         ["started", "started", "completed", "completed"])
        seconds = [event["seconds"] for event in events]
        self.assertEqual(seconds, sorted(seconds))
        self.assertIn("fairlead run install", self.read("run.html"))
        self.assertEqual(self.fairlead("timeline", "run.jsonl", "-o", "again.html").stdout, "again.html written: 3 objects\n")

    def test_values_of_the_command_line_win(self):
        self.write("prod.yaml", "kof: {namespace: prod}")
        self.fairlead("run", "p.yaml", "--values", "prod.yaml", "--set", "kof.storage_class=fast\\,x", "--state", "prod.state")
        self.assertIn("--set-json=storageClass=\"fast,x\"", self.read("helm.log"))
        self.assertIn("--namespace prod", self.read("helm.log"))
        self.assertTrue((self.folder / "prod.events").exists())
        self.assertEqual(self.statuses(code=2), {"operators": "pending", "mothership": "pending", "regional": "pending"})

    def test_a_failure_is_explained_and_the_next_run_goes_on(self):
        self.write("k8s/one.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, dat: {}}\n")
        result = self.fairlead("run", "p.yaml", "-o", "quiet", code=1)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr, """\
error: phase operators failed
  because   ConfigMap kof/one was not accepted
  because   unknown field dat; did you mean data?
  from      k8s/one.yaml:1
  next      kubectl explain configmap
""")
        self.assertEqual(self.statuses(code=1), {"operators": "failed", "mothership": "pending", "regional": "pending"})
        self.write("k8s/one.yaml", config_map("one"))
        self.fairlead("run", "p.yaml")

    def test_a_step_that_worked_when_it_was_tried_again_is_no_error(self):
        self.write("p.yaml", "phases: [{name: a, steps: [{command: [sh, -c, '[ -e tried ] || { touch tried; exit 3; }'], retries: 1, "
                             "retryDelay: 0}]}]")
        result = self.fairlead("run", "p.yaml", "-o", "quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertEqual([event["kind"] for event in self.events() if "step" in event], ["started", "retry", "completed"])

    def test_json(self):
        self.write("p.yaml", PIPELINE.replace("echo trouble >&2", "echo trouble >&2; exit 3"))
        document = json.loads(self.fairlead("run", "p.yaml", "-o", "json", code=1).stdout)
        self.assertEqual([phase["status"] for phase in document["phases"]], ["completed", "completed", "failed"])
        self.assertEqual(document["summary"]["outcome"], "failed")
        self.assertEqual(document["summary"]["errors"], [{"what": "phase regional failed", "because": ["sh failed", "trouble"]}])
        lines = self.fairlead("run", "p.yaml", "-o", "jsonl", code=1).stdout.splitlines()
        self.assertEqual([json.loads(line).get("action", "summary") for line in lines],
                         ["phase_started", "step_started", "step_failed", "phase_failed", "summary"])

    def test_a_changed_phase_is_noticed_and_can_be_reset(self):
        self.fairlead("run", "p.yaml")
        self.write("p.yaml", PIPELINE.replace("standard", "slow"))
        result = self.fairlead("run", "p.yaml", "--progress", "quiet")
        self.assertEqual(result.stderr, "warning: phase mothership has changed since it was completed, and is not run again\n"
                                        "  next      fairlead run reset p.yaml mothership\n")
        self.assertEqual(self.fairlead("run", "reset", "p.yaml", "mothership").stdout,
                         "phase mothership is pending again\nphase regional is pending again\n")
        self.assertEqual(self.statuses(code=2), {"operators": "completed", "mothership": "pending", "regional": "pending"})
        (self.folder / "helm.log").unlink()
        self.fairlead("run", "p.yaml", "--from", "regional")
        self.assertIn("--set-json=storageClass=\"slow\"", self.read("helm.log"))
        (self.folder / "helm.log").unlink()
        self.fairlead("run", "p.yaml", "--from", "regional")
        self.assertFalse((self.folder / "helm.log").exists())

    def test_what_is_wrong_has_its_position(self):
        for text, expected in (
                ("phases: [{name: a, steps: [{wait: pod/x, for: nothing}]}]",
                 "error: --for: \"nothing\" is none of the forms\n  from      p.yaml:1:28\n  next      --for ready, functional, rollout, create, "
                 "delete, condition=NAME[=VALUE], jsonpath={.path}[=VALUE] or field=PATH[=VALUE]\n"),
                ("phases:\n- {name: a, needs: [b], steps: [{wait: pod/x}]}\n- {name: b, needs: [a], steps: [{wait: pod/x}]}",
                 "error: phases need each other in a loop: a needs b needs a\n  from      p.yaml:2:13\n"),
                ("phases: [{name: a, steps: [{command: [x], shell: true}]}]",
                 "error: unknown key shell\n  from      p.yaml:1:43\n"
                 "  next      the keys here are command, env, directory, timeout, retries, retryDelay, events\n")):
            self.write("p.yaml", text)
            self.assertEqual(self.fairlead("run", "p.yaml", code=1).stderr, expected)
            self.assertFalse((self.folder / "p.yaml.state").exists())

    def test_wrong_command_lines(self):
        for arguments, expected in (
                ((), "error: FILE is missing: the pipeline to run\n  next      fairlead run --help\n"),
                (("p.yaml", "--from", "regionl"), "error: there is no phase regionl in p.yaml; did you mean regional?\n"
                                                  "  next      its phases are operators, mothership, regional\n")):
            self.assertEqual(self.fairlead("run", *arguments, code=64).stderr, expected)
        for wrong in ("a", "=1", "a[x]=1"):
            self.assertIn("error: --set: ", self.fairlead("run", "p.yaml", "--set", wrong, code=64).stderr)
        self.write("p.yaml.state", "{\"schemaVersion\": 1, \"pipeline\": \"install\", \"phases\": [{\"name\": \"a\"}]}")
        self.assertEqual(self.fairlead("run", "p.yaml", code=1).stderr,
                         "error: phases[0].status must be pending, in progress, completed, skipped or failed\n"
                         "  from      p.yaml.state:1:56\n"
                         "  next      rm p.yaml.state begins again from the first phase, --state FILE keeps the state elsewhere\n")

    def test_another_cluster_is_not_taken_for_the_same(self):
        self.write("p.yaml", "kubernetesEvents: false\nphases:\n- {name: a, steps: [{command: [sh, -c, 'echo $FAIRLEAD_CONTEXT >> log']}]}\n")
        self.fairlead("run", "p.yaml", "--context", "mothership")
        errors = self.fairlead("run", "p.yaml", "--context", "regional", code=1).stderr
        self.assertRegex(errors, r"""\Aerror: p.yaml.state is the state of a run in another cluster or namespace
  because   phase a was completed in context mothership, https://\S+, namespace default, and is for context regional, \S+, namespace default now
  next      --state FILE keeps the state of this one elsewhere; or fairlead run reset p.yaml --context regional a
\Z""")
        self.fairlead("run", "p.yaml", "--context", "mothership")
        self.fairlead("run", "p.yaml", "--context", "regional", "--state", "regional.state")
        self.assertEqual(self.read("log").split(), ["mothership", "regional"])

    def test_a_context_that_does_not_exist_is_found_first(self):
        phases = "kubernetesEvents: false\nphases:\n- {name: a, steps: [%s]}\n- {name: b, context: nope, steps: [{wait: pod/x}]}\n"
        self.write("p.yaml", phases % "{manifests: k8s/}")
        for arguments in ((), ("--dry-run",)):
            errors = self.fairlead("run", "p.yaml", *arguments, code=1).stderr
            self.assertTrue(errors.startswith("error: phase b cannot run\n"), errors)
            self.assertIn("from      p.yaml:4:3\n", errors)
            self.assertFalse((self.folder / "p.yaml.state").exists())
        # A command may make it.
        self.write("p.yaml", phases % "{command: ['true']}")
        self.fairlead("run", "p.yaml", "--dry-run")

    def test_a_dry_run_runs_nothing(self):
        self.assertEqual(self.fairlead("run", "p.yaml", "--dry-run").stdout,
                         "[operators] would run: 1 step\n[mothership] would run: 2 steps\n[regional] would run: 1 step\n")
        self.assertFalse((self.folder / "p.yaml.state").exists())
        self.fairlead("run", "p.yaml")
        self.assertEqual(self.fairlead("run", "p.yaml", "--dry-run", "--from", "mothership").stdout,
                         "[operators] is completed\n[mothership] would run: 2 steps\n[regional] would run: 1 step\n")
        self.assertEqual(self.statuses(), {"operators": "completed", "mothership": "completed", "regional": "completed"})

    def test_the_next_command_has_the_flags(self):
        self.write("prod values.yaml", "{}")
        status = self.fairlead("run", "status", "p.yaml", "--values", "prod values.yaml", "--set", "kof.token=hunter2", "--state", "s", code=2)
        self.assertIn("next: fairlead run p.yaml --values 'prod values.yaml' --set kof.token=VALUE --state s goes on with what is left\n",
                      status.stdout)
        lines = [json.loads(line) for line in self.fairlead("run", "status", "p.yaml", "-o", "jsonl", code=2).stdout.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["phase", "phase", "phase", "summary"])

    def test_the_steps_of_an_edited_state_are_counted(self):
        phases = "kubernetesEvents: false\nphases: [{name: a, steps: [%s]}]\n"
        self.write("p.yaml", phases % ", ".join(["{command: ['true']}"] * 3))
        self.fairlead("run", "p.yaml")
        self.write("p.yaml", phases % ", ".join(["{command: ['true']}"] * 2))
        self.assertRegex(self.fairlead("run", "status", "p.yaml").stdout, r"a +completed +2/2 ")

    def test_completion(self):
        words = self.fairlead("__complete", "--", "run", "reset", "p.yaml", "").stdout
        self.assertEqual([line.split("\t")[0] for line in words.splitlines()], ["operators", "mothership", "regional"])


class Killed(Pipelines):
    PHASES = ("operators", "mothership", "regional")

    def setUp(self):
        super().setUp()
        os.mkfifo(self.folder / "pipe")
        steps = "[{manifests: k8s/, name: one}, {command: [sh, -c, 'echo before-$FAIRLEAD_PHASE >> log']}, " \
                f"{{command: [sh, -c, '{BLOCKS}']}}, {{wait: configmap/one}}]"
        phases = "\n".join(f"- {{name: {name}, context: {'regional' if name == 'regional' else 'mothership'}, steps: {steps}}}"
                           for name in self.PHASES)
        self.write("p.yaml", f"phases:\n{phases}\n")

    def go_on(self, phase, blocked):
        os.kill(blocked, signal.SIGKILL)
        self.write(f"go-{phase}", "")

    @staticmethod
    def await_end(process):
        """Another than a child of ours."""
        try:
            descriptor = os.pidfd_open(process)
        except ProcessLookupError:
            return
        select.select([descriptor], [], [], 60)
        os.close(descriptor)

    def test_a_run_that_is_killed_in_every_phase_goes_on(self):
        for number, phase in enumerate(self.PHASES):
            process = self.start()
            blocked = self.await_block()
            process.kill()
            process.wait(timeout=60)
            # Its command is still there, and must not be started again beside it.
            self.assertIn("another run of this pipeline is active", self.fairlead("run", "p.yaml", code=1).stderr)
            self.go_on(phase, blocked)
            self.await_end(blocked)
            status = self.fairlead("run", "status", "p.yaml", code=2).stdout
            self.assertRegex(status, rf"{phase} +in progress +2/4 .*the run was killed\n")
            self.assertEqual(list(self.statuses(code=2).values()), ["completed"] * number + ["in progress"] + ["pending"] * (2 - number))
        result = self.fairlead("run", "p.yaml")
        self.assertTrue(result.stdout.startswith("[regional] goes on with step 3 of 4\n"), result.stdout)
        self.assertEqual(set(self.statuses().values()), {"completed"})
        # Nothing that was done is done again, and what was killed is.
        self.assertEqual(self.read("log").split(), [word for phase in self.PHASES for word in (f"before-{phase}", phase, phase)])
        self.assertEqual([event["phase"] for event in self.events() if event["kind"] == "resumed"], list(self.PHASES))

    def test_ctrl_c_keeps_the_state(self):
        process = self.start()
        self.await_block()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, output)
        self.assertEqual(errors, "error: interrupted\n  next      fairlead run p.yaml goes on where it was\n")
        self.assertTrue(plain(output).endswith("[operators] interrupted\np: 1 in progress, 2 pending in TIME\n"), output)
        self.assertEqual(self.statuses(code=2), {"operators": "in progress", "mothership": "pending", "regional": "pending"})

    def test_two_runs_at_once_refuse_each_other(self):
        process = self.start()
        blocked = self.await_block()
        errors = self.fairlead("run", "p.yaml", code=1).stderr
        self.assertRegex(errors, rf"""\Aerror: another run of this pipeline is active
  because   .*process {process.pid} holds p.yaml.state.lock
  next      wait until it and the commands that it has started have ended, or give --state FILE if it is a run of another kind
\Z""")
        self.assertRegex(self.fairlead("run", "status", "p.yaml", code=2).stdout, rf"a run is active: .*process {process.pid}\n\Z")
        for phase in self.PHASES:
            self.write(f"go-{phase}", "")
        os.kill(blocked, signal.SIGKILL)
        process.communicate(timeout=60)
        # The command of the first phase was killed, and not tried again.
        self.assertEqual(process.returncode, 1)
        self.fairlead("run", "p.yaml")


unittest.main()
