# SPDX-License-Identifier: Apache-2.0
"""Worker of level 2 and 3; the tests' machine has two cards."""

import random

import numpy
import pytest

import npusim
import sources
from npusim import ContinuousTensor, DataType, TaskArgs, TensorArgType
from npusim.tensor_uses import HOST, TensorUses

COUNT = 4000


@pytest.fixture(scope="session")
def simulator():
    made = npusim.Simulator("system-2x910b2")
    yield made
    made.close()


@pytest.fixture(scope="session")
def scale(tmp_path_factory):
    """y = 2 x: `(x, y, count)`."""
    folder = tmp_path_factory.mktemp("sources")
    sources.write(folder)
    return sources.scale_callable(npusim.KernelCompiler("910b2"), folder)


@pytest.fixture
def make(simulator):
    made = []

    def worker(level=3, **options):
        made.append(npusim.Worker(level, **options))
        return made[-1]
    yield worker
    for each in made:
        each.close()


@pytest.fixture
def worker(make):
    made = make(num_sub_workers=1)
    made.init()
    return made


def tensor(array, **options):
    return ContinuousTensor.make(array.ctypes.data, array.shape, DataType.FLOAT32, **options)


def doubled(x, y, tags=(TensorArgType.INPUT, TensorArgType.OUTPUT)):
    args = TaskArgs()
    for each, tag in zip((x, y), tags):
        args.add_tensor(each if isinstance(each, ContinuousTensor) else tensor(each), tag)
    args.add_scalar(COUNT)
    return args


def vectors(count):
    return [numpy.full(COUNT, i + 1, "float32") for i in range(count)]


def rows_of(worker, *names):
    return [tuple(row[name] for name in names) for row in worker.last_run()]


class Use:
    def __init__(self, number):
        self.number, self.ended = number, False


def overlap(one, other):
    return one["begun_ps"] < other["ended_ps"] and other["begun_ps"] < one["ended_ps"]


def test_level_2_is_one_card(make, scale):
    with make(2, device_id=1) as worker:
        x, y = vectors(1)[0], numpy.zeros(COUNT, "float32")
        worker.run(scale, sources.arguments_of(x, y), block_dim=2)
        assert (y == 2).all() and worker.device_ids == [1]
        assert worker.last_run()["result"]["completed"] == 1
        with pytest.raises(RuntimeError, match="is given its callable by run"):
            worker.register(print)
    with pytest.raises(RuntimeError, match="run: the worker is closed"):
        worker.run(scale, None)


def test_two_cards_run_at_the_same_time_and_right(worker, scale):
    inputs = vectors(2)
    outputs = [numpy.zeros_like(x) for x in inputs]

    def spread(orch, args, config):
        assert (args, config) == ("mine", 7)
        for x, y in zip(inputs, outputs):
            orch.submit_next_level(scale, sources.arguments_of(x, y))
    worker.run(spread, "mine", 7)
    assert [float(y[-1]) for y in outputs] == [2, 4]
    assert rows_of(worker, "task", "worker", "device", "outcome") == [(0, 0, 0, "done"),
                                                                      (1, 1, 1, "done")]
    first, second = worker.last_run()
    assert overlap(first, second)
    assert first["run"]["result"]["completed"] == second["run"]["result"]["completed"] == 1


def test_two_cards_take_less_simulated_time_than_one(simulator, make, scale):
    def time_on(ids):
        with make(device_ids=ids) as worker:
            x, results = vectors(1)[0], [numpy.zeros(COUNT, "float32") for _ in range(9)]

            def spread(orch, _args, _config):
                for y in results[:-1]:
                    orch.submit_next_level(scale, sources.arguments_of(x, y))
            worker.run(lambda orch, *_: orch.submit_next_level(  # firmware and kernel are there
                scale, sources.arguments_of(x, results[-1])))
            begin = simulator.now
            worker.run(spread)
            assert all((y == 2).all() for y in results)
            return simulator.now - begin
    one, two = time_on([0]), time_on([0, 1])
    assert 1.4 < one / two < 2.05, (one, two)


def test_a_task_waits_for_those_whose_tensors_it_needs(worker, scale):
    x, y, z = vectors(3)
    worker.run(lambda orch, *_: (orch.submit_next_level(scale, doubled(x, y)),
                                 orch.submit_next_level(scale, doubled(y, z)),
                                 orch.submit_next_level(scale, doubled(x, y))))
    assert rows_of(worker, "task", "waits_for") == [(0, []), (1, [0]), (2, [0, 1])]
    first, second, third = worker.last_run()
    assert first["ended_ps"] < second["begun_ps"] and second["ended_ps"] < third["begun_ps"]
    assert (z == 4).all() and (y == 2).all()


def test_parts_of_a_tensor_that_touch_count_and_nothing_beside_them():
    uses, tasks = TensorUses(), [Use(i) for i in range(6)]
    assert uses.add(tasks[0], [(HOST, 100, 50, False, True)]) == []
    assert uses.add(tasks[1], [(HOST, 149, 10, True, False)]) == [tasks[0]]
    assert uses.add(tasks[2], [(HOST, 150, 5, True, False)]) == []
    assert uses.add(tasks[3], [(0, 100, 50, True, True)]) == []
    assert uses.add(tasks[4], [(HOST, 90, 64, False, True)]) == tasks[:3]
    for task in tasks[:5]:
        task.ended = True
    assert uses.add(tasks[5], [(HOST, 0, 1000, True, True)]) == []


def test_calls_of_the_host_come_in_their_turn(make, scale):
    worker, seen = make(num_sub_workers=1), []
    x, y, z = vectors(3)
    look = worker.register(lambda args: seen.append((float(y[0]), args.tensor_count())))
    change = worker.register(lambda args: y.fill(10))
    alone = worker.register(lambda: seen.append("alone"))
    made = worker.register(scale)
    worker.init()

    def spread(orch, _args, _config):
        orch.submit_next_level(made, doubled(x, y))
        for number, tag in ((look, TensorArgType.INPUT), (change, TensorArgType.INOUT)):
            args = TaskArgs()
            args.add_tensor(tensor(y), tag)
            orch.submit_sub(number, args)
        orch.submit_next_level(made, doubled(y, z))
        orch.submit_sub(alone)
    worker.run(spread)
    assert seen == ["alone", (2.0, 1)] and (z == 20).all()
    assert rows_of(worker, "waits_for", "worker") == [([], 0), ([0], None), ([0, 1], None),
                                                      ([2], 0), ([], None)]


def test_a_group_is_one_task_of_several_cards(worker, scale):
    x, (a, b, c) = vectors(1)[0], vectors(3)
    worker.run(lambda orch, *_: (
        orch.submit_next_level_group(scale, [doubled(x, a), doubled(x, b)], workers=[1, 0]),
        orch.submit_next_level(scale, doubled(b, c))))
    assert (c == 4).all() and (a == 2).all()
    assert sorted(rows_of(worker, "task", "worker")) == [(0, 0), (0, 1), (1, 0)]
    group, after = worker.last_run()[:2], worker.last_run()[2]
    assert overlap(*group) and after["begun_ps"] > max(row["ended_ps"] for row in group)


def test_memory_of_a_card_stays_between_tasks(worker, scale):
    x, y, back = vectors(3)

    def spread(orch, _args, _config):
        place = orch.malloc(1, x.nbytes)
        orch.copy_to(1, place, x.ctypes.data, x.nbytes)
        kept = ContinuousTensor.make(place, (COUNT,), DataType.FLOAT32, child_memory=True)
        with orch.scope():
            orch.submit_next_level(scale, doubled(kept, kept), worker=1)
            orch.submit_next_level(scale, doubled(kept, y), worker=1)
        orch.copy_from(1, back.ctypes.data, place, x.nbytes)
        orch.free(1, place)
        with pytest.raises(npusim.Error, match="free on device 1"):
            orch.free(1, place)
    with pytest.raises(npusim.Error, match="free on device 1"):
        worker.run(spread)
    assert (y == 4).all() and (back == 2).all()


def test_what_fails_is_named_and_the_rest_runs(worker, scale):
    x, y, z, other = vectors(4)
    bad = npusim.ChipCallConfig()
    bad.aicpu_thread_num = 0

    def spread(orch, _args, _config):
        orch.submit_next_level(scale, doubled(x, y), bad, worker=1)
        orch.submit_next_level(scale, doubled(y, z))
        orch.submit_next_level(scale, doubled(x, other))
    with pytest.raises(npusim.Error, match="^invalid argument: build_scale on device 1: ") as caught:
        worker.run(spread)
    assert "\n" not in str(caught.value)
    assert rows_of(worker, "outcome") == [("failed",), ("not run",), ("done",)]
    assert (other == 2).all() and (z == 3).all()
    worker.run(lambda orch, *_: orch.submit_next_level(scale, doubled(x, y), worker=1))
    assert (y == 2).all()


def test_functions_of_the_host_that_fail(make, scale):
    worker, (x, y) = make(num_sub_workers=1), vectors(2)

    def verify(_args):
        raise KeyError("nothing")
    number = worker.register(verify)
    worker.init()

    def spread(orch, _args, _config):
        args = TaskArgs()
        args.add_tensor(tensor(x), TensorArgType.INOUT)
        orch.submit_sub(number, args)
        orch.submit_next_level(scale, doubled(x, y))
    with pytest.raises(RuntimeError, match="^verify: KeyError: 'nothing'$"):
        worker.run(spread)
    assert rows_of(worker, "outcome") == [("failed",), ("not run",)]

    def broken(orch, _args, _config):
        orch.submit_next_level(scale, doubled(x, y))
        raise LookupError("mine")
    with pytest.raises(LookupError, match="mine"):
        worker.run(broken)
    assert (y == 2).all(), "what was submitted has run"


def test_submissions_that_cannot_be(worker, scale):
    x, y = vectors(2)
    args, kept = doubled(x, y), doubled(tensor(x, child_memory=True), y)
    cases = [
        (ValueError, "worker: found 2; allowed: 0 to 1, -1 for any",
         lambda orch: orch.submit_next_level(scale, args, worker=2)),
        (ValueError, "tensor 0 is memory of a card", lambda orch: orch.submit_next_level(scale, kept)),
        (ValueError, "workers: found 1 for 2 runs",
         lambda orch: orch.submit_next_level_group(scale, [args, args], workers=[0])),
        (ValueError, "workers: found 0 for 0", lambda orch: orch.submit_next_level_group(scale, [])),
        (ValueError, "0 tensors and 0 scalars",
         lambda orch: orch.submit_next_level(scale, TaskArgs())),
        (TypeError, "arguments of type list", lambda orch: orch.submit_next_level(scale, [])),
        (TypeError, "a callable of type str", lambda orch: orch.submit_next_level("f", args)),
        (ValueError, "callable: found 9", lambda orch: orch.submit_next_level(9, args)),
        (TypeError, "config: a int", lambda orch: orch.submit_next_level(scale, args, 3)),
        (ValueError, "callable: found 0", lambda orch: orch.submit_sub(0)),
        (ValueError, "worker: found -1; allowed: 0 to 1$", lambda orch: orch.malloc(-1, 8)),
        (npusim.Error, "malloc on device 0", lambda orch: orch.malloc(0, 1 << 50)),
    ]
    for kind, text, call in cases:
        with pytest.raises(kind, match=text):
            worker.run(lambda orch, *_, call=call: call(orch))
    for wrong in (scale, None, 3):
        with pytest.raises(TypeError, match="level 3 runs a function"):
            worker.run(wrong)
    with pytest.raises(TypeError):
        worker.run(lambda *_: None, block_dim=3)


def test_workers_that_cannot_be(make, worker):
    for options, text in (({"level": 4}, "level: found 4; allowed: 2, 3"),
                          ({"runtime": "x"}, "runtime: found 'x'"),
                          ({"platform": "x"}, "no configuration 'x'"),
                          ({"platform": "a2a3", "device_ids": range(3)}, "found 3 cards"),
                          ({"device_ids": []}, "device_ids"), ({"device_ids": [1, 1]}, "each once"),
                          ({"device_ids": [-1]}, "device_ids"), ({"num_sub_workers": -1}, "0 or more")):
        with pytest.raises(ValueError, match=text):
            make(**options)
    with pytest.raises(ValueError, match="level 2 has one card"):
        npusim.Worker(2, platform="a2a3", device_ids=[0, 1])
    with pytest.raises(npusim.Error, match="card 0 is open"):
        make().init()
    with pytest.raises(ValueError, match="a machine of 'system-2x910b2'"):
        make(platform="950").init()
    for call, text in ((worker.init, "init: the worker is initialised"),
                       (lambda: worker.register(print), "register before init"),
                       (make().last_run, "the worker is new")):
        with pytest.raises(RuntimeError, match=text):
            call()
    with pytest.raises(TypeError, match="cannot be called"):
        make().register(3)


@pytest.mark.parametrize("seed", range(20))
def test_random_uses_wait_for_all_that_they_have_to_and_for_nobody_else(seed):
    chosen, uses = random.Random(seed), TensorUses()
    writer, readers = [None] * 60, [set() for _ in range(60)]  # byte by byte
    for number in range(80):
        wanted, ranges, touched = set(), [], []
        for _ in range(chosen.randrange(1, 4)):
            begin, size = chosen.randrange(50), chosen.randrange(1, 10)
            reads, writes = chosen.choice([(True, False), (False, True), (True, True)])
            ranges.append((HOST, begin, size, reads, writes))
            for place in range(begin, begin + size):
                wanted |= ({writer[place]} | (readers[place] if writes else set())) - {None}
                touched.append((writes, place))
        assert [task.number for task in uses.add(Use(number), ranges)] == sorted(wanted)
        for writes, place in sorted(touched):
            readers[place].add(number)
            if writes:
                writer[place], readers[place] = number, set()


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_give_what_one_after_the_other_gives(worker, scale, seed):
    chosen = random.Random(seed)
    arrays = vectors(6)
    wanted = [float(each[0]) for each in arrays]

    def spread(orch, _args, _config):
        for _ in range(25):
            source, target = chosen.sample(range(6), 2)
            wanted[target] = 2 * wanted[source]
            orch.submit_next_level(scale, doubled(arrays[source], arrays[target]),
                                   worker=chosen.choice([-1, -1, 0, 1]))
    worker.run(spread)
    assert [float(each[0]) for each in arrays] == wanted
    assert all((each == each[0]).all() for each in arrays)
    rows = worker.last_run()
    assert all(rows[other]["ended_ps"] < row["begun_ps"] for row in rows for other in row["waits_for"])
    for card in (0, 1):
        mine = sorted((row["begun_ps"], row["ended_ps"]) for row in rows if row["worker"] == card)
        assert all(one[1] <= two[0] for one, two in zip(mine, mine[1:]))


PROGRAM = """
import pathlib, sys, tempfile
sys.path.insert(0, {tests!r})
import npusim, sources
folder = pathlib.Path(tempfile.mkdtemp())
sources.write(folder)
scale = sources.scale_callable(npusim.KernelCompiler("a2a3sim"), folder)
with npusim.Worker(3, platform="a2a3sim", device_ids=[0, 1]) as worker:
    pairs = [sources.vectors() for _ in range(5)]
    worker.run(lambda orch, *_: [orch.submit_next_level(scale, sources.arguments_of(*pair))
                                 for pair in pairs])
    print([(row["worker"], row["begun_ps"], row["ended_ps"]) for row in worker.last_run()])
    print(npusim.current_simulator().now)
"""


def test_the_same_program_takes_the_same_time(script):
    import pathlib
    code = PROGRAM.format(tests=str(pathlib.Path(__file__).parent))
    assert script(code) == script(code)
