# SPDX-License-Identifier: Apache-2.0
"""Other threads while the machine runs, and signals. Counts decide, not clocks."""


def test_a_second_thread_gets_on(script):
    # With this interval nobody is asked to hand the interpreter's lock over: the thread counts when
    # a call gives it up by itself, and never else.
    script("""
import sys, threading
import npusim
sys.setswitchinterval(1e6)
simulator = npusim.Simulator("910b")
device = simulator.device(0)
memory = device.allocate(4096)
go, counted = threading.Lock(), 0
go.acquire()

def count():
    global counted
    with go:
        for _ in range(1000):
            counted += 1

thread = threading.Thread(target=count)
thread.start()
go.release()
assert counted == 0
for call in range(100000):
    memory.write(bytes(4096))
    if counted == 1000:
        break
assert counted == 1000
thread.join()
""")


LONG = """
import os, signal, sys, threading, time
import npusim
simulator = npusim.Simulator("910b2")
device = simulator.device(0)
size = 16 << 30
first, second = device.allocate(size), device.allocate(size)
stream = device.stream()
ticket = stream.copy(second, first)
inside = False

def send(number):
    # The main thread is in the call when this one counts: a lock that it has held until then.
    while not inside:
        time.sleep(0)
    for _ in range(1000):
        time.sleep(0)
    os.kill(os.getpid(), number)
"""


def test_control_c_ends_a_run(script):
    script(LONG + """
thread = threading.Thread(target=send, args=(signal.SIGINT,))
thread.start()
try:
    inside = True
    ticket.wait("polling")
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("the copy has ended")
thread.join()
for call in (ticket.done, lambda: device.allocate(1), lambda: simulator.device(0).info):
    try:
        call()
    except npusim.Error as error:
        assert error.code is npusim.ErrorCode.ABORTED
        assert error.context.startswith("the simulation has ended: "), error.context
    else:
        raise AssertionError("something happens after the end")
report = simulator.report()
assert report["outcome"] == "interrupted", report["outcome"]
assert 0 < report["simulated_ps"] == simulator.now
simulator.close()
""")


def test_a_handler_that_returns_ends_nothing(script):
    script("""
import os, signal, threading, time
import npusim
simulator = npusim.Simulator("910b2")
memory = simulator.device(0).allocate(1 << 20)
inside = False
heard = []
signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(simulator.now))
def knock():
    while not inside:
        time.sleep(0)
    while not heard:
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.001)
thread = threading.Thread(target=knock)
thread.start()
inside = True
begin = simulator.now
while not heard:
    memory.read()
thread.join()
assert simulator.now > begin
assert simulator.report()["outcome"] == "complete"
""")


def test_a_handler_cannot_use_the_machine_that_it_interrupts(script):
    script(LONG + """
found = []
def handler(number, frame):
    try:
        device.allocate(1)
    except RuntimeError as error:
        found.append(str(error))
    raise KeyboardInterrupt
signal.signal(signal.SIGUSR1, handler)
thread = threading.Thread(target=send, args=(signal.SIGUSR1,))
thread.start()
try:
    inside = True
    ticket.wait("polling")
except KeyboardInterrupt:
    pass
thread.join()
assert found == ["the simulator is in a call, which a signal has interrupted"], found
""")


def test_the_end_of_the_interpreter_with_everything_open(script):
    script("""
import npusim
simulator = npusim.Simulator("910b")
device = simulator.device(0)
keep = [device.upload(b"abc"), device.host_memory(64), device.stream(), device.event()]
ticket = keep[2].copy(keep[0], keep[1], 3)
""")


# As above, nobody is asked for the interpreter's lock: the thread that sends the signal gets on
# because the compilation does not have it.
COMPILING = """
import os, pathlib, signal, stat, subprocess, sys, tempfile, threading, time
import numpy, npusim
sys.setswitchinterval(1e6)
folder = pathlib.Path(tempfile.mkdtemp())
compiler, pid, cache = folder / "compiler", folder / "pid", folder / "cache"
compiler.write_text(f'''#!/bin/sh
[ "$1" = --version ] && exit 0
mkdir {folder}/first 2>/dev/null || exec c++ "$@"
echo $$ > {folder}/part
mv {folder}/part {pid}
exec sleep 100000
''')
compiler.chmod(0o700)
os.environ.update(NPUSIM_JIT_CXX=str(compiler), NPUSIM_JIT_CACHE_DIR=str(cache),
                  TMPDIR=str(folder))
simulator = npusim.Simulator("910b2")
one = numpy.ones(3, "float32")

def send(number):
    while not pid.exists():
        time.sleep(0.001)
    os.kill(os.getpid(), number)

def expect_nothing_left():
    try:
        os.kill(int(pid.read_text()), 0)
    except ProcessLookupError:
        pass
    else:
        raise AssertionError("the compiler lives")
    assert not [*cache.glob("*/*")] and not [*folder.glob("npujit-*")]
"""


def test_control_c_ends_a_compilation_and_not_the_machine(script):
    script(COMPILING + """
thread = threading.Thread(target=send, args=(signal.SIGINT,))
thread.start()
begin = simulator.device(0).info["allocations"]
try:
    npusim.ops.elementwise("a + a", one)
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("it was compiled")
thread.join()
expect_nothing_left()
assert simulator.device(0).info["allocations"] == begin + 2  # arguments of launches, tensors
assert (npusim.ops.elementwise("a + a", one) == 2).all()
assert npusim.ops.last_call()["origin"] == "compiled"
""")


def test_a_handler_during_a_compilation_cannot_compile_or_close(script):
    script(COMPILING + """
found = []
def handler(number, frame):
    for call in (lambda: npusim.ops.elementwise("a + a", one), simulator.close):
        try:
            call()
        except RuntimeError as error:
            found.append(str(error))
    raise KeyboardInterrupt
signal.signal(signal.SIGUSR1, handler)
thread = threading.Thread(target=send, args=(signal.SIGUSR1,))
thread.start()
try:
    npusim.ops.elementwise("a + a", one)
except KeyboardInterrupt:
    pass
thread.join()
assert found == 2 * ["a kernel is looked for, which a signal has interrupted"], found
expect_nothing_left()
assert (npusim.ops.elementwise("a + a", one) == 2).all()
""")


def test_a_forked_process_has_no_machine_and_ends(script):
    script("""
import os, sys
import numpy, npusim
simulator = npusim.Simulator("910b2")
device = simulator.device(0)
memory, host, one = device.upload(b"abc"), device.host_memory(64), numpy.ones(3, "float32")
child = os.fork()
if child == 0:
    found = []
    for call in (memory.read, lambda: npusim.ops.softmax(one[None]), lambda: device.allocate(1)):
        try:
            call()
        except RuntimeError as error:
            found.append(str(error))
    sys.exit(found != 3 * ["a simulator belongs to the process that has made it"])
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert memory.read() == b"abc"
""")
