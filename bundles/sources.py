"""The manifests of a bundle at one version: taken from the project's repository, rendered where it has a chart or a
kustomization. What is fetched is kept in the cache, never in this repository."""
import hashlib
import json
import pathlib
import shutil

import yaml

from cluster import builds
from cluster.settings import CACHE, Failure, run, say
from peers import peers

HOME = CACHE / "bundles"
HOST = "https://github.com"
SUFFIXES = (".yaml", ".yml", ".json")


def clone(repository, tag, mirrors):
    """A git directory that has the tag: one of the mirrors, or else a shallow clone."""
    owner, name = repository.split("/")
    for place in (f"{owner}/{name}", f"{owner}/{name}.git", f"{owner}+{name}", f"{owner}+{name}/repo") if mirrors else ():
        folder = pathlib.Path(mirrors) / place
        if (folder / "HEAD").exists() or (folder / ".git").exists():
            return folder
    if mirrors:
        raise Failure(f"{mirrors} has no {repository}")
    folder = HOME / "clones" / owner / name / tag
    if not folder.exists():
        say(f"fetching {repository} {tag}")
        unfinished = folder.with_name(f"unfinished-{tag}")
        shutil.rmtree(unfinished, ignore_errors=True)
        run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--bare", "--depth", "1", "--branch", tag,
             f"{HOST}/{repository}", unfinished], f"fetching {repository} {tag}")
        unfinished.rename(folder)
    return folder


def unpack(git, tag, paths, folder):
    """Writes these paths of the tag below the folder."""
    archive = folder / "archive.tar"
    run(["git", "-C", git, "archive", "--format=tar", f"--output={archive}", tag, "--", *paths], f"reading {git} at {tag}")
    run(["tar", "--extract", "--file", archive, "--directory", folder], "unpacking")
    archive.unlink()


def supply_dependencies(chart):
    """Helm renders no chart that lacks a dependency. Those of the same repository are copied in; those of others are left out."""
    path = chart / "Chart.yaml"
    description = yaml.safe_load(path.read_text())
    kept = []
    for one in description.get("dependencies") or []:
        inside = chart / "charts" / one["name"]
        if one.get("repository", "").startswith("file://") and not inside.exists():
            shutil.copytree(chart / one["repository"].removeprefix("file://"), inside)
        if inside.exists():
            kept.append(one)
    description["dependencies"] = kept
    path.write_text(yaml.safe_dump(description))
    (chart / "Chart.lock").unlink(missing_ok=True)


def render_chart(bundle, chart):
    helm = peers.binary("helm3")
    if helm is None:
        raise Failure("the chart cannot be rendered without helm")
    supply_dependencies(chart)
    values = [word for value in bundle.get("values", []) for word in ("--set", value)]
    return run([helm, "template", chart.name, chart, "--namespace", bundle["namespace"], "--include-crds",
                "--kube-version", builds.default_release().version, *values], f"rendering {chart.name}")


def plain_files(folder, names):
    for name in names:
        path = folder / name
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in found:
            if file.suffix in SUFFIXES and file.stem != "kustomization" and file.is_file():
                yield file


def manifests(bundle, version, mirrors):
    """The folder of the bundle at that version, and the paths to give to `fairlead apply -f`. Rendered once, then kept."""
    recipe = hashlib.sha256(json.dumps(bundle, sort_keys=True).encode()).hexdigest()[:12]
    folder = HOME / "manifests" / bundle["name"] / version / recipe
    with builds.locked("bundles-manifests", "that renders manifests"):
        if not (folder / "paths.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            paths = rendered(bundle, version, mirrors, folder)
            (folder / "paths.json").write_text(json.dumps([str(path) for path in paths]))
        return folder, [pathlib.Path(path) for path in json.loads((folder / "paths.json").read_text())]


def rendered(bundle, version, mirrors, folder):

    def named(key):
        return [name.format(number=version.lstrip("v")) for name in bundle.get(key, [])]
    files, charts, kustomizations = named("files"), named("charts"), named("kustomize")
    unpack(clone(bundle["repository"], version, mirrors), version, [*files, *charts, *kustomizations, *named("tree")], folder)
    paths = list(plain_files(folder, files))
    kubectl = builds.default_release().bin / "kubectl"
    texts = [render_chart(bundle, folder / chart) for chart in charts]
    texts += [run([kubectl, "kustomize", folder / one], f"building {one}") for one in kustomizations]
    for number, text in enumerate(texts):
        path = folder / f"rendered-{number}.yaml"
        path.write_text(text)
        paths.append(path)
    return paths
