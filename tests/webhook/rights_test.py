"""The admission server as it is installed, with the rights that the manifests give it, on a real API server: it makes its certificate,
registers its CA, and becomes ready; and the Helm hooks that do the same, with theirs. Only the pods are missing: what they run is run here,
as the service account."""
import json
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from tests.daytwo.daytwo import FAIRLEAD, KUBECTL, DayTwo, kubectl, run


class Rights(DayTwo):
    def manifests(self, *flags):
        """The objects of an installation; those of the cluster are removed at the end."""
        text = run(FAIRLEAD, "webhook", "manifests", "--skip-crds", "-n", self.home, "--release", "rel", "-o", "json", *flags).stdout
        objects = json.loads(text)["items"]
        for one in objects:
            if "namespace" not in one["metadata"]:
                self.addCleanup(run, KUBECTL, "delete", one["kind"], one["metadata"]["name"])
        return objects

    def apply(self, objects):
        kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def check_that_the_ca_is_registered(self):
        configuration = json.loads(kubectl("get", "validatingwebhookconfiguration", "rel-validating", "-o", "json"))
        secret = json.loads(kubectl("get", "secret", "-n", self.home, "rel-webhook-server-cert", "-o", "json"))
        self.assertEqual([hook["clientConfig"]["caBundle"] for hook in configuration["webhooks"]], [secret["data"]["ca.crt"]] * 3)

    def ready(self, process, port):
        """What the server says when it is ready; otherwise why it is not."""
        answer = ""
        for _ in range(300):
            self.assertIsNone(process.poll(), "the server has ended")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as response:
                    return response.read().decode()
            except urllib.error.HTTPError as error:
                answer = error.read().decode()
                error.close()
            except urllib.error.URLError:
                pass  # it does not listen yet
            time.sleep(0.1)
        return answer

    def test_they_are_enough_to_become_ready(self):
        objects = self.manifests()
        deployment = next(one for one in objects if one["kind"] == "Deployment")
        self.apply([one for one in objects if one is not deployment])
        given = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        arguments = [one for one in given if not one.startswith("--drain=")]
        with tempfile.TemporaryFile("w+") as log:
            process = subprocess.Popen(
                [FAIRLEAD, *(one.replace("/certs", str(self.folder)) for one in arguments), "--address", "127.0.0.1", "--port", "0",
                 "--metrics-port", "0", "--drain", "0s", "--as", f"system:serviceaccount:{self.home}:rel-webhook"], stdout=log)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.assertEqual(self.ready(process, self.probe_port(log)), "ok\n")
        self.check_that_the_ca_is_registered()
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_hooks_make_the_certificate_and_register_its_ca(self):
        objects = self.manifests("--set", "webhook.certGenerator.enabled=true")
        jobs = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in objects if one["kind"] == "Job"}
        self.apply([one for one in objects if one["kind"] not in ("Deployment", "Job")])
        for name in ("rel-webhook-cert-gen", "rel-webhook-ca-inject"):
            pod = jobs.pop(name)
            # A second time, as in an upgrade, there is nothing to do.
            for _ in range(2):
                done = run(FAIRLEAD, *pod["containers"][0]["args"], "--as", f"system:serviceaccount:{self.home}:{pod['serviceAccountName']}")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(jobs, {})
        self.check_that_the_ca_is_registered()

    def probe_port(self, log):
        """The port is a free one, which the first line of the log tells."""
        for _ in range(300):
            log.seek(0)
            line = log.readline()
            if line.endswith("\n"):
                return json.loads(line)["probes"].rpartition(":")[2]
            time.sleep(0.1)
        raise AssertionError("the server does not start")


unittest.main()
