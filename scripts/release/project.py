"""What is released, and what the packages say about it. The programs are in PROGRAMS."""
import dataclasses

NAME = "fairlead"
SUMMARY = "Applies Kubernetes manifests in the order that the cluster needs"
DESCRIPTION = """\
Fairlead works out which object needs which, proves that admission webhooks
answer before it sends what they check, waits until everything is ready, and
says why if something is not. It deletes the objects again in an order in
which finalizers do not get stuck. The program is a static binary."""
HOME = "https://fairlead.dev"
MAINTAINER = "Fairlead <releases@fairlead.dev>"
LICENCE = "Apache-2.0"
IMAGE = "fairlead.dev/fairlead"
# kubectl finds its plugins by this name.
PLUGIN = "kubectl-fairlead"


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str      # as Debian, Go and OCI call it
    machine: str   # as the kernel and rpm call it
    variant: str = ""


ARCHITECTURES = {one.name: one for one in (Architecture("amd64", "x86_64"), Architecture("arm64", "aarch64", "v8"))}


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    # Below the folder of the build, and the target that makes it.
    path: str
    target: str


FAIRLEAD = Program(NAME, "src/cli/fairlead", "fairlead")
# Terraform and OpenTofu find it by this name, and by the name of its file in the archive.
PROVIDER = Program("terraform-provider-fairlead", "src/terraform/terraform-provider-fairlead", "terraform-provider-fairlead")
# So does Pulumi.
PULUMI = Program("pulumi-resource-fairlead", "src/pulumi/pulumi-resource-fairlead", "pulumi-resource-fairlead")
PROGRAMS = [FAIRLEAD, PROVIDER, PULUMI]


def download_url(version, file=""):
    return f"{HOME}/releases/{version}/{file}"
