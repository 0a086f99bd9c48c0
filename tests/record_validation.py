"""Records tests/fixtures/validation.jsonl: what a real API server says of objects that it does not take.

    python3 -m tests.record_validation [--name CLUSTER]

Each object is created in a dry run with strict field validation. src/schema/validation/validation_replay_test.cc wants the same
words from violations(), prune() and decode().
"""
import argparse
import json
import time

from tests.kube_api import ROOT, Api

GROUP = "validation.fairlead.dev"
SCHEMA = {"type": "object", "required": ["spec"], "properties": {"spec": {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
    "size": {"type": "integer", "minimum": 1, "maximum": 10},
    "small": {"type": "integer", "format": "int32"}, "large": {"type": "integer", "format": "int64"},
    "open": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": True},
    "even": {"type": "integer", "multipleOf": 2},
    "color": {"type": "string", "enum": ["red", "green"]},
    "grade": {"type": "integer", "enum": [1, 2]},
    "flag": {"type": "boolean"},
    "level": {"x-kubernetes-int-or-string": True},
    "maybe": {"type": "string", "nullable": True},
    "filled": {"type": "string", "default": "x"},
    "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
        "type": "object", "required": ["port"], "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}}}},
    "names": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
        "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
    "map": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "integer"}},
    "time": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"},
    "ip": {"type": "string", "format": "ipv4"}, "id": {"type": "string", "format": "uuid"}, "odd": {"type": "string", "format": "nosuch"},
    "any": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "all": {"type": "string", "allOf": [{"minLength": 2}, {"pattern": "^x"}]},
    "none": {"type": "string", "not": {"enum": ["bad"]}},
    "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "half": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}}},
    "embedded": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}},
}}}}
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"gauges.{GROUP}"}, "spec": {
    "group": GROUP, "scope": "Namespaced", "names": {"plural": "gauges", "kind": "Gauge"}, "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}]}}


def gauge(**spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gauge", "metadata": {"name": "g"}, "spec": {"name": "abc", **spec}}


def deployment(**spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}, "spec": {
            "containers": [{"name": "c", "image": "i"}]}}, **spec}}


def containers(*items):
    return deployment(template={"metadata": {"labels": {"app": "x"}}, "spec": {"containers": list(items)}})


def configmap(**parts):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, **parts}


def samples():
    yield gauge()
    yield {**gauge(), "spec": {}}
    bare = gauge()
    del bare["spec"]
    yield bare
    yield {**gauge(), "spec": "text"}
    for name in ("a", "abcdef", "ABC", "", 5, None, True, ["x"], {"a": 1}):
        yield gauge(name=name)
    for size in (0, 11, 10, 1.0, 1.5, "5", True):
        yield gauge(size=size)
    for small in (1, 1.5, 3000000000, -3000000000):
        yield gauge(small=small)
    for large in (1, 1.5, 3000000000, 1e30):
        yield gauge(large=large)
    for number in (0, 0.5, 1, 2):
        yield gauge(open=number)
    yield gauge(even=3)
    yield gauge(color="blue")
    yield gauge(color=1)
    yield gauge(grade=3)
    yield gauge(flag="true")
    for level in (1, "1", 1.5, True, {}):
        yield gauge(level=level)
    yield gauge(maybe=None)
    yield gauge(filled=None)
    yield gauge(size=None)
    yield gauge(list=[])
    yield gauge(list=["a", "b", "c"])
    yield gauge(list=["a", 1])
    yield gauge(list=[None])
    yield gauge(set=["a", "b", "a", "a"])
    yield gauge(ports=[{"port": 1}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}])
    yield gauge(ports=[{"protocol": "TCP"}])
    yield gauge(names=[{"name": "a"}, {"name": "b"}, {"name": "a"}])
    yield gauge(map={})
    yield gauge(map={"a": 1, "b": 2, "c": 3})
    yield gauge(map={"a": "x"})
    formats: dict[str, list] = {
        "time": ["2020-01-01T00:00:00Z", "today", 5], "day": ["2020-01-01", "2020-13-01"], "ip": ["1.2.3.4", "1.2.3", "::1"],
        "id": ["12345678-1234-1234-1234-123456789abc", "no"], "odd": ["anything"]}
    for key, values in formats.items():
        for value in values:
            yield gauge(**{key: value})
    for value in ({}, {"a": "x"}, {"a": "x", "b": "y"}):
        yield gauge(any=value)
        yield gauge(one=value)
    for value in ("xx", "x", "yy", "y"):
        yield gauge(all=value)
    yield gauge(none="bad")
    yield gauge(none="good")
    # Unknown fields.
    yield gauge(nosuch=1)
    yield gauge(nosuch=1, another={"a": 1}, list=["a"])
    yield {**gauge(), "nosuch": {"a": 1}}
    yield gauge(ports=[{"port": 1, "x": 1}, {"port": 2, "y": {"z": 1}}])
    yield gauge(raw={"a": {"b": 1}}, half={"x": 1, "known": {"a": "x", "b": 1}})
    yield gauge(embedded={"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": "x", "b": 1}, "more": 1})
    nameless = gauge()
    nameless["metadata"]["nosuch"] = "x"
    yield nameless
    # Built-in kinds: unknown fields, wrong types.
    yield configmap(nosuch=1)
    yield configmap(nosuch=1, more={"a": 1}, data={"a": "b"})
    yield configmap(data={"a": 1})
    yield configmap(data="text")
    yield configmap(data=["text"])
    yield configmap(immutable="yes")
    yield configmap(immutable=1)
    yield {**configmap(), "metadata": {"name": 5}}
    yield {**configmap(), "metadata": {"name": "c", "labels": {"a": True}}}
    yield {**configmap(), "metadata": {"name": "c", "labels": ["a"]}}
    yield {**configmap(), "metadata": {"name": "c", "nosuch": 1}}
    yield deployment(replicas="two")
    yield deployment(replicas=1.5)
    yield deployment(replicas=True)
    yield deployment(replicas=5000000000)
    yield deployment(nosuch=1, template={"metadata": {"labels": {"app": "x"}}, "spec": {"nosuch": 1, "containers": [
        {"name": "c", "image": "i", "nosuch": 1, "ports": [{"containerPort": 1, "x": 1}]}]}})
    yield deployment(template="text")
    yield containers("text")
    yield containers({"name": 5, "image": "i"})
    yield containers({"name": "c", "image": "i", "ports": [{"containerPort": "http"}]})
    yield containers({"name": "c", "image": "i", "args": "text"})
    yield containers({"name": "c", "image": "i", "env": {"a": "b"}})
    yield containers({"name": "c", "image": "i", "resources": {"limits": "text"}})
    yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": 1}}
    yield {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": "80"}]}}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--name", default="record", help="the cluster to ask (started if need be)")
    api = Api(arguments.parse_args().name)
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    api.request("DELETE", f"{definitions}/gauges.{GROUP}")
    while api.request("POST", definitions, CRD)[0] != 201:
        time.sleep(0.2)
    paths = {f"{GROUP}/v1": f"/apis/{GROUP}/v1/namespaces/default/gauges", "ConfigMap": "/api/v1/namespaces/default/configmaps",
             "Deployment": "/apis/apps/v1/namespaces/default/deployments", "Secret": "/api/v1/namespaces/default/secrets",
             "Service": "/api/v1/namespaces/default/services"}
    while api.request("POST", paths[f"{GROUP}/v1"] + "?dryRun=All", gauge())[0] != 201:
        time.sleep(0.2)
    path, count = ROOT / "tests" / "fixtures" / "validation.jsonl", 0
    with path.open("w") as out:
        out.write(json.dumps({"schema": SCHEMA}, separators=(",", ":")) + "\n")
        for body in samples():
            where = paths.get(body["apiVersion"]) or paths[body["kind"]]
            code, answer = api.request("POST", where + "?dryRun=All&fieldValidation=Strict", body)
            if code == 201:
                for name in ("uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"):
                    answer["metadata"].pop(name, None)
            out.write(json.dumps({"sent": body, "code": code, "answer": answer}, separators=(",", ":"), ensure_ascii=False) + "\n")
            count += 1
    print(f"{path.relative_to(ROOT)}: {count} objects, {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
