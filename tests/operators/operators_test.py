"""A real operator, cert-manager, on a real cluster: in at the first attempt with what leans on it, and out again entirely.

It is built from its Go module (about two minutes, once); helm, which renders its chart, takes as long. The other operators are in
`./dev acid`. What was stored unvalidated is judged by the API server's own metrics and audit log.
"""
import os
import subprocess
import unittest

from acid import arena as arenas, bundles, running
from acid.operators.cert_manager import CertManager

FAIRLEAD = os.environ["FAIRLEAD"]


class Operators(unittest.TestCase):
    def fairlead(self, arena, *arguments):
        done = subprocess.run([FAIRLEAD, *arguments], env=arena.tool_env(), capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_cert_manager_in_and_out_again(self):
        story = CertManager()
        with arenas.fresh(story.images, story.counted()) as arena:
            there = running.snapshot(arena)
            requests = arena.log.requests()
            bundle = bundles.bundle(arena.folder / "bundle.yaml", story.objects())
            into = self.fairlead(arena, "apply", "-f", bundle, "--name", "certificates", "--timeout", "3m")
            requests = arena.log.requests() - requests
            with self.subTest("when it says that all is ready, the certificates are issued"):
                self.assertTrue(story.came_true(arena), into.stdout)
            with self.subTest("nothing was stored unvalidated"):
                self.assertEqual(story.unvalidated(arena), 0, into.stdout)
            with self.subTest("it asks little of the API server"):
                kinds = {(one["apiVersion"], one["kind"]) for one in story.objects()}
                self.assertLessEqual(requests, len(story.objects()) + 3 * len(kinds) + 60, into.stdout)
            out = self.fairlead(arena, "delete", "--name", "certificates", "--timeout", "3m")
            with self.subTest("nothing is left but what cert-manager keeps by design: the certificates that it has issued"):
                self.assertEqual(running.snapshot(arena) - there, story.kept(), out.stdout)


if __name__ == "__main__":
    unittest.main()
