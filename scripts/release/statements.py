"""What a release says about itself: an SPDX SBOM per artifact, the provenance as in-toto JSON, and the signed checksums."""
import hashlib
import json
import subprocess
import urllib.parse

from scripts.release.files import sha256
from scripts.release.project import HOME, LICENCE, NAME, download_url

CREATOR = "Organization: Fairlead"


def dumped(value):
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()


def identifier(text):
    """What SPDX allows in an identifier."""
    return "SPDXRef-" + "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in text)


def purl(component):
    return f"pkg:deb/debian/{urllib.parse.quote(component.source)}@{urllib.parse.quote(component.version, safe='')}?arch=source&distro=debian-12"


def sbom(artifact, source, components):
    """SPDX 2.3: the artifact, and what of Debian is in it. `components` is empty for what has no binary in it."""
    digest = sha256(artifact)
    own = identifier(artifact.name)
    packages = [{"SPDXID": own, "name": artifact.name, "versionInfo": source.version, "downloadLocation": download_url(source.version, artifact.name),
                 "supplier": CREATOR, "filesAnalyzed": False, "homepage": HOME, "licenseConcluded": LICENCE, "licenseDeclared": LICENCE,
                 "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
                 "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                   "referenceLocator": f"pkg:generic/{NAME}@{source.version}"}]}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own)]
    for one in components:
        part = identifier(f"debian-{one.source}")
        packages.append({"SPDXID": part, "name": one.source, "versionInfo": one.version, "downloadLocation": "NOASSERTION",
                         "supplier": "Organization: Debian", "filesAnalyzed": False, "licenseConcluded": one.licence,
                         "licenseDeclared": one.licence, "copyrightText": "NOASSERTION",
                         "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl(one)}]})
        relations.append((own, "STATIC_LINK", part) if one.is_code else (own, "GENERATED_FROM", part))
    return dumped({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": artifact.name,
        # It has to be unique, and the same for the same bytes.
        "documentNamespace": f"{HOME}/spdx/{artifact.name}-{digest}",
        "creationInfo": {"created": source.date, "creators": [CREATOR, f"Tool: {NAME}-release"]},
        "packages": packages,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations]})


def provenance(artifacts, source, components, compiler):
    """An in-toto statement with SLSA's predicate. It has no times of the build: it is the same each time, too."""
    dependencies = [{"uri": f"git+{HOME}/fairlead.git@{source.commit}", "digest": {"gitCommit": source.commit}}]
    dependencies += [{"uri": purl(one), "name": one.source,
                      "digest": {"sha256": hashlib.sha256(one.text.encode()).hexdigest()}, "annotations": {"digestOf": "copyright"}}
                     for one in components]
    return dumped({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": sha256(path)}} for path in artifacts],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{HOME}/build/dev-release/v1",
                "externalParameters": {"version": source.version, "commit": source.commit},
                "internalParameters": {"compiler": compiler},
                "resolvedDependencies": dependencies},
            "runDetails": {"builder": {"id": f"{HOME}/build/dev-release"}, "metadata": {"invocationId": source.commit}}}})


def checksums(artifacts):
    """As sha256sum writes them."""
    return "".join(f"{sha256(path)}  {path.name}\n" for path in sorted(artifacts)).encode()


def sign(path, key, source):
    """Signs a file with minisign. The comment is part of what is signed; that of minisign would have the time in it."""
    signature = path.with_name(path.name + ".minisig")
    comment = f"{NAME} {source.version}, commit {source.commit}"
    subprocess.run(["minisign", "-S", "-s", key, "-m", path, "-x", signature, "-c", f"signature of {NAME} {source.version}", "-t", comment],
                   check=True, stdout=subprocess.DEVNULL)
    return signature
