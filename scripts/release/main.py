"""Makes a release of the commit: everything that people download, in one folder. The same commit gives the same bytes.

  python3 -B -m scripts.release.main --build amd64=FOLDER [--build arm64=FOLDER] --out dist [--key FILE]

`./dev release` builds the binaries and calls this. The version is that of the commit's tag, vX.Y.Z.
"""
import argparse
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from scripts import container_image
from scripts.release import debian_package, linked, manifests, pulumi, pulumi_sdk, rpm_package, statements, terraform
from scripts.release import source as sources
from scripts.release.contents import Contents, completions, man_pages
from scripts.release.files import compressed, sha256, tar_gz
from scripts.release.project import ARCHITECTURES, FAIRLEAD, IMAGE, NAME, PROVIDER, PULUMI

ROOT = pathlib.Path(__file__).resolve().parents[2]


def project_version():
    return re.search(r"^project\(fairlead VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def host_program(builds):
    """The binary that runs on this machine: it knows its help texts and its version."""
    name = container_image.ARCHITECTURE
    if name not in builds:
        raise SystemExit(f"release: a binary for this machine ({name}) is needed for the man pages: --build {name}=FOLDER")
    return builds[name] / FAIRLEAD.path


def check(program, source):
    told = json.loads(subprocess.run([program, "version", "-o", "json"], check=True, capture_output=True, text=True).stdout)
    wanted = {"version": source.version, "commit": source.commit, "buildDate": source.date}
    if differs := {key: told[key] for key, value in wanted.items() if told[key] != value}:
        raise SystemExit(f"release: the binary is of another commit: {differs} instead of {wanted}; ./dev release builds it")
    return told["compiler"]


class Release:
    def __init__(self, out, source, builds, sdk=None):
        self.out = out
        self.source = source
        self.builds = builds
        # The folder with the SDKs for Pulumi, if there is one.
        self.sdk = sdk
        # artifact -> what of Debian is in it
        self.artifacts: dict[pathlib.Path, list[linked.Component]] = {}
        self.components: dict[str, linked.Component] = {}

    def add(self, name, data=None, components=()):
        """Writes an artifact, or takes one that is written already."""
        path = self.out / name
        if data is not None:
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        self.artifacts[path] = list(components)
        self.components |= {one.source: one for one in components}
        print(f"  {name} ({path.stat().st_size / 1e6:.1f} MB)", file=sys.stderr)
        return path

    def make(self, key):
        program = host_program(self.builds)
        compiler = check(program, self.source)
        pages, scripts = man_pages(program), completions(program)
        sums = {}
        image_parts: dict[str, linked.Component] = {}
        for name, build in sorted(self.builds.items()):
            components = linked.components(build, FAIRLEAD.target)
            contents = Contents(ROOT, build / FAIRLEAD.path, components, pages, scripts)
            sums[ARCHITECTURES[name]] = self.make_packages(contents, ARCHITECTURES[name])
            image_parts |= {one.source: one for one in components}
        self.make_image(list(image_parts.values()))
        self.make_provider()
        self.make_pulumi_plugin()
        if self.sdk:
            self.make_pulumi_sdk()
        self.make_sources()
        self.add(f"{NAME}.krew.yaml", manifests.krew(self.source.version, sums))
        self.add("fairlead.rb", manifests.homebrew(self.source.version, sums))
        self.add("install.sh", manifests.install_script(ROOT, self.source.version)).chmod(0o755)
        self.add("NOTES.md", sources.notes(ROOT, self.source))
        self.make_statements(compiler, key)

    def make_packages(self, contents, architecture):
        """Returns the checksum of the archive, which other ways to install lead to."""
        version = self.source.version
        folder = manifests.archive_name(version, architecture)
        archive = self.add(f"{folder}.tar.gz", tar_gz(contents.archive(folder), self.source.time), contents.components)
        deb = f"{NAME}_{debian_package.debian_version(version)}_{architecture.name}.deb"
        debian_package.write(self.out / deb, contents, self.source, architecture)
        self.add(deb, components=contents.components)
        rpm = f"{NAME}-{rpm_package.rpm_version(version)}-1.{architecture.machine}.rpm"
        rpm_package.write(self.out / rpm, contents, self.source, architecture)
        self.add(rpm, components=contents.components)
        return sha256(archive)

    def make_image(self, components):
        name = f"{NAME}-{self.source.version}-image.tar"
        binaries = {architecture: build / FAIRLEAD.path for architecture, build in self.builds.items()}
        labels = container_image.labels_of(self.source.version, self.source.date, self.source.commit)
        container_image.write(binaries, self.out / name, f"{IMAGE}:{self.source.version}", labels)
        self.add(name, components=components)

    def make_provider(self):
        """What a registry takes, and a folder of a filesystem mirror."""
        version, made = self.source.version, []
        for name, build in sorted(self.builds.items()):
            components = linked.components(build, PROVIDER.target)
            data = terraform.archive(ROOT, build / PROVIDER.path, components, version, self.source.time)
            made.append(self.add(terraform.file_name(version, f"linux_{name}.zip"), data, components))
        made.append(self.add(terraform.file_name(version, "manifest.json"), terraform.manifest()))
        self.add(terraform.file_name(version, "SHA256SUMS"), terraform.checksums(made))

    def make_pulumi_plugin(self):
        for name, build in sorted(self.builds.items()):
            components = linked.components(build, PULUMI.target)
            data = pulumi.archive(ROOT, build / PULUMI.path, components, self.source.time)
            self.add(pulumi.file_name(self.source.version, name), data, components)

    def make_pulumi_sdk(self):
        for name, data in pulumi_sdk.packages(ROOT, self.sdk, self.source.time).items():
            self.add(name, data)

    def make_sources(self):
        archive = sources.archive(ROOT, self.source)
        self.add(f"{NAME}-{self.source.version}-source.tar.gz", compressed(archive))
        for folder in manifests.CHARTS:
            self.add(*manifests.chart(folder, io.BytesIO(archive), self.source.version, self.source.time))

    def make_statements(self, compiler, key):
        boms = [self.add(f"{path.name}.spdx.json", statements.sbom(path, self.source, components))
                for path, components in list(self.artifacts.items())]
        made = sorted(self.artifacts)
        components = [self.components[name] for name in sorted(self.components)]
        self.add(f"{NAME}-{self.source.version}.intoto.json", statements.provenance(made, self.source, components, compiler))
        sums = self.out / "SHA256SUMS"
        sums.write_bytes(statements.checksums(self.artifacts))
        if key:
            statements.sign(sums, key, self.source)
        print(f"{self.out}: {len(self.artifacts) - len(boms)} artifacts of {NAME} {self.source.version}, {len(boms)} SBOMs"
              f"{'' if key else '; not signed: --key FILE signs the checksums with minisign'}")


def begin(out):
    """Removes the release that was made before. Any other folder stays."""
    if out.exists() and any(out.iterdir()) and not (out / "SHA256SUMS").exists():
        raise SystemExit(f"release: {out} has other files in it than those of a release; --out names another folder")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)


def settle():
    """Nothing of the caller's surroundings gets into what is made."""
    os.umask(0o022)
    os.environ |= {"LC_ALL": "C", "TZ": "UTC"}


def main():
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__.partition("\n")[0])
    parser.add_argument("--print-version", action="store_true", help="only print the version that a release of this commit has")
    parser.add_argument("--build", action="append", default=[], metavar="ARCHITECTURE=FOLDER", help="where its binaries are")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--sdk", type=pathlib.Path, metavar="FOLDER", help="the SDKs for Pulumi, made by scripts.pulumi_sdk from one of these binaries")
    parser.add_argument("--key", type=pathlib.Path, help="the secret key of minisign that signs SHA256SUMS")
    wanted = parser.parse_args()
    builds = {name: pathlib.Path(folder) for name, _, folder in (one.partition("=") for one in wanted.build)}
    if unknown := sorted(set(builds) - set(ARCHITECTURES)):
        parser.error(f"no such architecture: {unknown[0]}; there is {', '.join(ARCHITECTURES)}")
    settle()
    try:
        source = sources.find(ROOT, project_version())
    except sources.Refused as refused:
        raise SystemExit(f"release: {refused}") from None
    if wanted.print_version:
        print(source.version)
        return
    os.environ["SOURCE_DATE_EPOCH"] = str(source.time)
    begin(wanted.out)
    Release(wanted.out.resolve(), source, builds, wanted.sdk).make(wanted.key)


if __name__ == "__main__":
    main()
