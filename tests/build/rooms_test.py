"""A room that includes a room that it does not declare fails the build."""
import pathlib
import subprocess
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "cmake/CheckIncludes.cmake"


def check(uses):
    """Checks a house of two rooms, in which `upper` includes `lower`."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "src"
        for room, text in {"lower": "", "upper": '#include "lower/lower.h"\n#include "upper/upper.h"\n'}.items():
            (source / room).mkdir(parents=True)
            (source / room / f"{room}.h").write_text(text)
        return subprocess.run(["cmake", "-D", "ROOM=upper", "-D", f"USES={uses}", "-D", f"FOLDER={source}/upper",
                               "-D", f"SRC={source}", "-P", CHECK], capture_output=True, text=True)


class Rooms(unittest.TestCase):
    def test_a_declared_room_may_be_included(self):
        self.assertEqual(check("lower").returncode, 0)

    def test_another_one_may_not(self):
        result = check("")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('src/upper/upper.h: #include "lower/lower.h"', result.stderr)


unittest.main()
