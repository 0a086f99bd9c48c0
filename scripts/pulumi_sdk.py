"""Makes the SDKs for Pulumi from the schema of a plugin, by Pulumi's own code generator.

  python3 -B -m scripts.pulumi_sdk PLUGIN FOLDER

PLUGIN is a pulumi-resource-fairlead. FOLDER/nodejs gets the package @fairlead/pulumi, compiled in bin, FOLDER/python the package
pulumi_fairlead. The generator comes from its Go modules, the compiler of TypeScript from npm; both are kept outside of the tree.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from cluster import builds

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The same for the Go modules, for npm and for PyPI.
VERSION = "3.259.0"
TYPESCRIPT = ("typescript@5.9.3", "@types/node@20.19.0")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "fairlead" / f"pulumi-{VERSION}"
SOURCE = CACHE / "go"


def say(text):
    print("==>", text, file=sys.stderr, flush=True)


def run(*command, **options):
    result = subprocess.run([str(one) for one in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode:
        sys.exit(f"{result.stdout}\npulumi: {' '.join(map(str, command))} failed with {result.returncode}; see above")


def go(*arguments):
    run(builds.find_go(), *arguments, cwd=SOURCE, env={**builds.go_environment(), "GOFLAGS": "-mod=mod -buildvcs=false"})


def make_modules(further=None):
    """The folder of the generator, with the modules that it needs; `further` is more Go source. Returns true if anything changed."""
    wanted = {path.name: path.read_bytes() for path in sorted((ROOT / "sdk" / "generate").iterdir())} | (further or {})
    same = all((SOURCE / name).is_file() and (SOURCE / name).read_bytes() == content for name, content in wanted.items() if name != "go.mod")
    if same:
        return False
    SOURCE.mkdir(parents=True, exist_ok=True)
    for name, content in wanted.items():
        (SOURCE / name).write_bytes(content)
    go("mod", "edit", f"-require=github.com/pulumi/pulumi/pkg/v3@v{VERSION}")
    go("mod", "tidy")
    return True


def make_generator():
    program = CACHE / "bin" / "generate"
    if make_modules() or not program.exists():
        say(f"building the generator of SDKs of pulumi {VERSION} from its Go modules (minutes the first time)")
        go("build", "-o", program, ".")
    return program


def make_packages(*further):
    """What Node.js needs to compile the SDK, and more of npm."""
    packages = [f"@pulumi/pulumi@{VERSION}", *TYPESCRIPT, *further]
    marker = CACHE / "installed-packages"
    installed = set(marker.read_text().split()) if marker.exists() else set()
    if set(packages) <= installed:
        return
    say("installing pulumi for Node.js")
    (CACHE / "package.json").write_text('{"private": true}\n')
    packages = sorted(installed | set(packages))
    run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *packages, cwd=CACHE)
    marker.write_text("\n".join(packages))


def make_sdks(plugin, folder):
    generator = make_generator()
    make_packages()
    say(f"making the SDKs, in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    schema = folder / "schema.json"
    with schema.open("w") as file:
        subprocess.run([plugin, "--schema"], stdout=file, check=True)
    for language in ("nodejs", "python"):
        # The last folder has what is not generated.
        run(generator, schema, language, folder / language, ROOT / "sdk" / language)
    modules = folder / "node_modules"
    modules.unlink(missing_ok=True)
    modules.symlink_to(CACHE / "node_modules")
    run("node", CACHE / "node_modules/typescript/bin/tsc", cwd=folder / "nodejs")
    shutil.copy(folder / "nodejs" / "package.json", folder / "nodejs" / "bin")
    for package in (folder / "nodejs" / "bin", folder / "python"):
        shutil.copy(ROOT / "sdk" / "README.md", package)


if __name__ == "__main__":
    make_sdks(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
