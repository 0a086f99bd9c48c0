"""Writes src/schema/types/internal/builtin_table.cc: the built-in types and resources, from a running API server.

    python3 -m scripts.schema_table [--name CLUSTER]

What the server publishes (OpenAPI v3, discovery, table columns) is the source; how each Go type writes its zero values
comes from the types themselves, through schema-table/fields.go. The form of the table: src/schema/types/builtin.h.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from tests.kube_api import Api

ROOT = pathlib.Path(__file__).resolve().parent.parent

GROUPS = [
    "api/v1", "apis/admissionregistration.k8s.io/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1",
    "apis/apps/v1", "apis/authentication.k8s.io/v1", "apis/authorization.k8s.io/v1", "apis/autoscaling/v1",
    "apis/autoscaling/v2", "apis/batch/v1", "apis/certificates.k8s.io/v1", "apis/coordination.k8s.io/v1",
    "apis/discovery.k8s.io/v1", "apis/events.k8s.io/v1", "apis/flowcontrol.apiserver.k8s.io/v1",
    "apis/networking.k8s.io/v1", "apis/node.k8s.io/v1", "apis/policy/v1", "apis/rbac.authorization.k8s.io/v1",
    "apis/resource.k8s.io/v1", "apis/scheduling.k8s.io/v1", "apis/storage.k8s.io/v1", "apis/storagemigration.k8s.io/v1",
]
# Types that have a form of their own.
LETTERS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "q",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "x",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "a",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "t",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "t",
}
SCALARS = {
    ("string", ""): "s", ("string", "byte"): "y", ("string", "date-time"): "t", ("boolean", ""): "b",
    ("integer", "int32"): "i", ("integer", "int64"): "l", ("number", "double"): "n",
}
ZERO = {"s": "", "y": "", "b": False, "i": 0, "l": 0, "n": 0}
MARKS = {"always": "+", "null": "-", "zero": "?", "nil": ""}


def short(name):
    """io.k8s.api.core.v1.Pod -> core.v1.Pod"""
    return ".".join(name.split(".")[-3:])


class Types:
    def __init__(self, schemas, fields):
        self.schemas, self.fields, self.lines = schemas, fields, {}

    def reference(self, schema):
        name = schema["$ref"].rsplit("/", 1)[1]
        if name in LETTERS:
            return LETTERS[name]
        self.define(name)
        return "@" + short(name)

    def define(self, name):
        if short(name) in self.lines:
            return
        self.lines[short(name)] = ""  # a type may lead back to itself
        self.lines[short(name)] = self.expression(self.schemas[name], self.fields.get(short(name), {}), name)

    def expression(self, schema, fields, where):
        if "allOf" in schema:
            assert len(schema["allOf"]) == 1, where
            override = {"atomic": "!", "granular": "~"}.get(schema.get("x-kubernetes-map-type"), "")
            return self.reference(schema["allOf"][0]) + override
        if "$ref" in schema:
            return self.reference(schema)
        kind = schema.get("type", "")
        if kind == "":
            return "j"
        if kind == "array":
            return self.list_type(schema, where) + self.expression(schema["items"], {}, where)
        if kind != "object":
            enum = "<" + "|".join(map(str, schema["enum"])) + ">" if "enum" in schema else ""
            return SCALARS[(kind, schema.get("format", ""))] + enum
        atomic = "!" if schema.get("x-kubernetes-map-type") == "atomic" else ""
        if "properties" in schema:
            members = (self.field(name, member, schema, fields, where) for name, member in sorted(schema["properties"].items()))
            return f"{atomic}({' '.join(members)})"
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict):
            return "{" + atomic + "}" + self.expression(extra, {}, where)
        return "d"

    def field(self, name, member, parent, fields, where):
        if name not in fields and where.rsplit(".", 1)[1] not in ("JSONSchemaProps",):
            assert not fields, f"{where}.{name} is not known to the Go types"
        how = fields.get(name, "nil")
        text = self.expression(member, {}, f"{where}.{name}")
        required = "*" if name in parent.get("required", []) else ""
        retains = "%" if "retainKeys" in member.get("x-kubernetes-patch-strategy", "") else ""
        default = ""
        if "default" in member:
            zero = ZERO.get(text.split("<")[0], {})
            if not (how == "always" and member["default"] == zero and type(member["default"]) is type(zero)) and member["default"] != {}:
                default = "=" + json.dumps(member["default"], separators=(",", ":"))
        return f"{name}{required}{MARKS[how]}{retains}:{text}{default}"

    @staticmethod
    def list_type(schema, where):
        kind = schema.get("x-kubernetes-list-type")
        merges = schema.get("x-kubernetes-patch-strategy", "").startswith("merge")
        key = schema.get("x-kubernetes-patch-merge-key", "")
        patch = f"|{key}" if merges else ""
        if kind == "map":
            return "[" + ",".join(schema["x-kubernetes-list-map-keys"]) + patch + "]"
        if kind == "set":
            return f"[={patch}]"
        if kind is None and merges:
            return f"[{key}{patch}]" if key else f"[={patch}]"
        assert kind in (None, "atomic"), where
        return f"[{patch}]"


def go_fields(version):
    """What fields.go prints, built with the modules that cluster/kube pins for this version: "v1.37.1"."""
    release = ".".join(version.removeprefix("v").split(".")[:2])
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "scripts/schema-table/fields.go", os.path.join(folder, "main.go"))
        for file in ("go.mod", "go.sum"):
            shutil.copy(ROOT / "cluster" / "kube" / release / file, folder)
        environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=mod -buildvcs=false"}
        return json.loads(subprocess.run(["go", "run", "."], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def columns(api, base, resource):
    if "list" not in resource["verbs"]:
        return None
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    status, table = api.request("GET", f"/{base}/{resource['name']}?limit=1", accept=accept)
    if status != 200 or table.get("kind") != "Table":
        return None
    keys = ("name", "type", "format", "description", "priority")
    return [[column[key] for key in keys] for column in table["columnDefinitions"]]


def raw(text):
    return 'R"~(' + text + ')~"'


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--name", default="schema-table", help="the cluster to ask (started if need be)")
    arguments.add_argument("--go-fields", type=pathlib.Path, help="the output of fields.go, if it is there already")
    wanted = arguments.parse_args()
    api = Api(wanted.name)
    version = api.get("/version")["gitVersion"]
    fields = json.loads(wanted.go_fields.read_text()) if wanted.go_fields else go_fields(version)

    documents = {base: api.get("/openapi/v3/" + base)["components"]["schemas"] for base in GROUPS}
    merged = {}
    for schemas in documents.values():
        merged.update(schemas)
    types, kinds, resources = Types(merged, fields), {}, []
    for base, schemas in documents.items():
        group, _, group_version = base.removeprefix("apis/").removeprefix("api/").rpartition("/")
        for resource in api.get("/" + base)["resources"]:
            kind = (resource.get("group", group), resource.get("version", group_version), resource["kind"])
            name = next((name for name, schema in schemas.items() if any(
                (k["group"], k["version"], k["kind"]) == kind for k in schema.get("x-kubernetes-group-version-kind", []))
                and not name.endswith("DeleteOptions")), None)
            if name:
                types.define(name)
                kinds["/".join(kind)] = short(name)
            found = {key: value for key, value in resource.items() if key != "categories" or value}
            if shown := columns(api, base, resource):
                found["columns"] = shown
            resources.append(f"{group}/{group_version} " + json.dumps(found, separators=(",", ":"), ensure_ascii=False))
    types.define("io.k8s.apimachinery.pkg.apis.meta.v1.Status")

    out = [f"// Written by scripts/schema_table.py from kube-apiserver {version}: not to be edited.",
           '#include "schema/types/internal/builtin_table.h"', "", "namespace fairlead::schema::table {", "namespace {", "",
           "// clang-format off", "constexpr std::string_view kTypes[] = {"]
    out += [raw(f"{name} {text}") + "," for name, text in sorted(types.lines.items())]
    out += ["};", "", "constexpr std::string_view kKinds[] = {"]
    out += [raw(f"{kind} {name}") + "," for kind, name in sorted(kinds.items())]
    out += ["};", "", "constexpr std::string_view kResources[] = {"]
    out += [raw(line) + "," for line in resources]
    out += ["};", "// clang-format on", "", "}  // namespace", "",
            f'const std::string_view version = "{version}";',
            "const std::span<const std::string_view> types = kTypes;",
            "const std::span<const std::string_view> kinds = kKinds;",
            "const std::span<const std::string_view> resources = kResources;", "",
            "}  // namespace fairlead::schema::table", ""]
    path = ROOT / "src/schema/types/internal/builtin_table.cc"
    path.write_text("\n".join(out))
    print(f"{path.relative_to(ROOT)}: {len(types.lines)} types, {len(kinds)} kinds, {len(resources)} resources, "
          f"{path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
