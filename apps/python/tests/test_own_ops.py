# SPDX-License-Identifier: Apache-2.0
"""Operators of one's own: what a call is told that cannot be, and what their sources do wrong."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy
import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "operators"
SOURCE = (EXAMPLES / "rms_norm_plus_one.cpp").read_text()
DESCRIPTION = (EXAMPLES / "rms_norm_plus_one.yaml").read_text()
CALL = """
import numpy, npusim
x, weight = numpy.ones((2, 4), "float16"), numpy.ones(4, "float16")
"""


def write_operator(folder, source):
    (folder / "own.yaml").write_text(DESCRIPTION.replace("rms_norm_plus_one", "own"))
    (folder / "own.cpp").write_text(source)
    return {**os.environ, "NPUSIM_OPERATORS_PATH": str(folder)}


def in_host(statement):
    """The source with a statement at the begin of the host's function."""
    at = SOURCE.index("{", SOURCE.index("void host(")) + 1
    return SOURCE[:at] + f" {statement} " + SOURCE[at:]


@pytest.fixture(scope="module", autouse=True)
def folder():
    os.environ["NPUSIM_OPERATORS_PATH"] = str(EXAMPLES)
    yield
    del os.environ["NPUSIM_OPERATORS_PATH"]


def test_what_cannot_be(simulator):
    from npusim import ops
    x, weight = numpy.ones((2, 4), "float16"), numpy.ones(4, "float16")
    name = "rms_norm_plus_one"
    assert ops.call(name, x, weight, outDType="float16").dtype == x.dtype
    for wrong, error, told in (
            (lambda: ops.call(7, x), TypeError, "name: found a int; allowed: a str"),
            (lambda: ops.call(name, x, weight, sides="n=3"), TypeError, "sides: found a str; allowed: a dict"),
            (lambda: ops.call(name, x, weight, sides=[1]), TypeError, "sides: found a list; allowed: a dict"),
            (lambda: ops.call(name, x, weight, sides={1: 2}), TypeError, "sides: found a int as a name"),
            (lambda: ops.call(name, x, weight, sides={"n": -1}), ValueError, "'n'.: found -1; allowed: 0 to"),
            (lambda: ops.call(name, x, weight, sides={"n": 2.5}), ValueError, "'n'.: found 2.5; allowed: 0 to"),
            (lambda: ops.call(name, x, weight, sides={"n": 1 << 70}), ValueError, "allowed: 0 to 2147483647")):
        with pytest.raises(error, match=told) as caught:
            wrong()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ("float32", "int8", "bfloat16"))
def test_the_description_says_the_types_of_results(simulator, kind):
    import npusim
    x, weight = numpy.ones((2, 4), "float16"), numpy.ones(4, "float16")
    with pytest.raises(npusim.Error, match=f"y: {kind}; the operator has float16"):
        npusim.ops.call("rms_norm_plus_one", x, weight, outDType=kind)
    with pytest.raises(npusim.Error, match="y: float32; the operator has int8"):
        npusim.ops.call("swi_glu_quant", x, outDType="float32")


@pytest.mark.parametrize("statement, told", (
    ("throw 1;", "own.cpp: the host's function has thrown int"),
    ('throw std::runtime_error("x");', "own.cpp: the host's function has thrown std::runtime_error: x"),
    ("return stream.refuse(nullptr);", "does not say why")))
def test_what_the_host_function_throws_is_an_error_of_the_call(tmp_path, statement, told):
    code = CALL + f"""
with npusim.Simulator("910b2"):
    for _ in range(2):
        try:
            npusim.ops.call("own", x, weight)
        except RuntimeError as error:
            assert {told!r} in str(error), str(error)
            assert "E549" not in str(error) and "\\n" not in str(error)
        else:
            raise AssertionError("it has run")
        assert (npusim.ops.relu(x) == 1).all()
"""
    source = "#include <stdexcept>\n" + in_host(statement)
    done = subprocess.run([sys.executable, "-c", code], env=write_operator(tmp_path, source), check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_second_control_c_ends_a_kernel_that_does_not(tmp_path):
    endless = SOURCE.replace("  port.pipe_barrier(Pipe::kAll);", "  for (volatile int i = 0;;) i = 1;")
    assert endless != SOURCE
    code = CALL + """
simulator = npusim.Simulator("910b2")
npusim.ops.relu(x)
print("ready", flush=True)
npusim.ops.call("own", x, weight)
"""
    process = subprocess.Popen([sys.executable, "-c", "import signal\nsignal.signal(signal.SIGINT, "
                                "signal.default_int_handler)\n" + code],
                               env=write_operator(tmp_path, endless), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        wait_until_busy(process.pid)
        process.send_signal(signal.SIGINT)
        subprocess.run([sys.executable, "-c", f"import os; os.kill({process.pid}, {int(signal.SIGINT)})"],
                       check=True)  # another sender's, as of a terminal and a supervisor
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_until_busy(pid):
    """Until it has computed for a second without a compiler below it."""
    def ticks():
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])

    def compiles():
        return bool(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    deadline, begin = time.monotonic() + 300, None
    while time.monotonic() < deadline:
        if compiles():
            begin = ticks()
        elif begin is not None and ticks() - begin > os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.1)
    raise AssertionError("it does not compute")
