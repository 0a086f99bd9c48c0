"""Makes what the tests with the real pulumi need, and runs them: `./dev pulumi`.

pulumi itself and its code generator come from their Go modules, the rest from npm and PyPI. They are kept outside of the tree.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from cluster import builds

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The same for the Go modules, for npm and for PyPI.
VERSION = "3.259.0"
TYPESCRIPT = ("typescript@5", "@types/node@20")
# The classes of Kubernetes that programs use.
KUBERNETES = "@pulumi/kubernetes@4.34.2"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "fairlead" / f"pulumi-{VERSION}"
PROVIDERS = ROOT / "build" / "provider"
SDK = ROOT / "build" / "sdk"
TOOLS = """//go:build tools

package main

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
"""


def say(text):
    print("==>", text, file=sys.stderr, flush=True)


def run(*command, **options):
    result = subprocess.run([str(one) for one in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode:
        sys.exit(f"{result.stdout}\npulumi: {' '.join(map(str, command))} failed with {result.returncode}; see above")


def make_tools():
    """pulumi and the generator of SDKs. Returns their folder."""
    tools = CACHE / "bin"
    source = CACHE / "go"
    generator = {path.name: path.read_bytes() for path in sorted((ROOT / "sdk" / "generate").iterdir())}
    is_same = all((source / name).is_file() and (source / name).read_bytes() == content for name, content in generator.items() if
                  name != "go.mod")
    if is_same and (tools / "pulumi").exists() and (tools / "generate").exists():
        return tools
    say(f"building pulumi {VERSION} from its Go modules (minutes; a gigabyte to download the first time)")
    source.mkdir(parents=True, exist_ok=True)
    for name, content in generator.items():
        (source / name).write_bytes(content)
    (source / "tools.go").write_text(TOOLS)
    go, environment = builds.find_go(), {**builds.go_environment(), "GOFLAGS": "-mod=mod -buildvcs=false"}
    run(go, "mod", "edit", f"-require=github.com/pulumi/pulumi/pkg/v3@v{VERSION}", cwd=source, env=environment)
    run(go, "mod", "tidy", cwd=source, env=environment)
    stamp = f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{VERSION}"
    run(go, "build", "-ldflags", stamp, "-o", tools / "pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", cwd=source, env=environment)
    run(go, "build", "-o", tools / "generate", ".", cwd=source, env=environment)
    return tools


def make_packages():
    """What programs in Node.js and Python need from npm and PyPI."""
    if not (CACHE / "node_modules/@pulumi/kubernetes").exists():
        say("installing pulumi for Node.js")
        (CACHE / "package.json").write_text('{"private": true}\n')
        run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"@pulumi/pulumi@{VERSION}", KUBERNETES, *TYPESCRIPT,
            cwd=CACHE)
    if not (CACHE / "venv" / "installed").exists():
        say("installing pulumi for Python")
        run(sys.executable, "-m", "venv", CACHE / "venv")
        run(CACHE / "venv/bin/pip", "install", "-q", f"pulumi=={VERSION}", "setuptools", "wheel", "parver", "semver")
        (CACHE / "venv" / "installed").touch()


def make_sdks(tools):
    """The SDKs, in build/sdk; that for Node.js compiled, that for Python installed beside pulumi."""
    say("making the SDKs, in build/sdk")
    SDK.mkdir(parents=True, exist_ok=True)
    schema = SDK / "schema.json"
    with schema.open("w") as file:
        subprocess.run([PROVIDERS / "pulumi-resource-fairlead", "--schema"], stdout=file, check=True)
    for language in ("nodejs", "python"):
        # What is not generated.
        written = ROOT / "sdk" / language
        run(tools / "generate", schema, language, SDK / language, *((written,) if written.is_dir() else ()))
    modules = SDK / "node_modules"
    modules.unlink(missing_ok=True)
    modules.symlink_to(CACHE / "node_modules")
    run("node", CACHE / "node_modules/typescript/bin/tsc", cwd=SDK / "nodejs")
    shutil.copy(SDK / "nodejs" / "package.json", SDK / "nodejs" / "bin")
    run(CACHE / "venv/bin/pip", "install", "-q", "--no-deps", "--no-build-isolation", "--force-reinstall", SDK / "python")


def main():
    parser = argparse.ArgumentParser(prog="./dev pulumi", description="The real pulumi with the provider and its SDKs, on the sandbox.")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="part of a test's name, such as NodeTest or drift; all if none")
    parser.add_argument("--sdk", action="store_true", help="only make the SDKs, in build/sdk")
    options = parser.parse_args()
    tools = make_tools()
    make_packages()
    make_sdks(tools)
    if options.sdk:
        return
    # pulumi takes the provider from PATH.
    os.environ.update(PATH=f"{tools}:{PROVIDERS}:{os.environ['PATH']}", NODE_PATH=str(CACHE / "node_modules"),
                      FAIRLEAD_SDK=str(SDK / "nodejs" / "bin"), FAIRLEAD_PULUMI_PYTHON=str(CACHE / "venv/bin/python"))
    patterns = [argument for one in options.tests for argument in ("-k", one)]
    modules = [f"tests.pulumi.{name}_test" for name in ("pulumi", "gate", "interrupt")]
    unittest.main(None, argv=["./dev pulumi", "-v", *patterns, *modules])


if __name__ == "__main__":
    main()
