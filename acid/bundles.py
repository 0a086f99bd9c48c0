"""Bundles as files, and charts made of bundles."""
import json


def documents(objects):
    return "".join(f"---\n{json.dumps(one)}\n" for one in objects)


def bundle(path, objects):
    path.write_text(documents(objects))
    return path


def chart(folder, name, objects, namespace, definitions_apart=True):
    """CRDs in crds/ unless they are to be templates too, the rest in templates/, and no Namespace of the release's own: helm
    makes that itself."""
    (folder / "templates").mkdir(parents=True, exist_ok=True)
    (folder / "Chart.yaml").write_text(json.dumps({"apiVersion": "v2", "name": name, "version": "1.0.0"}))
    definitions = [one for one in objects if definitions_apart and one["kind"] == "CustomResourceDefinition"]
    others = [one for one in objects if one not in definitions
              and not (one["kind"] == "Namespace" and one["metadata"]["name"] == namespace)]
    if definitions:  # a file without any is an error to helm
        (folder / "crds").mkdir(exist_ok=True)
        (folder / "crds/definitions.yaml").write_text(documents(definitions))
    (folder / "templates/objects.yaml").write_text(documents(others).replace("{{", '{{ "{{" }}'))
    return folder


def shortened(text, most=220):
    return text if len(text) <= most else f"{text[:most - 1]}…"
