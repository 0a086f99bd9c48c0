"""Writes src/sandbox/wire/internal/protobuf_table.cc: the messages of typed Kubernetes clients, and objects to test it.

    python3 -m scripts.protobuf_table

Numbers and types come from the generated.proto files of the Go modules in the module cache; the names in JSON, and what is
inlined there, from the tags of the Go types beside them. Only what the kinds in src/schema/types/internal/builtin_table.cc lead to, in
the version of Kubernetes that is named there. The form of the table: src/sandbox/wire/internal/protobuf_table.h.

tests/fixtures/protobuf.jsonl has the objects that the module k8s.io/api tests itself with, every field set: one of each kind,
but of those that have pods in them only the pod.
"""
import base64
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"]
SCALARS = {"string": "s", "bytes": "y", "bool": "b", "int32": "i", "int64": "l", "double": "n"}
# Messages that are something else in JSON: t time, u time with microseconds, x int or string, o the one member that is set.
FORMS = {
    "meta.v1.Time": "t", "meta.v1.MicroTime": "u", "util.intstr.IntOrString": "x", "api.resource.Quantity": "o",
    "pkg.runtime.RawExtension": "o", "meta.v1.FieldsV1": "o", "apiextensions.v1.JSON": "o",
    "apiextensions.v1.JSONSchemaPropsOrArray": "o", "apiextensions.v1.JSONSchemaPropsOrBool": "o",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": "o", "authentication.v1.ExtraValue": "o",
    "authentication.v1.AttestationValue": "o", "authorization.v1.ExtraValue": "o", "certificates.v1.ExtraValue": "o",
}
MORE_ROOTS = ["meta.v1.DeleteOptions"]
FIELD = re.compile(r"^  (optional|repeated|map<string, ([\w.]+)>) ?([\w.]*?) ?(\w+) = (\d+);")
GO_FIELD = re.compile(r'`json:"([^"]*)".* protobuf:"\w+,(\d+)')


def short(name):
    """.k8s.io.api.core.v1.Pod -> core.v1.Pod"""
    return ".".join(name.split(".")[-3:])


def go_names(folder):
    """{"Volume": {2: ""}}: the names in JSON, by number; nothing for what is inlined."""
    names: dict = {}
    for file in folder.glob("*.go"):
        struct = None
        for line in file.read_text().splitlines():
            if found := re.match(r"type (\w+) struct \{", line):
                struct = names.setdefault(found[1], {})
            elif line.startswith("}"):
                struct = None
            elif struct is not None and (found := GO_FIELD.search(line)):
                struct[int(found[2])] = found[1].split(",")[0]
    return names


def read(file, messages):
    package, name = "", ""
    names = go_names(file.parent)
    for line in file.read_text().splitlines():
        if found := re.match(r"package ([\w.]+);", line):
            package = found[1]
        elif found := re.match(r"message (\w+) \{", line):
            name = found[1]
            messages[short(f"{package}.{name}")] = []
        elif found := FIELD.match(line):
            label, value, kind, proto_name, number = found.groups()
            kind = value or kind
            if kind not in SCALARS:
                kind = short(kind if "." in kind else f"{package}.{kind}")
            mark = "*" if label == "repeated" else "%" if value else ""
            json_name = names.get(name, {}).get(int(number), proto_name)
            messages[short(f"{package}.{name}")].append((int(number), json_name, mark, kind))


def write_objects(folder, kinds):
    with open(ROOT / "tests/fixtures/protobuf.jsonl", "w") as out:
        for group, version, kind, _ in kinds:
            file = folder / f"{group or 'core'}.{version}.{kind}.pb"
            if not file.exists():
                continue
            json_form = json.loads(file.with_suffix(".json").read_text())
            if kind != "Pod" and "containers" in json.dumps(json_form):
                continue
            line = {"protobuf": base64.b64encode(file.read_bytes()).decode(), "json": json_form}
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


def main():
    cache = pathlib.Path(subprocess.check_output(["go", "env", "GOMODCACHE"], text=True).strip())
    table = (ROOT / "src/schema/types/internal/builtin_table.cc").read_text()
    # The modules of Kubernetes v1.37.1 are v0.37.1.
    version = "v0." + re.search(r'string_view version = "v1\.([\d.]+)"', table)[1]
    messages: dict = {}
    for module in MODULES:
        for file in sorted((cache / f"k8s.io/{module}@{version}").rglob("generated.proto")):
            read(file, messages)
    kinds = re.findall(r'^R"~\(([\w.]*)/(\w+)/(\w+) ([\w.]+)\)~",$', table, re.MULTILINE)
    write_objects(cache / f"k8s.io/api@{version}/testdata/HEAD", kinds)
    wanted, lines = [kind[3] for kind in kinds] + MORE_ROOTS, {}
    while wanted:
        name = wanted.pop()
        if name in lines:
            continue
        fields = []
        for number, json_name, mark, kind in messages[name]:
            if kind in SCALARS:
                # Bytes that stand for a whole value are its JSON.
                letter = "j" if kind == "bytes" and name in FORMS else SCALARS[kind]
            else:
                wanted.append(kind)
                letter = "@" + kind
            fields.append(f"{number}{mark}{letter}={json_name}")
        lines[name] = " ".join([name + (f"!{FORMS[name]}" if name in FORMS else ""), *fields])
    text = "".join(f'R"~({lines[name]})~",\n' for name in sorted(lines))
    (ROOT / "src/sandbox/wire/internal/protobuf_table.cc").write_text(f"""\
// Written by scripts/protobuf_table.py from the Go modules of Kubernetes {version}: not to be edited.
#include "sandbox/wire/internal/protobuf_table.h"

namespace fairlead::sandbox::protobuf_table {{
namespace {{

// clang-format off
constexpr std::string_view kMessages[] = {{
{text}}};
// clang-format on

}}  // namespace

const std::span<const std::string_view> messages = kMessages;

}}  // namespace fairlead::sandbox::protobuf_table
""")


if __name__ == "__main__":
    main()
