"""What lets others install the archives of a release: the krew manifest, the Homebrew formula and install.sh; and the charts."""
import json
import re
import tarfile

from scripts.release.files import File, tar_gz
from scripts.release.project import DESCRIPTION, HOME, LICENCE, NAME, SUMMARY, download_url

CHARTS = ("deploy/chart", "deploy/gate-chart")


def archive_name(version, architecture):
    """Without .tar.gz: this is also the folder in it."""
    return f"{NAME}-{version}-linux-{architecture.name}"


def krew(version, sums):
    """The manifest of `kubectl krew`. `sums`: architecture -> checksum of its archive. JSON strings are YAML."""
    lines = ["apiVersion: krew.googlecontainertools.github.com/v1alpha2", "kind: Plugin", "metadata:", f"  name: {NAME}", "spec:",
             f"  version: v{version}", f"  homepage: {HOME}", f"  shortDescription: {json.dumps(SUMMARY)}", "  description: |",
             *(f"    {line}" for line in DESCRIPTION.splitlines()), "  platforms:"]
    for architecture, digest in sums.items():
        folder = archive_name(version, architecture)
        lines += ["  - selector:", "      matchLabels:", "        os: linux", f"        arch: {architecture.name}",
                  f"    uri: {download_url(version, folder + '.tar.gz')}", f"    sha256: {digest}", f"    bin: {NAME}", "    files:",
                  f"    - from: {folder}/{NAME}", "      to: .", f"    - from: {folder}/LICENSE", "      to: ."]
    return "\n".join(lines) + "\n"


def homebrew(version, sums):
    """A formula for Homebrew on Linux."""
    lines = [f"class {NAME.capitalize()} < Formula", f'  desc "{SUMMARY}"', f'  homepage "{HOME}"', f'  version "{version}"',
             f'  license "{LICENCE}"', "", "  depends_on :linux", ""]
    for architecture, digest in sums.items():
        lines += [f"  on_{'intel' if architecture.name == 'amd64' else 'arm'} do",
                  f'    url "{download_url(version, archive_name(version, architecture) + ".tar.gz")}"', f'    sha256 "{digest}"', "  end", ""]
    lines += ["  def install", f'    bin.install "{NAME}"', f'    bin.install_symlink "{NAME}" => "kubectl-{NAME}"', '    man1.install Dir["man/*.1"]',
              f'    bash_completion.install "completions/{NAME}.bash" => "{NAME}"', f'    zsh_completion.install "completions/_{NAME}"',
              f'    fish_completion.install "completions/{NAME}.fish"', "  end", "", "  test do",
              f'    assert_match version.to_s, shell_output("#{{bin}}/{NAME} version")', "  end", "end"]
    return "\n".join(lines) + "\n"


def install_script(root, version):
    text = (root / "deploy/install.sh").read_text()
    return text.replace("@VERSION@", version).replace("@URL@", download_url("").rstrip("/"))


def chart(folder, sources, version, time):
    """The chart in that folder as `helm package` makes it, from the tar archive of the sources: its name and the archive."""
    tree = {}
    with tarfile.open(fileobj=sources) as archive:
        for entry in archive.getmembers():
            path = entry.name.partition("/")[2]
            if entry.isfile() and path.startswith(f"{folder}/"):
                tree[path.removeprefix(f"{folder}/")] = archive.extractfile(entry).read()
    about = tree["Chart.yaml"].decode()
    about = re.sub(r"^(version|appVersion): .*$", rf"\1: {version}", about, flags=re.M)
    tree["Chart.yaml"] = about.encode()
    name = re.search(r"^name: (.+)$", about, re.M)[1]
    return f"{name}-{version}.tgz", tar_gz({f"{name}/{path}": File(data) for path, data in tree.items()}, time)
