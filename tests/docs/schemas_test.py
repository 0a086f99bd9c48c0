"""What Fairlead prints for programs is what docs/schemas says. Each schema has a command here whose real output is checked."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs/schemas"
FAIRLEAD = os.environ["FAIRLEAD"]
GOOD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "good"}, "data": {"colour": "blue"}}
BAD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bad"}, "dat": {}}


def check(name, document):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "bundle.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [GOOD, BAD]}))
        (cls.folder / "good.json").write_text(json.dumps(GOOD))
        script = """
            fairlead apply -f bundle.json -o json --journal apply.jsonl > apply.json
            fairlead apply -f good.json -o jsonl > apply.stream
            fairlead delete -f bundle.json --yes -o json --journal delete.jsonl > delete.json
            fairlead apply -f good.json -o quiet && fairlead delete -f good.json --yes -o jsonl > delete.stream
            fairlead apply -f good.json -o quiet
            fairlead wait configmap/good -o json --journal wait.jsonl > wait.json
            fairlead wait configmap/good -o jsonl > wait.stream
            fairlead delete -f good.json --yes -o quiet
            echo 'phases: [{name: one, steps: [{manifests: good.json}]}, {name: two, steps: [{command: ["false"]}]}]' > pipeline.yaml
            fairlead run pipeline.yaml -o json > run.json
            fairlead run pipeline.yaml -o jsonl > run.stream
            fairlead run status pipeline.yaml -o json > run-status.json
            fairlead delete -f good.json --yes -o quiet
            fairlead graph --offline -f good.json -o json > graph.json
            fairlead doctor -o json > doctor.json
            fairlead certs ensure --service hook --secret hook-cert -o json > certs.json
            fairlead certs verify --service hook --secret hook-cert -o json > certs-verify.json
            fairlead certs show --service hook --secret none -o json > certs-none.json
            fairlead apply -f good.json --name shop -o quiet
            fairlead list -o json > list.json
            fairlead status shop -o json > status.json
            fairlead trace configmap/good -o json > trace.json
            sed -i s/blue/green/ good.json
            fairlead plan -f good.json --name shop -o json > plan.json
            fairlead diff -f good.json --name shop -o json > diff.json
            fairlead apply -f good.json --name shop -o quiet
            fairlead history shop -o json > history.json
            fairlead history shop --diff 2 -o json > history-diff.json
            fairlead apply -f good.json --contexts all -o json > clusters.json
            fairlead version -o json > version.json"""
        (cls.folder / "fairlead").symlink_to(FAIRLEAD)
        environment = {**os.environ, "PATH": f"{cls.folder}:{os.environ['PATH']}"}
        subprocess.run([FAIRLEAD, "sandbox", "--", "bash", "-c", script], cwd=cls.folder, env=environment, check=True, capture_output=True)

    def lines(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def test_documents(self):
        for name in ("apply", "clusters", "delete", "doctor", "graph", "history", "history-diff", "list", "plan", "run", "status", "trace", "version",
                     "wait"):
            with self.subTest(name=name):
                check(name, json.loads((self.folder / f"{name}.json").read_text()))

    def test_certificates(self):
        for name in ("certs", "certs-verify", "certs-none"):
            with self.subTest(name=name):
                check("certs", json.loads((self.folder / f"{name}.json").read_text()))

    def test_a_diff_is_a_plan(self):
        document = json.loads((self.folder / "diff.json").read_text())
        self.assertEqual([one["action"] for one in document["objects"]], ["change"])
        check("plan", document)

    def test_pipelines(self):
        check("run", json.loads((self.folder / "run-status.json").read_text()))
        *events, summary = self.lines("run.stream")
        self.assertEqual([event["phase"] for event in events], ["two"] * 4)
        for event in events + self.lines("pipeline.yaml.events"):
            check("run-event", event)
        check("run", {"schemaVersion": 1, "summary": summary})

    def test_the_example_is_a_pipeline(self):
        check("pipeline.schema", yaml.safe_load((ROOT / "examples/kof/kof.yaml").read_text()))

    def test_journals(self):
        for name in ("apply.jsonl", "delete.jsonl", "wait.jsonl"):
            lines = self.lines(name)
            self.assertEqual((lines[0]["event"], lines[-1]["event"]), ("started", "ended"))
            for line in lines:
                check("event", line)

    def test_streams(self):
        for name in ("apply", "delete", "wait"):
            *events, summary = self.lines(f"{name}.stream")
            for event in events:
                check("event", event)
            check(name, {"objects": [], "summary": summary})

    def test_a_wrong_document_is_found(self):
        event = self.lines("apply.jsonl")[0]
        for wrong in ({**event, "seconds": "0"}, {**event, "event": "dreamt"}, {"seconds": 0}):
            with self.assertRaises(jsonschema.ValidationError):
                check("event", wrong)

    def test_every_schema_is_checked(self):
        # Those of fairlead.yaml and of pipelines describe input.
        self.assertEqual(sorted(path.stem for path in SCHEMAS.glob("*.json") if not path.name.endswith(".schema.json")),
                         ["apply", "certs", "clusters", "delete", "doctor", "event", "graph", "history", "history-diff", "list", "plan", "run", "run-event", "status",
                          "trace", "version", "wait"])


unittest.main()
