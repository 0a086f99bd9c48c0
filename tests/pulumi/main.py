"""Makes what the tests with the real pulumi need, and runs them: `./dev pulumi`.

pulumi itself and its code generator come from their Go modules, the rest from npm and PyPI. They are kept outside of the tree.
"""
import argparse
import os
import pathlib
import sys
import unittest

from scripts.pulumi_sdk import CACHE, ROOT, VERSION, go, make_modules, make_packages, make_sdks, run, say

# The classes of Kubernetes that programs use, in npm and in PyPI.
KUBERNETES = "4.34.2"
PROVIDERS = ROOT / "build" / "provider"
SDK = ROOT / "build" / "sdk"
TOOLS = b"""//go:build tools

package main

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
"""


def make_pulumi():
    """Returns the folder with pulumi in it."""
    program = CACHE / "bin" / "pulumi"
    if make_modules({"tools.go": TOOLS}) or not program.exists():
        say(f"building pulumi {VERSION} from its Go modules (minutes; a gigabyte to download the first time)")
        stamp = f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{VERSION}"
        go("build", "-ldflags", stamp, "-o", program, "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi")
    return program.parent


def make_python():
    """A Python with pulumi and the classes of Kubernetes, and the SDK as it is now."""
    folder = CACHE / f"python-kubernetes-{KUBERNETES}"
    if not (folder / "installed").exists():
        say("installing pulumi for Python")
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/pip", "install", "-q", f"pulumi=={VERSION}", f"pulumi_kubernetes=={KUBERNETES}", "setuptools", "wheel", "parver", "semver")
        (folder / "installed").touch()
    run(folder / "bin/pip", "install", "-q", "--no-deps", "--no-build-isolation", "--force-reinstall", SDK / "python")
    return folder / "bin/python"


def main():
    parser = argparse.ArgumentParser(prog="./dev pulumi", description="The real pulumi with the provider and its SDKs.")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="part of a test's name, such as NodeTest or drift; all if none")
    parser.add_argument("--sdk", action="store_true", help="only make the SDKs, in build/sdk")
    parser.add_argument("--kubernetes", type=pathlib.Path, metavar="PLUGIN",
                        help="a pulumi-resource-kubernetes for the programs that use it, instead of what stands in for it")
    parser.add_argument("--cluster", action="store_true", help="also the stories on a real cluster, which ./dev starts for them")
    options = parser.parse_args()
    make_sdks(PROVIDERS / "pulumi-resource-fairlead", SDK)
    if options.sdk:
        return
    tools = make_pulumi()
    make_packages(f"@pulumi/kubernetes@{KUBERNETES}")
    # pulumi takes the provider from PATH.
    os.environ.update(PATH=f"{tools}:{PROVIDERS}:{os.environ['PATH']}", NODE_PATH=str(CACHE / "node_modules"),
                      FAIRLEAD_SDK=str(SDK / "nodejs" / "bin"), FAIRLEAD_PULUMI_PYTHON=str(make_python()))
    stand_in = ROOT / "tests" / "pulumi" / "kubernetes_stand_in.js"
    os.environ["FAIRLEAD_PULUMI_KUBERNETES"] = str((options.kubernetes or stand_in).resolve())
    patterns = [argument for one in options.tests for argument in ("-k", one)]
    modules = [f"tests.pulumi.{name}_test" for name in ("pulumi", "gate", "interrupt", "seed")]
    unittest.main(None, argv=["./dev pulumi", "-v", *patterns, *modules])


if __name__ == "__main__":
    main()
