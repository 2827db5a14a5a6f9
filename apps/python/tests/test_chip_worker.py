# SPDX-License-Identifier: Apache-2.0
import ctypes
import struct

import numpy
import pytest

import npusim
from npusim import ArgDirection, DataType, TensorArgType

COUNT = 128 * 128
IN, OUT, INOUT, SCALAR = (ArgDirection.IN, ArgDirection.OUT, ArgDirection.INOUT,
                          ArgDirection.SCALAR)
SIGNATURE = [IN, IN, OUT, INOUT, INOUT, INOUT, INOUT, SCALAR]
KERNEL = [OUT, IN, IN, SCALAR, SCALAR, SCALAR]
FILES = (npusim.host_library(), npusim.program_path("scheduler"), npusim.program_path("executor"))


@pytest.fixture
def worker(simulator):
    made = npusim.ChipWorker()
    made.init(*FILES)
    made.set_device(0)
    yield made
    made.finalize()


def example(children=None, function="vector_example", binary=None, signature=None):
    core = npusim.CoreCallable.build(KERNEL, npusim.program("elementwise"))
    return npusim.ChipCallable.build(
        SIGNATURE if signature is None else signature, function, binary or npusim.program("vector_example"),
        [(0, core)] if children is None else children)


def tensor(array, **options):
    return npusim.ContinuousTensor.make(array.ctypes.data, array.shape, DataType.FLOAT32, **options)


class Problem:
    def __init__(self, worker, kind=npusim.ChipStorageTaskArgs):
        self.a = numpy.full((128, 128), 2, "float32")
        self.b = numpy.full((128, 128), 3, "float32")
        self.f = numpy.zeros((128, 128), "float32")
        self.scratch = [worker.malloc(4 * COUNT) for _ in range(4)]
        self.args = kind()
        tags = [TensorArgType.INPUT, TensorArgType.INPUT, TensorArgType.OUTPUT]
        for array, tag in zip((self.a, self.b, self.f), tags):
            self.add(tensor(array), tag)
        for address in self.scratch:
            self.add(npusim.ContinuousTensor.make(address, (COUNT,), DataType.FLOAT32,
                                                  child_memory=True), TensorArgType.NO_DEP)
        self.args.add_scalar(COUNT)

    def add(self, made, tag):
        if isinstance(self.args, npusim.TaskArgs):
            self.args.add_tensor(made, tag)
        else:
            self.args.add_tensor(made)


@pytest.mark.parametrize("kind", [npusim.ChipStorageTaskArgs, npusim.TaskArgs])
def test_the_vector_example(worker, kind):
    problem = Problem(worker, kind)
    worker.run(example(), problem.args)
    assert (problem.f == 47.0).all()
    assert (problem.a == 2).all() and (problem.b == 3).all()
    assert worker.last_run()["result"]["completed"] == 5
    middle = numpy.empty(COUNT, "float32")
    worker.copy_from(middle.ctypes.data, problem.scratch[0], middle.nbytes)
    assert (middle == 5).all()


def test_configuration(worker):
    problem, made = Problem(worker), example()
    config = npusim.ChipCallConfig()
    assert (config.block_dim, config.aicpu_thread_num) == (1, 3)
    assert (config.enable_l2_swimlane, config.enable_dump_tensor, config.enable_pmu) == (
        False, False, 0)
    config.enable_l2_swimlane = True
    worker.run(made, problem.args, config)
    assert sorted(each["task"] for each in worker.last_run()["records"]) == [0, 1, 2, 3, 4]
    worker.run(made, problem.args, config, enable_l2_swimlane=False, enable_pmu=2, block_dim=4)
    assert config.enable_l2_swimlane and config.block_dim == 1
    found = worker.last_run()
    assert found["records"] == [] and len(found["pmu"]) == 12
    assert (problem.f == 47.0).all()
    with pytest.raises(AttributeError):
        worker.run(made, problem.args, blocks=3)
    with pytest.raises(AttributeError):
        config.blocks = 3
    with pytest.raises(npusim.Error) as caught:
        worker.run(made, problem.args, aicpu_thread_num=0)
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT


def test_memory(worker):
    data = numpy.arange(1000, dtype="int64")
    address = worker.malloc(data.nbytes)
    worker.copy_to(address, data.ctypes.data, data.nbytes)
    back = numpy.zeros_like(data)
    worker.copy_from(back.ctypes.data, address, back.nbytes)
    assert (back == data).all()
    worker.free(address)
    with pytest.raises(npusim.Error) as caught:
        worker.free(address)
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    with pytest.raises(npusim.Error) as caught:
        worker.malloc(1 << 50)
    assert caught.value.code is npusim.ErrorCode.OUT_OF_MEMORY


def test_order_of_calls(simulator):
    worker = npusim.ChipWorker()
    assert (worker.initialized, worker.device_set, worker.device_id) == (False, False, -1)
    args, made = npusim.ChipStorageTaskArgs(), example()
    calls = [lambda: worker.run(made, args), lambda: worker.malloc(1), lambda: worker.free(1),
             lambda: worker.copy_to(1, 1, 1), lambda: worker.copy_from(1, 1, 1), worker.last_run]
    for call in calls + [lambda: worker.set_device(0), worker.reset_device]:
        with pytest.raises(RuntimeError, match="is not initialised; call init"):
            call()
    worker.init(*FILES)
    assert (worker.initialized, worker.device_set) == (True, False)
    with pytest.raises(RuntimeError, match="its runtime cannot be changed"):
        worker.init(*FILES)
    for call in calls:
        with pytest.raises(RuntimeError, match="no device is set; call set_device"):
            call()
    worker.reset_device()
    with pytest.raises(npusim.Error) as caught:
        worker.set_device(7)
    assert caught.value.code is npusim.ErrorCode.NOT_FOUND
    worker.set_device(0)
    assert (worker.device_set, worker.device_id) == (True, 0)
    with pytest.raises(RuntimeError, match="call reset_device"):
        worker.set_device(0)
    with pytest.raises(npusim.Error) as caught:
        simulator.device(0)
    assert caught.value.code is npusim.ErrorCode.BUSY
    worker.reset_device()
    worker.set_device(0)
    problem = Problem(worker)
    worker.run(made, problem.args)
    assert (problem.f == 47.0).all()
    worker.finalize()
    worker.finalize()
    assert (worker.initialized, worker.device_set, worker.device_id) == (False, False, -1)
    for call in calls + [lambda: worker.set_device(0), worker.reset_device]:
        with pytest.raises(RuntimeError, match="the worker is finalised"):
            call()
    with pytest.raises(RuntimeError, match="cannot be initialised again"):
        worker.init(*FILES)
    with simulator.device(0) as device:
        assert not device.closed


def test_bad_files(simulator):
    worker = npusim.ChipWorker()
    with pytest.raises(FileNotFoundError):
        worker.init(FILES[0], "/nosuch", FILES[2])
    with pytest.raises(ValueError, match="cannot be loaded"):
        worker.init("/nosuch.so", *FILES[1:])
    with pytest.raises(ValueError, match="is no host runtime: it has no npu_last_error"):
        worker.init("libm.so.6", *FILES[1:])
    with pytest.raises(ValueError, match="sim_context: found '950'"):
        worker.init(*FILES, sim_context="950")
    assert not worker.initialized
    worker.init(*FILES, sim_context=simulator.config)
    worker.finalize()


def test_a_machine_of_its_own(script):
    script("""
import npusim
worker = npusim.ChipWorker()
worker.init(npusim.host_library(), npusim.program_path("scheduler"),
            npusim.program_path("executor"), "910b2")
assert npusim.current_simulator().config == "910b2"
worker.set_device(0)
worker.malloc(100)
worker.finalize()
""")


def test_callables_that_cannot_run(worker):
    problem = Problem(worker)
    with pytest.raises(ValueError, match="has no function 'nosuch'"):
        worker.run(example(function="nosuch"), problem.args)
    with pytest.raises(ValueError, match="the callable's binary cannot be loaded"):
        worker.run(example(binary=b"no object"), problem.args)
    with pytest.raises(TypeError):
        worker.run("vector_example", problem.args)
    with pytest.raises(TypeError):
        worker.run(example(), [1])
    with pytest.raises(ValueError, match="7 tensors and 1 scalars; .* has 2 and 1"):
        worker.run(example(signature=[IN, OUT, SCALAR]), problem.args)
    args = npusim.ChipStorageTaskArgs()
    with pytest.raises(npusim.Error) as caught:
        worker.run(example(signature=[]), args)
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    with pytest.raises(npusim.Error) as caught:
        worker.run(example(children=[(1, npusim.CoreCallable.build([], npusim.program("empty")))]),
                   problem.args, block_dim=1000)
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    worker.run(example(), problem.args)
    assert (problem.f == 47.0).all()


def test_a_child_that_changes(worker):
    problem = Problem(worker)
    matmul = npusim.CoreCallable.build([], npusim.program("matmul"))
    with pytest.raises(npusim.Error, match="6 arguments, kernel 0 .matmul. takes"):
        worker.run(example(children=[(0, matmul)]), problem.args)
    worker.run(example(), problem.args)
    assert (problem.f == 47.0).all()


def test_children_lie_at_multiples_of_64():
    binary = npusim.program("vector_example")
    images = [npusim.program(name) for name in ("empty", "elementwise", "matmul")]
    children = [(i, npusim.CoreCallable.build([], image)) for i, image in enumerate(images)]
    made = npusim.ChipCallable.build([], "f", binary, children, "mine")
    assert (made.func_name, made.config_name, made.child_count) == ("f", "mine", 3)
    whole = ctypes.string_at(made.buffer_ptr, made.buffer_size)
    assert whole.startswith(binary)
    for number, image in enumerate(images):
        offset = made.child_offset(number)
        assert offset % 64 == 0 and (made.buffer_ptr + offset) % 64 == 0
        assert whole[offset:offset + len(image)] == image
    assert made.buffer_size == made.child_offset(2) + len(images[2])
    with pytest.raises(KeyError):
        made.child_offset(3)


def test_callables_that_cannot_be():
    core = npusim.CoreCallable.build([], b"x")
    build = npusim.ChipCallable.build
    for children in ([(0, core), (0, core)], [(1024, core)], [(-1, core)]):
        with pytest.raises(ValueError, match="0 to 1023, each once"):
            build([], "f", b"x", children)
    with pytest.raises(TypeError):
        build([], "f", b"x", [(0, b"y")])
    with pytest.raises(ValueError):
        build([], "", b"x", [])
    with pytest.raises(ValueError):
        build([], "f", b"", [])
    with pytest.raises(ValueError, match="before the first scalar"):
        build([SCALAR, IN], "f", b"x", [])
    with pytest.raises(ValueError):
        build([9], "f", b"x", [])
    with pytest.raises(ValueError):
        npusim.CoreCallable.build([IN], b"")


def test_tensors_come_before_scalars():
    args = npusim.ChipStorageTaskArgs()
    made = npusim.ContinuousTensor.make(64, (2, 3), DataType.FLOAT16)
    args.add_tensor(made)
    args.add_scalar(-1)
    args.add_scalar(1.0)
    with pytest.raises(RuntimeError, match="all tensors come before the first scalar"):
        args.add_tensor(made)
    assert (len(args), args.tensor_count(), args.scalar_count()) == (3, 1, 2)
    assert args.tensor(0) is made
    assert [args.scalar(0), args.scalar(1)] == [(1 << 64) - 1, 0x3F80_0000]
    for call in (lambda: args.tensor(1), lambda: args.scalar(2), lambda: args.scalar(-1)):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(TypeError):
        args.add_scalar("1")
    args.clear()
    assert len(args) == 0
    with pytest.raises(TypeError):
        args.add_tensor(64)
    for _ in range(256):
        args.add_tensor(made)
    with pytest.raises(RuntimeError, match="256"):
        args.add_tensor(made)
    for _ in range(128):
        args.add_scalar(0)
    with pytest.raises(RuntimeError, match="128"):
        args.add_scalar(0)


def test_tags():
    args = npusim.TaskArgs()
    made = npusim.ContinuousTensor.make(64, (2,), DataType.INT8)
    args.add_tensor(made)
    for tag in TensorArgType:
        args.add_tensor(made, tag)
    assert [args.tag(i) for i in range(6)] == [TensorArgType.INPUT, *TensorArgType]
    assert [tag.name for tag in TensorArgType] == ["INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING",
                                                   "NO_DEP"]
    args.set_tag(0, TensorArgType.NO_DEP)
    assert args.tag(0) is TensorArgType.NO_DEP
    with pytest.raises(ValueError):
        args.add_tensor(made, 9)
    assert len(args) == 6
    with pytest.raises(IndexError):
        args.set_tag(6, 0)
    args.clear()
    with pytest.raises(IndexError):
        args.tag(0)


def test_types():
    sizes = dict(FLOAT32=4, FLOAT16=2, INT32=4, INT16=2, INT8=1, UINT8=1, BFLOAT16=2, INT64=8,
                 UINT64=8)
    assert [each.name for each in DataType] == list(sizes)
    for name, size in sizes.items():
        assert npusim.get_element_size(DataType[name]) == size
        assert npusim.get_dtype_name(DataType[name]) == name
    assert npusim.get_element_size(1) == 2
    for call in (npusim.get_element_size, npusim.get_dtype_name):
        with pytest.raises(ValueError):
            call(99)
    made = npusim.ContinuousTensor.make(4096, [2, 3, 4], DataType.INT16)
    assert (made.data, made.shapes, made.ndims, made.dtype, made.child_memory, made.nbytes()) == (
        4096, (2, 3, 4), 3, DataType.INT16, False, 48)
    assert npusim.ContinuousTensor.make(0, (1,), 0, child_memory=True).child_memory
    for shapes in ((), (0,), (1, -1), (1,) * 6):
        with pytest.raises(ValueError, match="shapes: found"):
            npusim.ContinuousTensor.make(0, shapes, DataType.INT8)


@pytest.mark.parametrize("value, bits", [
    (0, 0), (-1, (1 << 64) - 1), (1 << 63, 1 << 63), (True, 1), (1.0, 0x3F80_0000),
    (-2.5, 0xC020_0000), (ctypes.c_float(0.5), 0x3F00_0000), (ctypes.c_int32(-1), (1 << 64) - 1),
    (numpy.float32(1.5), 0x3FC0_0000), (numpy.int8(-1), (1 << 64) - 1)])
def test_scalars(value, bits):
    assert npusim.scalar_to_uint64(value) == bits


def test_scalars_that_are_no_fp32():
    assert npusim.scalar_to_uint64(float("inf")) == 0x7F80_0000
    assert npusim.scalar_to_uint64(0.1) == struct.unpack("<I", struct.pack("<f", 0.1))[0]
    with pytest.raises(TypeError):
        npusim.scalar_to_uint64(None)
