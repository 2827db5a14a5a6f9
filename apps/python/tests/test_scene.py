# SPDX-License-Identifier: Apache-2.0
"""Scene tests, as pytest finds and runs them."""

import pathlib
import subprocess
import sys

import numpy
import pytest

import npusim
from npusim.scene import Scalar, SceneTestCase, TaskArgsBuilder, Tensor, make_tensor_arg, scene_test
from npusim.scene_arguments import difference

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "scene-tests"
D = npusim.ArgDirection
CALLABLE = {"orchestration": {"source": "a.cpp", "function_name": "f", "signature": [D.IN, D.OUT]}}

SCENE = """\
import os
import numpy
import pytest
from npusim import ArgDirection as D
from npusim.scene import Scalar, SceneTestCase, TaskArgsBuilder, Tensor, scene_test


@scene_test(level=2)
class {name}(SceneTestCase):
    CALLABLE = {{
        "orchestration": {{"source": {graph!r}, "function_name": "build_scale",
                          "signature": [D.IN, D.OUT]}},
        "incores": [{{"func_id": 0, "source": {kernel!r}}}],
    }}
    CASES = {cases}

    def generate_args(self, params):
        {before}
        x = numpy.arange(100, dtype="float32")
        return TaskArgsBuilder(Tensor("x", x), Tensor("y", numpy.zeros_like(x)),
                               Scalar("count", x.size), Scalar("a", 2.0))

    def compute_golden(self, args, params):
        args.y[:] = {golden}


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
"""


class Folder:
    """Of scene tests, and pytest on it."""

    def __init__(self, path):
        self.path = path

    def add(self, file, name="TestScale", golden="2 * args.x", cases="None", before="pass",
            kernel=str(EXAMPLE / "scale.cpp"), graph=str(EXAMPLE / "scale_graph.cpp")):
        (self.path / file).write_text(SCENE.format(**{key: value for key, value in locals().items()
                                                      if key not in ("self", "file")}))
        return self

    def run(self, *arguments, program=("-m", "pytest", "-p", "no:cacheprovider")):
        done = subprocess.run([sys.executable, *program, *arguments], cwd=self.path,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_folder_runs_and_a_failing_one_is_named(folder):
    folder.add("test_right.py").add("test_wrong.py", "TestWrong", "2 * args.x + (args.x == 17)")
    code, text = folder.run()
    assert code == 1 and "1 failed, 1 passed" in text
    assert "FAILED test_wrong.py::TestWrong::test_run[default-a2a3sim]" in text
    assert ("TestWrong[default] on a2a3sim: y: 1 of 100 elements differ, the first is y[17]: 34.0, "
            "golden 35.0") in text


def test_the_example_runs(folder):
    code, text = folder.run("-v", str(EXAMPLE))
    assert code == 0 and "4 passed" in text, text
    for name in ("TestScale::test_run[small-a5sim]", "TwoCards::test_run[halves-a2a3sim]"):
        assert name in text
    assert "simulated time of scene tests" in text and " us " in text


@pytest.mark.parametrize("options, reason", [
    ({"kernel": "absent.cpp"}, "FileNotFoundError: no source file"),
    ({"kernel": str(EXAMPLE / "scale_graph.cpp")}, "makes no kernel"),
    ({"golden": "args.z"}, "AttributeError: no argument 'z'"),
    ({"before": "return 7"}, "TypeError: generate_args: found a int"),
    ({"before": "os._exit(3)"}, "its process has ended with 3, without a result"),
    ({"before": "os.abort()"}, "its process has ended by signal 6, without a result"),
    ({"before": "raise SystemExit('over')"}, "SystemExit: over"),
    ({"cases": "[{'name': 'none', 'config': {'aicpu_thread_num': 0}}]"}, "invalid argument: aicpu_thread_num 0: "),
])
def test_whatever_goes_wrong_is_told(folder, options, reason):
    folder.add("test_it.py", **options)
    code, text = folder.run("-rf")
    assert code == 1 and "1 failed" in text
    line = next(line for line in text.splitlines() if line.startswith("TestScale["))
    assert " on a2a3sim: " in line and reason in line


def test_cases_platforms_and_what_is_skipped(folder):
    folder.add("test_it.py", "Scale", before="if params.get('skip'): pytest.skip('not today')", cases="""[
        {"name": "one", "platforms": ["910b2", "950"]}, {"name": "skips", "params": {"skip": 1}},
        {"name": "hand", "manual": True}]""")
    code, text = folder.run("-rs", "-v")
    assert code == 0 and "2 passed, 2 skipped" in text, "found without a name that pytest knows"
    assert "not today" in text and "a manual case: --npusim-manual runs it" in text
    code, text = folder.run("-v", "-rs", "--npusim-platform", "950", "--npusim-manual")
    assert "test_run[hand-950] PASSED" in text and "2 passed, 1 skipped" in text
    code, text = folder.run("-v", "-rs", "--npusim-platform", "910b")
    assert "the case is for 910b2, 950" in text
    code, text = folder.run("-k", "hand", "--npusim-platform", "abc", "--npusim-manual")
    assert code == 1 and "no configuration 'abc'" in text


def test_another_option_for_the_platform_is_heard(folder):
    folder.add("test_it.py")
    (folder.path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--platform')\n")
    assert "test_run[default-950] PASSED" in folder.run("-v", "--platform", "950")[1]


def test_a_file_is_a_program(folder):
    folder.add("test_it.py")
    code, text = folder.run("-p", "950", "-v", program=("test_it.py",))
    assert code == 0 and "test_run[default-950] PASSED" in text


def test_without_the_plugin_and_beside_a_machine_of_pytests_own(folder):
    folder.add("test_it.py")
    (folder.path / "test_other.py").write_text(
        "import npusim\nmachine = npusim.Simulator('910b2')\ndef test_it(): machine.device(0)\n")
    code, text = folder.run("-p", "no:npusim")
    assert code == 0 and "2 passed" in text, text


def test_what_cannot_be_collected(folder):
    folder.add("test_it.py", cases="[{'name': 'a', 'platform': 'x'}]")
    code, text = folder.run()
    assert code == 2
    assert "ValueError: TestScale: CASES[0]: found 'platform'; allowed: name, platforms" in text
    (folder.path / "test_it.py").write_text(
        "from npusim.scene import SceneTestCase\nclass TestBare(SceneTestCase): pass\n")
    code, text = folder.run()
    assert code == 2 and "TestBare: @scene_test(level=...) is missing" in text


@pytest.mark.parametrize("callable, cases, text", [
    ({}, None, "CALLABLE: 'orchestration' is missing"),
    ({**CALLABLE, "more": 1}, None, "found 'more'; allowed: orchestration, incores"),
    ({"orchestration": {"source": "a"}}, None, "'function_name' is missing"),
    ({**CALLABLE, "incores": [{"source": "a"}]}, None, "incores.0.: 'func_id' is missing"),
    ({**CALLABLE, "incores": [3]}, None, "found a int; allowed: a dict"),
    (CALLABLE, [{}], "CASES.0.: 'name' is missing"),
    (CALLABLE, [{"name": "a"}, {"name": "a"}], "case 'a': the name is there already"),
    (CALLABLE, [{"name": "a", "config": {"blocks": 1}}], "found 'blocks'; allowed: block_dim"),
    (CALLABLE, [{"name": "a", "config": {"device_count": 1}}], "found 'device_count'"),
])
def test_classes_that_cannot_be(callable, cases, text):
    made = type("TestMine", (SceneTestCase,), {"CALLABLE": callable, "CASES": cases})
    with pytest.raises(ValueError, match=f"TestMine: .*{text}"):
        scene_test(level=2)(made)


def test_decorators_that_cannot_be():
    with pytest.raises(ValueError, match="level: found 4; allowed: 2, 3"):
        scene_test(level=4)
    with pytest.raises(ValueError, match="runtime: found 'x'"):
        scene_test(level=2, runtime="x")
    for wrong in (dict, len):
        with pytest.raises(TypeError, match="is no SceneTestCase"):
            scene_test(level=2)(wrong)
    made = type("TestMine", (SceneTestCase,), {"CALLABLE": {"orchestration": {}}})
    with pytest.raises(ValueError, match="level 3 has a function of Python's there"):
        scene_test(level=3)(made)


def test_arguments_have_names_and_an_order():
    x = numpy.arange(4, dtype="int32")
    args = TaskArgsBuilder(Tensor("x", x), Scalar("n", 4))
    copy = args.clone()
    copy.x[:] = 7
    assert args.x is x and args.n == 4 and x[3] == 3 and args.tensor_names() == ["x"]
    assert (args.storage().tensor(0).data, args.storage().scalar(0)) == (x.ctypes.data, 4)
    assert args.tagged([D.OUT]).tag(0) is npusim.TensorArgType.OUTPUT_EXISTING
    for call, kind, text in (
            (lambda: args.add_tensor("y", x), ValueError, "'y': all tensors come before"),
            (lambda: args.add_scalar("n", 1), ValueError, "'n': the name is there"),
            (lambda: args.add_scalar("m", "1"), TypeError, "'m': a scalar of type str"),
            (lambda: TaskArgsBuilder(x), TypeError, "found ndarray; allowed: Tensor, Scalar"),
            (lambda: args.tagged([]), ValueError, "found 0 tensors; the arguments have 1"),
            (lambda: make_tensor_arg([1]), TypeError, "found list; allowed: a NumPy array"),
            (lambda: make_tensor_arg(x[::2]), TypeError, "found one with gaps"),
            (lambda: make_tensor_arg(x.astype("complex64")), TypeError, "elements of complex64")):
        with pytest.raises(kind, match=text):
            call()


def test_what_differs_is_the_first_element():
    found = TaskArgsBuilder(Tensor("x", numpy.zeros((2, 2), "float32")),
                            Tensor("b", npusim.to_bfloat16(numpy.float32([1, 2]))))
    golden = found.clone()
    assert difference(found, golden, 0, 0) == ""
    golden.x[1, 0], golden.b[1] = numpy.nan, npusim.to_bfloat16(numpy.float32([2.5]))[0]
    assert difference(found, golden, 0, 0) == (
        "x: 1 of 4 elements differ, the first is x[1, 0]: 0.0, golden nan; "
        "b: 1 of 2 elements differ, the first is b[1]: 2.0, golden 2.5")
    golden.x[1, 0] = 1e-3
    assert difference(found, golden, 0, 1e-2).startswith("b:")
