# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import threading

import pytest

import npusim

PROGRAM = os.environ["NPUSIM_PROGRAM"]


def program_says(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "config", "check"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2
    return done.stderr.strip().removeprefix("npusim: ")


@pytest.mark.parametrize("config, overrides, arguments", [
    ("910b", {"generation": 9}, ["--set", "link.generation=9"]),
    ("910b", {"link.generation": "fast"}, ["--set", "link.generation=fast"]),
    ("910b", {"generatoin": 4}, ["--set", "generatoin=4"]),
    ("910b", {"clock": 4}, ["--set", "clock=4"]),
    ("910x", {}, []),
    ("/", {}, []),
    ("910b", {"faults": "link_dwn"}, ["--set", "faults=link_dwn"]),
    ("910b", {"faults": "hung_core,core=9999"}, ["--set", "faults=hung_core,core=9999"]),
])
def test_bad_input_is_the_programs_one_line(config, overrides, arguments):
    with pytest.raises(ValueError) as caught:
        npusim.Simulator(config, **overrides)
    line = str(caught.value)
    assert "\n" not in line and line
    assert line == program_says("--config", config, *arguments)


def test_a_failed_simulator_is_none(script):
    assert script("""
import npusim
try:
    npusim.Simulator("910b", generation=9)
except ValueError:
    pass
assert npusim.current_simulator() is None
simulator = npusim.Simulator("910b", generation=4)
assert npusim.current_simulator() is simulator
print(simulator.report()["overrides"])
""") == "[{'given': 'generation=4', 'key': 'link.generation', 'value': 4}]\n"


def test_faults_happen_in_every_call(script):
    copy = """
import numpy
import npusim
simulator = npusim.Simulator("910b"{})
device = simulator.device()
memory = device.allocate(1 << 20)
memory.write(numpy.zeros(1 << 20, numpy.uint8))
print(simulator.now)
"""
    usual = int(script(copy.format("")))
    slow = int(script(copy.format(', faults="link_retrained,lanes=1,at=1us;bad_tlp,at=2us"')))
    assert slow > usual


def test_a_process_has_one(simulator):
    with pytest.raises(npusim.Error) as caught:
        npusim.Simulator("910b")
    assert caught.value.code is npusim.ErrorCode.ALREADY_EXISTS
    assert "one simulator in its life" in caught.value.context
    assert str(caught.value) == f"already exists: {caught.value.context}"


def test_closed_it_still_reports(script):
    script("""
import npusim, pytest
with npusim.Simulator("910b") as simulator:
    device = simulator.device(0)
    memory = device.upload(b"abc")
assert device.closed
now = simulator.now
assert now > 0
assert simulator.report()["simulated_ps"] == now
for call in (lambda: simulator.device(0), memory.read, lambda: device.allocate(1)):
    with pytest.raises(RuntimeError, match="closed"):
        call()
simulator.close()
with pytest.raises(npusim.Error, match="one simulator"):
    npusim.Simulator("910b")
""")


def counters(report):
    # What a run without submissions has no quotient of.
    return {each["name"] for each in report["counters"]
            if not each["name"].endswith("_per_submission")}


def test_the_report_is_the_programs(script):
    code = """
import json, npusim
simulator = npusim.Simulator("910b", **{"link.generation": 4, "link.lanes": 8})
simulator.device(0).upload(bytes(4096))
print(json.dumps(simulator.report()))
"""
    report = json.loads(script(code))
    shown = subprocess.run(
        [PROGRAM, "--config", "910b", "--set", "link.generation=4", "--set", "link.lanes=8", "run",
         "enumerate", "--report", "/dev/stdout"], capture_output=True, text=True, check=True).stdout
    theirs, end = json.JSONDecoder().raw_decode(shown)
    assert end > 0
    assert list(report) == list(theirs)
    for name in ("schema", "npusim", "config", "config_sha256", "overrides", "configuration",
                 "ceilings", "outcome"):
        assert report[name] == theirs[name], name
    assert counters(report) == counters(theirs)
    assert report["workload"] == "python"
    assert [each["name"] for each in report["programs"]] == ["scheduler", "executor"]
    assert report == json.loads(script(code))  # the same program, the same report


def test_the_table_has_the_counters(simulator, device):
    device.upload(bytes(100))
    rows = simulator.table()
    assert all(set(row) == {"name", "value", "unit"} for row in rows)
    by_name = {row["name"]: row for row in rows}
    assert by_name["card0.dma.faults"] == {"name": "card0.dma.faults", "value": 0, "unit": ""}
    assert by_name["card0.link.down.bytes"]["value"] > 100
    assert by_name["card0.link.down.bytes"]["unit"] == "B"


def test_time_passes_in_calls_alone(simulator, device):
    before = simulator.now
    assert simulator.now == before
    device.upload(bytes(100))
    assert simulator.now > before


def test_it_belongs_to_its_thread(simulator, device):
    found = []

    def call():
        try:
            device.allocate(100)
        except RuntimeError as error:
            found.append(str(error))
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert found == ["a simulator belongs to the thread that has made it"]


def test_devices(simulator, device):
    assert simulator.device_count == 1
    assert simulator.device(0) is device
    assert (device.index, device.closed) == (0, False)
    info = device.info
    assert (info["bdf"], info["index"], info["clusters"]) == ("01:00.0", 0, 24)
    assert info["memory_free_bytes"] <= info["memory_bytes"]
    with pytest.raises(npusim.Error) as caught:
        simulator.device(1)
    assert caught.value.code is npusim.ErrorCode.NOT_FOUND
    assert caught.value.context == "no card 1: the machine has 1"
    with pytest.raises(ValueError, match="index: found -1; allowed: 0 to 0"):
        simulator.device(-1)


def test_a_device_opens_again(simulator, device):
    memory = device.upload(b"abc")
    device.close()
    device.close()
    assert device.closed
    with pytest.raises(RuntimeError, match="the device is closed"):
        memory.read()
    again = simulator.device(0)
    assert again is not device
    assert again.upload(b"abc").read() == b"abc"


def test_a_timeline_and_a_page_are_files(simulator, tmp_path):
    simulator.record()
    with simulator.trace(tmp_path / "trace.json"):
        assert not (tmp_path / "trace.json").exists()
        with pytest.raises(npusim.Error, match="a timeline is being written"):
            simulator.trace(tmp_path / "other.json")
        simulator.device(0).upload(b"hello").read()
    events = json.loads((tmp_path / "trace.json").read_text())
    assert events["otherData"]["workload"] == "python"
    assert any(each.get("ph") == "X" and each["dur"] > 0 for each in events["traceEvents"])
    simulator.html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!") and "npusim.report/3" in page
    for wrong in (simulator.trace, simulator.html):
        with pytest.raises(npusim.Error):
            wrong(tmp_path / "nowhere" / "file")
