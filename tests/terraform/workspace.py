"""What the tests with a real terraform or tofu share: a folder with a configuration, and ways to run it and to look at its state.

FAIRLEAD_TERRAFORM names the program; without it, it is the terraform in PATH.
"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import unittest

PROVIDER = pathlib.Path(os.environ["FAIRLEAD_PROVIDER"])
PROGRAM = os.environ.get("FAIRLEAD_TERRAFORM") or shutil.which("terraform") or ""
# For what ends by itself, on a machine that has no time to spare.
LONG = 300


@functools.cache
def client():
    """The version, such as (1, 11)."""
    # Whoever complains about the user's settings does it on standard output.
    env = {name: value for name, value in os.environ.items() if name != "TF_CLI_CONFIG_FILE"}
    told = json.loads(subprocess.run([PROGRAM, "version", "-json"], capture_output=True, check=True, env=env).stdout)
    major, minor = told["terraform_version"].split(".")[:2]
    return int(major), int(minor)


@unittest.skipUnless(PROGRAM, "there is no terraform in PATH, and FAIRLEAD_TERRAFORM names none")
class Workspace(unittest.TestCase):
    """Whoever inherits has a folder, an environment, and the path of a kubeconfig when it calls prepare()."""
    folder: pathlib.Path
    env: dict[str, str]

    # Programs of providers, by their sources.
    overrides = {"fairlead/fairlead": PROVIDER}

    def prepare(self, kubeconfig):
        self.kubeconfig = str(kubeconfig)
        settings = self.folder / "terraformrc"
        overrides = "".join(f'    "{source}" = "{program.parent}"\n' for source, program in self.overrides.items())
        settings.write_text(f"provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n")
        self.log = self.folder / "log"
        self.env.update(TF_CLI_CONFIG_FILE=str(settings), TF_IN_AUTOMATION="1", CHECKPOINT_DISABLE="1", TF_LOG="TRACE",
                        TF_LOG_PATH=str(self.log))

    def configure(self, *imports, **resources):
        """Writes the configuration. The resources are `type__name = {attributes}`; without a provider's name, they are ours."""
        sorted_resources: dict[str, dict] = {}
        for key, attributes in resources.items():
            kind, _, name = key.partition("__")
            kind = kind if kind.startswith("terraform_") else f"fairlead_{kind}"
            sorted_resources.setdefault(kind, {})[name] = attributes
        config = {"terraform": {"required_providers": {"fairlead": {"source": "fairlead/fairlead"}}},
                  "provider": {"fairlead": {"clusters": {"main": {"kubeconfig": self.kubeconfig}}}}}
        if sorted_resources:
            config["resource"] = sorted_resources
        if imports:
            config["import"] = list(imports)
        (self.folder / "main.tf.json").write_text(json.dumps(config))

    def terraform(self, command, *arguments, code=0):
        result = subprocess.run([PROGRAM, command, *arguments], capture_output=True, text=True, timeout=LONG, env=self.env,
                                cwd=self.folder, stdin=subprocess.DEVNULL)
        output = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, output)
        # Terraform breaks the lines of its messages and frames them.
        return " ".join(output.replace("│", " ").split())

    def plan(self, *arguments, code=0):
        return self.terraform("plan", "-input=false", "-no-color", *arguments, code=code)

    def apply_all(self, code=0):
        return self.terraform("apply", "-auto-approve", "-input=false", "-no-color", code=code)

    def destroy(self, code=0):
        return self.terraform("destroy", "-auto-approve", "-input=false", "-no-color", code=code)

    def assert_plan(self, changes):
        return self.plan("-detailed-exitcode", code=2 if changes else 0)

    def resources(self):
        return json.loads((self.folder / "terraform.tfstate").read_text())["resources"]

    def state(self, address):
        """The attributes of a resource, and null if it is not in the state."""
        for resource in self.resources():
            if f"{resource['type']}.{resource['name']}" == address:
                return resource["instances"][0]["attributes"]
        return None

    def is_tainted(self, address):
        return any(instance.get("status") == "tainted" for resource in self.resources() for instance in resource["instances"]
                   if f"{resource['type']}.{resource['name']}" == address)
