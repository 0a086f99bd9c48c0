"""What `./dev release` makes of its binaries: the same bytes each time, packages that hold together, and what install.sh and minisign say
about them. The binaries here are scripts that call the real one; `./dev release --check` tries those of a release."""
import base64
import calendar
import functools
import hashlib
import http.server
import importlib.metadata
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile
from unittest import mock

import yaml

from scripts.release import linked, main, source as sources
from scripts.release.project import ARCHITECTURES, PROGRAMS

FAIRLEAD = os.environ["FAIRLEAD"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROVIDER = ["SHA256SUMS", "linux_amd64.zip", "linux_arm64.zip", "manifest.json"]
COMPONENTS = [linked.Component("openssl", "3.0.1-1", "Apache-2.0", "the text of openssl\n", True),
              linked.Component("boost1.81", "1.81.0-5", "BSL-1.0", "the text of boost\n", False)]


def this_source():
    """The commit that the binary tells; whichever that is."""
    told = json.loads(subprocess.run([FAIRLEAD, "version", "-o", "json"], check=True, capture_output=True, text=True).stdout)
    seconds = calendar.timegm(time.strptime(told["buildDate"] or "1970-01-01T00:00:00Z", "%Y-%m-%dT%H:%M:%SZ"))
    return sources.Source("1.2.3-rc.1", told["commit"], seconds, "")


def sources_archive(*_):
    """Not all of them: the charts are enough."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for chart in ("deploy/chart", "deploy/gate-chart"):
            archive.add(ROOT / chart, f"fairlead-1.2.3-rc.1/{chart}")
    return out.getvalue()


def make_sdks(folder):
    """A small one for each language, in the places where those of a release are."""
    files = {"nodejs/bin/package.json": json.dumps({"name": "@fairlead/pulumi", "version": "1.2.3-rc.1"}), "nodejs/bin/index.js": "exports.a = 1;\n",
             "nodejs/index.ts": "export const a = 1;\n", "python/.gitignore": "build\n", "python/README.md": "Fairlead\n",
             "python/pulumi_fairlead/__init__.py": "A = 1\n", "python/pulumi_fairlead/py.typed": "", "python/pyproject.toml": """[project]
name = "pulumi_fairlead"
description = "Objects"
dependencies = ["pulumi>=3.142.0,<4.0.0"]
readme = "README.md"
requires-python = ">=3.9"
version = "1.2.3rc1"
[project.license]
text = "Apache-2.0"
"""}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def make(folder, key=None):
    """A release in `folder`/dist, of two architectures."""
    builds = {}
    for name in ARCHITECTURES:
        for one in PROGRAMS:
            program = folder / f"build-{name}" / one.path
            program.parent.mkdir(parents=True)
            program.write_text(f'#!/bin/sh\nexec {FAIRLEAD} "$@"\n')
            program.chmod(0o700)
        builds[name] = folder / f"build-{name}"
    source = this_source()
    out = folder / "dist"
    out.mkdir()
    main.settle()
    os.environ["SOURCE_DATE_EPOCH"] = str(source.time)
    with mock.patch.object(linked, "components", lambda *_: COMPONENTS), mock.patch.object(sources, "archive", sources_archive), \
            mock.patch.object(sources, "notes", lambda *_: "notes\n"), mock.patch.object(main, "check", lambda *_: "clang 19"), \
            mock.patch("sys.stderr", io.StringIO()), mock.patch("sys.stdout", io.StringIO()):
        main.Release(out, source, builds, make_sdks(folder / "sdk")).make(key)
    return out


def run(*words, code=0, **more):
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, **more)
    assert result.returncode == code, f"{words} ended with {result.returncode}:\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


class Release(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.enterClassContext(mock.patch.dict(os.environ))
        for name in ("release", "other"):
            run("minisign", "-G", "-W", "-p", cls.folder / f"{name}.pub", "-s", cls.folder / f"{name}.key")
        (cls.folder / "one").mkdir()
        cls.dist = make(cls.folder / "one", cls.folder / "release.key")
        cls.source = this_source()

    def names(self):
        return sorted(path.name for path in self.dist.iterdir())

    def test_what_there_is(self):
        plain = ["NOTES.md", "fairlead-1.2.3-rc.1-image.tar", "fairlead-1.2.3-rc.1-linux-amd64.tar.gz", "fairlead-1.2.3-rc.1-linux-arm64.tar.gz",
                 "fairlead-1.2.3-rc.1-source.tar.gz", "fairlead-1.2.3~rc.1-1.aarch64.rpm", "fairlead-1.2.3~rc.1-1.x86_64.rpm",
                 "fairlead-gate-1.2.3-rc.1.tgz", "fairlead-webhook-1.2.3-rc.1.tgz", "fairlead.krew.yaml", "fairlead.rb", "fairlead_1.2.3~rc.1_amd64.deb",
                 "fairlead_1.2.3~rc.1_arm64.deb", "install.sh", *(f"terraform-provider-fairlead_1.2.3-rc.1_{rest}" for rest in PROVIDER),
                 *(self.plugin_file(architecture).name for architecture in ARCHITECTURES),
                 "fairlead-pulumi-1.2.3-rc.1.tgz", "pulumi_fairlead-1.2.3rc1.tar.gz", "pulumi_fairlead-1.2.3rc1-py3-none-any.whl"]
        self.assertEqual(self.names(), sorted([*plain, *(f"{name}.spdx.json" for name in plain), "SHA256SUMS", "SHA256SUMS.minisig",
                                               "fairlead-1.2.3-rc.1.intoto.json"]))

    def test_another_one_in_other_surroundings_is_the_same(self):
        other = self.folder / "a much longer path" / "two"
        other.mkdir(parents=True)
        here, mask = os.getcwd(), os.umask(0o077)
        self.addCleanup(os.chdir, here)
        self.addCleanup(os.umask, mask)
        os.chdir(other)
        os.environ |= {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "HOME": str(other), "USER": "somebody", "XZ_OPT": "-9", "GZIP": "-1"}
        again = make(other, self.folder / "release.key")
        self.assertEqual(self.names(), sorted(path.name for path in again.iterdir()))
        differ = [name for name in self.names() if (self.dist / name).read_bytes() != (again / name).read_bytes()]
        self.assertEqual(differ, [])

    def test_archives(self):
        with tarfile.open(self.dist / "fairlead-1.2.3-rc.1-linux-amd64.tar.gz") as archive:
            entries = {entry.name.partition("/")[2]: entry for entry in archive.getmembers()}
            readme = archive.extractfile(entries["licences/README"]).read().decode()
        self.assertTrue({"fairlead", "LICENSE", "man/fairlead-apply.1", "completions/_fairlead", "completions/fairlead.bash", "completions/fairlead.fish",
                         "licences/openssl.copyright"} <= set(entries))
        self.assertEqual(entries["fairlead"].mode, 0o755)
        self.assertEqual({(entry.uid, entry.mtime, entry.uname) for entry in entries.values()}, {(0, self.source.time, "root")})
        self.assertIn("openssl 3.0.1-1: Apache-2.0\n", readme)
        self.assertIn("boost1.81 1.81.0-5: BSL-1.0 (headers)\n", readme)

    def test_the_deb(self):
        deb = self.dist / "fairlead_1.2.3~rc.1_arm64.deb"
        fields = run("dpkg-deb", "--field", deb)
        for line in ("Package: fairlead", "Version: 1.2.3~rc.1", "Architecture: arm64", "Section: admin"):
            self.assertIn(line + "\n", fields)
        content = run("dpkg-deb", "--contents", deb)
        self.assertRegex(content, r"-rwxr-xr-x root/root .* \./usr/bin/fairlead\n")
        self.assertRegex(content, r"\./usr/bin/kubectl-fairlead -> fairlead\n")
        self.assertRegex(content, r"-rw-r--r-- root/root .* \./usr/share/man/man1/fairlead-apply\.1\.gz\n")

    def test_the_rpm(self):
        rpm = self.dist / "fairlead-1.2.3~rc.1-1.aarch64.rpm"
        self.assertEqual(run("rpm", "-qp", "--qf", "%{NAME} %{VERSION} %{ARCH} %{BUILDHOST} %{LICENSE}", rpm),
                         "fairlead 1.2.3~rc.1 aarch64 fairlead.dev Apache-2.0")
        self.assertIn("digests OK", run("rpm", "-K", rpm))
        self.assertIn("/usr/bin/kubectl-fairlead\n", run("rpm", "-qlp", rpm))
        self.assertEqual(run("rpm", "-qp", "--requires", rpm).replace("rpmlib", "\nrpmlib").count("libc.so"), 0)

    def test_the_charts(self):
        for name in ("fairlead-webhook", "fairlead-gate"):
            with tarfile.open(self.dist / f"{name}-1.2.3-rc.1.tgz") as archive:
                about = yaml.safe_load(archive.extractfile(f"{name}/Chart.yaml"))
                self.assertIn(f"{name}/values.yaml", archive.getnames())
            self.assertEqual((about["version"], about["appVersion"]), ("1.2.3-rc.1", "1.2.3-rc.1"))

    def provider_file(self, rest):
        return self.dist / f"terraform-provider-fairlead_1.2.3-rc.1_{rest}"

    def test_the_provider_for_a_registry(self):
        with zipfile.ZipFile(self.provider_file("linux_arm64.zip")) as archive:
            entries = {one.filename: one for one in archive.infolist()}
        self.assertTrue({"LICENSE", "licences/openssl.copyright"} <= set(entries))
        program = entries["terraform-provider-fairlead_v1.2.3-rc.1"]
        # Archives of this kind count in steps of two seconds.
        self.assertEqual((program.external_attr >> 16, program.date_time), (0o100755, time.gmtime(self.source.time // 2 * 2)[:6]))
        self.assertEqual(json.loads(self.provider_file("manifest.json").read_text()),
                         {"version": 1, "metadata": {"protocol_versions": ["6.0"]}})
        self.assertEqual(self.provider_file("SHA256SUMS").read_text().splitlines(),
                         [f"{self.digest(path.name)}  {path.name}" for path in map(self.provider_file, PROVIDER[1:])])

    @unittest.skipUnless(shutil.which("terraform"), "there is no terraform in PATH")
    def test_terraform_installs_the_provider_from_a_mirror(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        mirror = folder / "mirror/registry.terraform.io/fairlead/fairlead"
        mirror.mkdir(parents=True)
        name = self.provider_file(f"linux_{main.container_image.ARCHITECTURE}.zip").name
        shutil.copy(self.dist / name, mirror)
        settings = folder / "terraformrc"
        settings.write_text(f'provider_installation {{\n  filesystem_mirror {{ path = "{folder}/mirror" }}\n}}\n')
        provider = {"source": "fairlead/fairlead", "version": "1.2.3-rc.1"}
        (folder / "main.tf.json").write_text(json.dumps({"terraform": {"required_providers": {"fairlead": provider}}}))
        run("terraform", f"-chdir={folder}", "init", "-input=false", env=os.environ | {"TF_CLI_CONFIG_FILE": str(settings), "CHECKPOINT_DISABLE": "1"})
        installed = list(folder.glob(".terraform/providers/**/terraform-provider-fairlead_v1.2.3-rc.1"))
        self.assertEqual([os.access(path, os.X_OK) for path in installed], [True])

    def plugin_file(self, architecture):
        return self.dist / f"pulumi-resource-fairlead-v1.2.3-rc.1-linux-{architecture}.tar.gz"

    def test_the_plugin_as_pulumi_downloads_it(self):
        for architecture in ARCHITECTURES:
            with tarfile.open(self.plugin_file(architecture)) as archive:
                entries = {entry.name: entry for entry in archive.getmembers()}
            self.assertTrue({"LICENSE", "licences/openssl.copyright"} <= set(entries))
            program = entries["pulumi-resource-fairlead"]
            self.assertEqual((program.mode, program.mtime, program.uname), (0o755, self.source.time, "root"))

    def test_the_sdk_as_npm_takes_it(self):
        with tarfile.open(self.dist / "fairlead-pulumi-1.2.3-rc.1.tgz") as archive:
            files = {entry.name for entry in archive.getmembers() if entry.isfile()}
        self.assertEqual(files, {"package/package.json", "package/index.js", "package/LICENSE"})

    def test_the_sdk_as_pip_installs_it(self):
        folder = self.folder / "site"
        with zipfile.ZipFile(self.dist / "pulumi_fairlead-1.2.3rc1-py3-none-any.whl") as archive:
            archive.extractall(folder)
        # RECORD has all files, with their checksums; metadata is what importlib finds.
        found, = importlib.metadata.distributions(path=[str(folder)])
        self.assertEqual((found.name, found.version, found.requires), ("pulumi_fairlead", "1.2.3rc1", ["pulumi>=3.142.0,<4.0.0"]))
        self.assertEqual(sorted(map(str, found.files)), sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))
        for file in found.files:
            if file.hash:
                made = base64.urlsafe_b64encode(hashlib.sha256(file.read_binary()).digest()).rstrip(b"=").decode()
                self.assertEqual((file.hash.mode, file.hash.value, file.size), ("sha256", made, len(file.read_binary())))
        self.assertEqual(found.metadata["License"], "Apache-2.0")
        with tarfile.open(self.dist / "pulumi_fairlead-1.2.3rc1.tar.gz") as archive:
            self.assertIn("pulumi_fairlead-1.2.3rc1/PKG-INFO", archive.getnames())
            self.assertNotIn("pulumi_fairlead-1.2.3rc1/.gitignore", archive.getnames())

    def digest(self, name):
        return hashlib.sha256((self.dist / name).read_bytes()).hexdigest()

    def test_the_manifest_of_krew(self):
        plugin = yaml.safe_load((self.dist / "fairlead.krew.yaml").read_text())
        self.assertEqual((plugin["kind"], plugin["metadata"]["name"], plugin["spec"]["version"]), ("Plugin", "fairlead", "v1.2.3-rc.1"))
        for platform in plugin["spec"]["platforms"]:
            name = platform["uri"].rpartition("/")[2]
            self.assertEqual(platform["sha256"], self.digest(name))
            self.assertTrue(name.endswith(f'{platform["selector"]["matchLabels"]["arch"]}.tar.gz'))
            with tarfile.open(self.dist / name) as archive:
                self.assertTrue({one["from"] for one in platform["files"]} <= set(archive.getnames()))

    def test_the_formula_of_homebrew(self):
        text = (self.dist / "fairlead.rb").read_text()
        for architecture in ARCHITECTURES:
            self.assertIn(f'sha256 "{self.digest(f"fairlead-1.2.3-rc.1-linux-{architecture}.tar.gz")}"', text)

    def test_each_artifact_has_an_sbom(self):
        bom = json.loads((self.dist / "fairlead_1.2.3~rc.1_amd64.deb.spdx.json").read_text())
        self.assertEqual((bom["spdxVersion"], bom["dataLicense"], bom["creationInfo"]["created"]), ("SPDX-2.3", "CC0-1.0", self.source.date))
        artifact, *parts = bom["packages"]
        self.assertEqual(artifact["checksums"], [{"algorithm": "SHA256", "checksumValue": self.digest("fairlead_1.2.3~rc.1_amd64.deb")}])
        self.assertEqual([(one["name"], one["versionInfo"], one["licenseConcluded"]) for one in parts],
                         [("openssl", "3.0.1-1", "Apache-2.0"), ("boost1.81", "1.81.0-5", "BSL-1.0")])
        known = {one["SPDXID"] for one in bom["packages"]} | {"SPDXRef-DOCUMENT"}
        for one in bom["relationships"]:
            self.assertTrue({one["spdxElementId"], one["relatedSpdxElement"]} <= known)
        self.assertEqual(len({one["SPDXID"] for one in bom["packages"]}), 3)

    def test_the_provenance_names_everything(self):
        statement = json.loads((self.dist / "fairlead-1.2.3-rc.1.intoto.json").read_text())
        self.assertEqual(statement["predicateType"], "https://slsa.dev/provenance/v1")
        others = {"SHA256SUMS", "SHA256SUMS.minisig", "fairlead-1.2.3-rc.1.intoto.json"}
        self.assertEqual({one["name"]: one["digest"]["sha256"] for one in statement["subject"]},
                         {name: self.digest(name) for name in self.names() if name not in others})

    def test_checksums_and_their_signature(self):
        lines = [line.split("  ") for line in (self.dist / "SHA256SUMS").read_text().splitlines()]
        listed = {name: digest for digest, name in lines}
        self.assertEqual(listed, {name: self.digest(name) for name in self.names() if not name.startswith("SHA256SUMS")})
        verify = ["minisign", "-V", "-m", "SHA256SUMS", "-p"]
        self.assertIn(f"Trusted comment: fairlead 1.2.3-rc.1, commit {self.source.commit}", run(*verify, self.folder / "release.pub", cwd=self.dist))
        run(*verify, self.folder / "other.pub", cwd=self.dist, code=1)
        with tempfile.TemporaryDirectory() as name:
            changed = pathlib.Path(name)
            (changed / "SHA256SUMS").write_bytes((self.dist / "SHA256SUMS").read_bytes().replace(b"a", b"b", 1))
            (changed / "SHA256SUMS.minisig").write_bytes((self.dist / "SHA256SUMS.minisig").read_bytes())
            run(*verify, self.folder / "release.pub", cwd=changed, code=1)

    # ---- install.sh ---------------------------------------------------------------------------------------------------
    def served(self, change=None):
        """The release behind a server; `change` is called with the folder first. Returns the address."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        release = folder / "1.2.3-rc.1"
        release.mkdir()
        for path in self.dist.iterdir():
            (release / path.name).write_bytes(path.read_bytes())
        if change:
            change(release)
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
        self.enterContext(mock.patch.object(http.server.SimpleHTTPRequestHandler, "log_message", lambda *_: None))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def install(self, address, code=0, **environment):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        return run("sh", self.dist / "install.sh", code=code, cwd=self.folder,
                   env={"PATH": os.environ["PATH"], "HOME": str(self.home), "FAIRLEAD_URL": address} | environment)

    def installed(self):
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir())

    def test_install(self):
        said = self.install(self.served())
        self.assertIn("fairlead ", said)
        self.assertIn(f"Add {self.home}/.local/bin to your PATH.", said)
        self.assertTrue({".local/bin/fairlead", ".local/bin/kubectl-fairlead", ".local/share/man/man1/fairlead.1",
                         ".local/share/bash-completion/completions/fairlead", ".local/share/fish/vendor_completions.d/fairlead.fish",
                         ".local/share/zsh/site-functions/_fairlead"} <= set(self.installed()))
        self.assertEqual((self.home / ".local/bin/kubectl-fairlead").resolve(), (self.home / ".local/bin/fairlead").resolve())

    def test_install_verifies_the_signature_if_there_is_a_key(self):
        self.install(self.served(), FAIRLEAD_PUBLIC_KEY=str(self.folder / "release.pub"))
        self.assertIn(".local/bin/fairlead", self.installed())
        said = self.install(self.served(), code=1, FAIRLEAD_PUBLIC_KEY=str(self.folder / "other.pub"))
        self.assertIn("the signature of the checksums is wrong: nothing was installed", said)
        self.assertEqual(self.installed(), [])

    def test_install_takes_paths_relative_to_where_it_is_started(self):
        self.install(self.served(), FAIRLEAD_PUBLIC_KEY="release.pub", FAIRLEAD_PREFIX="a place")
        self.assertTrue((self.folder / "a place/bin/kubectl-fairlead").exists())
        self.assertEqual(self.installed(), [])

    def test_install_refuses_what_was_changed(self):
        def change(release):
            path = release / f"fairlead-1.2.3-rc.1-linux-{main.container_image.ARCHITECTURE}.tar.gz"
            path.write_bytes(path.read_bytes() + b"more")

        said = self.install(self.served(change), code=1)
        self.assertRegex(said, r"the checksum of fairlead-1\.2\.3-rc\.1-linux-\w+\.tar\.gz is wrong: nothing was installed")
        self.assertEqual(self.installed(), [])

    def test_install_of_what_is_not_there(self):
        self.assertIn("cannot download", self.install(self.served(), code=1, FAIRLEAD_VERSION="9.9.9"))
        self.assertEqual(self.installed(), [])


class Commit(unittest.TestCase):
    """The version and the notes of a commit, in a repository of the test's own."""

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.git("init", "-q", "-b", "main")
        self.commit("base: a beginning")

    def git(self, *words):
        dates = {"GIT_AUTHOR_DATE": "2026-05-04T12:20:30+0200", "GIT_COMMITTER_DATE": "2026-05-04T12:20:30+0200"}
        run("git", "-C", self.root, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", *words, env=os.environ | dates)

    def commit(self, subject):
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def find(self):
        return sources.find(self.root, "0.1.0")

    def test_the_version_is_that_of_the_tag(self):
        self.git("tag", "v1.2.3")
        self.assertEqual((self.find().version, self.find().previous, self.find().date), ("1.2.3", "", "2026-05-04T10:20:30Z"))
        self.commit("kube: more")
        self.assertRegex(self.find().version, r"^0\.1\.0-dev\.2\.g[0-9a-f]{12}$")
        self.git("tag", "v1.3.0-rc.1")
        self.git("tag", "not-a-version")
        self.assertEqual((self.find().version, self.find().previous), ("1.3.0-rc.1", "v1.2.3"))

    def test_the_release_before_is_no_candidate(self):
        for tag in ("v1.2.3-rc.1", "v1.2.3", "v1.3.0-rc.1"):
            self.commit(f"kube: {tag}")
            self.git("tag", tag)
        self.assertEqual(self.find().previous, "v1.2.3")
        self.commit("kube: a list")
        self.git("tag", "v1.3.0-rc.2")
        self.assertEqual(self.find().previous, "v1.3.0-rc.1")
        self.commit("kube: a watch")
        self.git("tag", "v1.3.0")
        self.assertEqual(self.find().previous, "v1.2.3")
        # None was released: what has changed since the beginning.
        self.git("tag", "--delete", "v1.2.3")
        self.assertEqual(self.find().previous, "")

    def test_changes_that_are_not_committed_are_refused(self):
        (self.root / "new.txt").write_text("new")
        with self.assertRaisesRegex(sources.Refused, r"not committed:\n\s+\?\? new\.txt"):
            self.find()

    def test_two_versions_of_one_commit_are_refused(self):
        self.git("tag", "v1.2.3")
        self.git("tag", "v1.2.4")
        with self.assertRaisesRegex(sources.Refused, "several tags: v1.2.3 v1.2.4"):
            self.find()

    def test_the_notes_are_sorted_by_what_they_are_about(self):
        self.git("tag", "v1.0.0")
        for subject in ("kube: a watch", "Fix it", "docs, tests: words", "kube: a list"):
            self.commit(subject)
        self.git("tag", "v1.1.0")
        source = self.find()
        self.assertEqual(sources.notes(self.root, source),
                         f"# Fairlead 1.1.0\n\nCommit {source.commit} of 2026-05-04T10:20:30Z. What has changed since v1.0.0, by what it is about:\n\n"
                         "## docs, tests\n- words\n\n## kube\n- a watch\n- a list\n\n## other\n- Fix it\n")


unittest.main()
