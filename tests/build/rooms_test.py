"""A room that includes a room that it does not declare fails the build."""
import pathlib
import re
import subprocess
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "cmake/CheckIncludes.cmake"

SRC = CHECK.parents[1] / "src"
FUNCTION = re.compile(r"^\w[\w:<>,&* ]*[&*> ](\w+)\(([^()]*)\)", re.M)


def check(uses, include="lower/lower.h"):
    """Checks a house in which the room `upper` includes its own header and another one."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "src"
        for room in ("lower", "lower/inner", "upper"):
            (source / room).mkdir(parents=True)
            (source / room / "CMakeLists.txt").touch()
        (source / "upper/upper.h").write_text(f'#include "{include}"\n#include "upper/internal/own.h"\n')
        return subprocess.run(["cmake", "-D", "ROOM=upper", "-D", f"USES={uses}", "-D", f"FOLDER={source}/upper",
                               "-D", f"SRC={source}", "-P", CHECK], capture_output=True, text=True)


class Rooms(unittest.TestCase):
    def test_a_declared_room_may_be_included(self):
        self.assertEqual(check("lower").returncode, 0)

    def test_another_one_may_not(self):
        result = check("")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('src/upper/upper.h: #include "lower/lower.h"', result.stderr)
        self.assertIn("src/upper/CMakeLists.txt does not declare", " ".join(result.stderr.split()))

    def test_a_room_inside_another_one_is_declared_by_itself(self):
        self.assertEqual(check("lower_inner", "lower/inner/x.h").returncode, 0)
        self.assertNotEqual(check("lower", "lower/inner/x.h").returncode, 0)

    def test_internal_headers_are_for_their_own_room(self):
        for room, header in (("lower", "lower/internal/x.h"), ("lower_inner", "lower/inner/internal/x.h")):
            result = check(room, header)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f'src/upper/upper.h: #include "{header}"', result.stderr)

    def test_a_local_function_hides_none_that_others_of_the_room_call(self):
        """A release build compiles files of a room as one. There, what is in an unnamed namespace is found before a function of the same
        name and parameters that a header declares, and the compiler does not say so."""
        hidden = []
        for outer in sorted(one for one in SRC.iterdir() if one.is_dir()):
            declared = {found.groups(): header for header in outer.rglob("*.h") for found in FUNCTION.finditer(without_names(header))}
            for source in outer.rglob("*.cc"):
                if re.search(r"_(test|testing|fuzz)\.cc$", source.name):
                    continue
                text = without_names(source)
                local = re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.M | re.S)
                hidden += [f"{source.relative_to(SRC)} hides {found[1]} of {declared[found.groups()].relative_to(SRC)}"
                           for block in local for found in FUNCTION.finditer(block) if found.groups() in declared]
        self.assertEqual(hidden, [])


def without_names(path):
    """The text, in which parameters have types alone."""
    return re.sub(r" (\w+)(?= = [^,()]*[,)]|[,)])", "", path.read_text())


unittest.main()
