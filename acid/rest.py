"""Where the API has an object: asked of the API server, and for custom resources of the definitions in the bundle."""


def resources(arena, objects, known):
    """(apiVersion, kind) -> (plural, whether it is in a namespace), with those that are `known` already."""
    found = dict(known)
    for one in objects:
        if one["kind"] == "CustomResourceDefinition":
            spec = one["spec"]
            for version in spec["versions"]:
                found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = (
                    spec["names"]["plural"], spec["scope"] == "Namespaced")
    for version in {one["apiVersion"] for one in objects}:
        code, answer = arena.ask(f"/{'apis' if '/' in version else 'api'}/{version}")
        for one in answer["resources"] if code == 200 else []:
            if "/" not in one["name"]:
                found[version, one["kind"]] = (one["name"], one["namespaced"])
    return found


def path(one, known, namespace="default"):
    """Of an object; `namespace` is where it goes when it names none."""
    version, metadata = one["apiVersion"], one["metadata"]
    plural, namespaced = known[version, one["kind"]]
    place = f"/namespaces/{metadata.get('namespace', namespace)}" if namespaced else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}{place}/{plural}/{metadata['name']}"
