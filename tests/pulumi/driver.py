"""Runs one command of Pulumi on a program that standard input describes. driver.js says how, and does the same in Node.js."""
import asyncio
import functools
import json
import os
import re
import sys

import pulumi  # type: ignore[import]
import pulumi_fairlead as fairlead  # type: ignore[import]
import pulumi_kubernetes as kubernetes  # type: ignore[import]
from pulumi import automation as auto  # type: ignore[import]

REQUEST = json.load(sys.stdin)


def snake_case(name):
    return re.sub(r"[A-Z]", lambda found: "_" + found.group().lower(), name)


def value_of(value, made):
    if isinstance(value, list):
        return [value_of(one, made) for one in value]
    if not isinstance(value, dict):
        return value
    if "$secret" in value:
        return pulumi.Output.secret(value["$secret"])
    if "$ref" in value:
        name, *attributes = value["$ref"].split(".")
        return functools.reduce(getattr, map(snake_case, attributes), made[name])
    return {key: value_of(one, made) for key, one in value.items()}


def made_by(path):
    """What makes a resource of this type: the class, and how its arguments are given."""
    if "." not in path:
        return getattr(fairlead, path)
    made = functools.reduce(getattr, path.split("."), kubernetes)
    return chart if path == "helm.v3.Chart" else made


def chart(name, opts, **settings):
    return kubernetes.helm.v3.Chart(name, kubernetes.helm.v3.LocalChartOpts(**settings), opts)


def program():
    made: dict[str, pulumi.Resource] = {}
    if "gate" in REQUEST:
        fairlead.gate(**REQUEST["gate"])
    for one in REQUEST["resources"]:
        options = dict(one.get("options", {}))
        times = options.pop("customTimeouts", None)
        arguments = {snake_case(key): value_of(value, made) for key, value in one["args"].items()}
        made[one["name"]] = made_by(one["type"])(one["name"], **arguments, opts=pulumi.ResourceOptions(
            depends_on=[made[name] for name in options.pop("dependsOn", [])], import_=options.pop("import", None),
            custom_timeouts=pulumi.CustomTimeouts(**times) if times else None, **options))
        for name in one.get("exports", []):
            pulumi.export(f"{one['name']}.{name}", getattr(made[one["name"]], snake_case(name)))
    for one in REQUEST.get("functions", []):
        result = getattr(fairlead, snake_case(one["type"]))(**{snake_case(key): value for key, value in one["args"].items()})
        pulumi.export(one["name"], {key: getattr(result, key) for key in ("object", "functional") if hasattr(result, key)})


def main():
    lines = []
    settings = auto.ProjectSettings(name="story", runtime="python", backend=auto.ProjectBackend(os.environ["PULUMI_BACKEND_URL"]))
    stack = auto.create_or_select_stack("dev", project_name="story", program=program, opts=auto.LocalWorkspaceOptions(
        work_dir=REQUEST["folder"], project_settings=settings))
    result: dict[str, object] = {"ok": True}
    outputs: dict[str, object] = {}
    verb = REQUEST["verb"]

    def on_output(line):
        lines.append(line + "\n")
        if REQUEST.get("live"):
            print(line, file=sys.stderr, flush=True)

    try:
        done = getattr(stack, verb)(on_output=on_output, **({"diff": True} if verb == "preview" else {}))
        changes = done.change_summary if verb == "preview" else done.summary.resource_changes
        result["changes"] = {str(getattr(name, "value", name)): count for name, count in (changes or {}).items()}
        for name, one in getattr(done, "outputs", {}).items():
            outputs[name] = "[secret]" if one.secret else one.value
    except auto.CommandError as error:
        result.update(ok=False, error=str(error), changes={})
    result.update(text="".join(lines), outputs=outputs)
    json.dump(result, sys.stdout)


asyncio.set_event_loop(asyncio.new_event_loop())
main()
