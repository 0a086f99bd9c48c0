"""Container images without docker: an archive in docker's format, made from static binaries."""
import hashlib
import io
import json
import pathlib
import platform
import tarfile

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def add(archive, name, data=b"", mode=0o644, kind=tarfile.REGTYPE, target=""):
    # Owner, group and time stay at zero: the same files give the same image, byte for byte.
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.type, entry.linkname = len(data), mode, kind, target
    archive.addfile(entry, io.BytesIO(data))


def layer(files, links):
    """One tar layer. files: path in the image -> file here; links: path in the image -> what it points to."""
    paths = map(pathlib.PurePosixPath, [*files, *links])
    folders = {str(parent) for path in paths for parent in path.parents if parent.name}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        add(archive, "tmp", mode=0o1777, kind=tarfile.DIRTYPE)
        for folder in sorted(folders - {"/tmp"}):
            add(archive, folder.lstrip("/"), mode=0o755, kind=tarfile.DIRTYPE)
        for path, source in sorted(files.items()):
            add(archive, path.lstrip("/"), pathlib.Path(source).read_bytes(), mode=0o755)
        for path, target in sorted(links.items()):
            add(archive, path.lstrip("/"), kind=tarfile.SYMTYPE, target=target)
    return out.getvalue()


def write(out, name, entrypoint, files, links=None, user=None):
    """Write image NAME:TAG to the file `out`: nothing in it but the given files and links, and an empty /tmp.

    user: the number of the user that it runs as; root where none is given.
    """
    content = layer(files, links or {})
    digest = hashlib.sha256(content).hexdigest()
    created = "1970-01-01T00:00:00Z"
    process = {"Entrypoint": entrypoint, "Env": ["PATH=/bin"], "WorkingDir": "/"}
    if user is not None:
        process["User"] = str(user)
    config = json.dumps({
        "architecture": ARCHITECTURE, "os": "linux", "created": created, "config": process,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": created}]}).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": [f"{digest}.tar"]}]
    with tarfile.open(out, "w") as archive:
        add(archive, f"{digest}.tar", content)
        add(archive, config_name, config)
        add(archive, "manifest.json", json.dumps(manifest).encode())
