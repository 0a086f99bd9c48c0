"""Records cel.jsonl, json_patch.jsonl and admission_answers.jsonl of tests/fixtures anew.

    python3 -m scripts.library_fixtures

The cases stay; the answers are those of the Go libraries that the Kubernetes of src/schema/types/internal/builtin_table.cc is made of
(library-fixtures/main.go). A case whose answer is "limit" is one that Fairlead does not evaluate: it stays as it is.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = {"cel": "cel.jsonl", "json-patch": "json_patch.jsonl", "admission-answers": "admission_answers.jsonl"}


def main():
    table = (ROOT / "src/schema/types/internal/builtin_table.cc").read_text()
    release = re.search(r'string_view version = "v(\d+\.\d+)\.', table)[1]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=mod -buildvcs=false"}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "scripts/library-fixtures/main.go", folder)
        for file in ("go.mod", "go.sum"):
            shutil.copy(ROOT / "cluster" / "kube" / release / file, folder)
        # -trimpath as in cluster/builds.py: what is compiled there is not compiled again.
        subprocess.run(["go", "build", "-trimpath", "-o", "record", "."], cwd=folder, env=environment, check=True)
        for what, name in FIXTURES.items():
            path = ROOT / "tests/fixtures" / name
            with open(path) as old:
                new = subprocess.run([f"{folder}/record", what], stdin=old, stdout=subprocess.PIPE, check=True).stdout
            changed = sum(a != b for a, b in zip(path.read_bytes().splitlines(), new.splitlines()))
            path.write_bytes(new)
            print(f"{path.relative_to(ROOT)}: {changed} of {len(new.splitlines())} lines changed")


if __name__ == "__main__":
    main()
