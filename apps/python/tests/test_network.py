# SPDX-License-Identifier: Apache-2.0
"""Networks of ONNX: results as NumPy's, weights that stay, times, errors."""

import numpy
import pytest

import npusim

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def save(path, nodes, inputs, outputs, constants=()):
    def info(name, kind=TensorProto.FLOAT, sides=None):
        return helper.make_tensor_value_info(name, kind, sides)

    graph = helper.make_graph(nodes, "network", [info(*each) for each in inputs],
                              [info(*each) for each in outputs],
                              [numpy_helper.from_array(array, name) for name, array in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


@pytest.fixture(scope="module")
def weights():
    random = numpy.random.default_rng(1)
    return (random.standard_normal((32, 48)).astype("float32"), random.standard_normal(48).astype("float32"))


@pytest.fixture(scope="module")
def model(tmp_path_factory, weights):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"], name="/layer.0/MatMul"),
             helper.make_node("Add", ["product", "b"], ["sum"], name="/layer.0/Add"),
             helper.make_node("Relu", ["sum"], ["y"], name="/layer.1/Relu"),
             helper.make_node("Shape", ["y"], ["sides"], name="/layer.1/Shape")]
    return save(tmp_path_factory.mktemp("network") / "model.onnx", nodes,
                [("x", TensorProto.FLOAT, ["batch", 32])],
                [("y", TensorProto.FLOAT, ["batch", 48]), ("sides", TensorProto.INT64, [2])],
                [("w", weights[0]), ("b", weights[1])])


def test_results_are_those_of_numpy_for_each_shape(simulator, model, weights):
    with npusim.Network(model) as network:
        assert network.inputs == {"x": ("float32", (-1, 32))}
        for rows in (4, 1, 4):
            x = numpy.random.default_rng(rows).standard_normal((rows, 32)).astype("float32")
            found = network.run({"x": x})
            wanted = numpy.maximum(x @ weights[0] + weights[1], 0)
            numpy.testing.assert_allclose(found["y"], wanted, rtol=1e-3, atol=1e-3)
            assert found["sides"].tolist() == [rows, 48]


def test_later_runs_copy_no_weights_and_no_kernels(simulator, model):
    network = npusim.Network(model)
    x = numpy.ones((4, 32), "float32")
    first = network.run({"x": x})
    cold = network.last_run
    again = network.run({"x": x})
    warm = network.last_run
    numpy.testing.assert_array_equal(first["y"], again["y"])
    assert warm["total_ps"] < cold["total_ps"]
    assert 0 < warm["device_ps"] == sum(each["device_ps"] for each in warm["nodes"])
    assert warm["device_ps"] + warm["gap_ps"] == warm["total_ps"] == warm["host_ps"] + warm["wait_ps"]
    assert warm["peak_bytes"] >= 4 * (32 * 48 + 48)
    network.close()
    network.close()
    with pytest.raises(RuntimeError, match="closed"):
        network.run({"x": x})


def test_passes_are_chosen_by_name(simulator, model):
    with npusim.Network(model, passes=[]) as network:
        network.run({"x": numpy.ones((4, 32), "float32")})
        assert [each["operator"] for each in network.last_run["nodes"]] == ["MatMul", "Add", "Relu", "Shape"]
    with npusim.Network(model) as network:
        network.run({"x": numpy.ones((4, 32), "float32")})
        assert len(network.last_run["nodes"]) < 4
    with pytest.raises(ValueError, match="'nothing'.*attention"):
        npusim.Network(model, passes=["nothing"])


def test_inputs_that_are_wrong_are_told_and_the_network_goes_on(simulator, model):
    network = npusim.Network(model)
    x = numpy.ones((4, 32), "float32")
    for wrong, told in (({}, "'x' is missing"), ({"x": x, "z": x}, "'z'"),
                        ({"x": x.astype("float64")}, "float64.*float32"),
                        ({"x": x[:, :31]}, r"x: found an array of \(4, 31\); allowed: \(any, 32\)"),
                        ({"x": x[0]}, r"found an array of \(32\)")):
        with pytest.raises(ValueError, match=told):
            network.run(wrong)
    assert network.run({"x": x})["y"].shape == (4, 48)
    assert network.run({"x": [[1] * 32]})["y"].shape == (1, 48)


def test_what_cannot_be_mapped_is_named(simulator, tmp_path):
    path = save(tmp_path / "model.onnx", [helper.make_node("Det", ["x"], ["y"], name="one")],
                [("x", TensorProto.FLOAT, [3, 3])], [("y", TensorProto.FLOAT, [])])
    with pytest.raises(npusim.Error, match="Det 'one'"):
        npusim.Network(path)
    with pytest.raises(npusim.Error):
        npusim.Network(tmp_path / "none.onnx")


def test_the_host_computes_what_no_operator_does_if_it_may(simulator, tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["positive"], name="relu"),
             helper.make_node("NonZero", ["positive"], ["y"], name="places")]
    path = save(tmp_path / "model.onnx", nodes, [("x", TensorProto.FLOAT, [2, 3])],
                [("y", TensorProto.INT64, [2, "count"])])
    with pytest.raises(npusim.Error, match="NonZero 'places'; unmapped=host"):
        npusim.Network(path)
    with pytest.raises(ValueError, match="unmapped"):
        npusim.Network(path, unmapped="card")
    x = numpy.array([[-1, 2, 0], [3, -4, 5]], "float32")
    with npusim.Network(path, unmapped="host") as network:
        found = network.run({"x": x})
        relu, places = network.last_run["nodes"]
    assert numpy.array_equal(found["y"], numpy.nonzero(numpy.maximum(x, 0)))
    assert places["on_host"] and not relu["on_host"]
    assert places["host_ps"] > 0 and places["wait_ps"] > 0 and places["device_ps"] == 0


def test_types_that_the_cores_lack_are_computed_by_the_aicpus(simulator, tmp_path):
    path = save(tmp_path / "model.onnx", [helper.make_node("Add", ["x", "x"], ["y"])],
                [("x", TensorProto.DOUBLE, [3])], [("y", TensorProto.DOUBLE, [3])])
    with npusim.Network(path) as network:
        x = numpy.array([1, 2, 1e-300])
        numpy.testing.assert_array_equal(network.run({"x": x})["y"], 2 * x)


def test_strings_are_arrays_of_str(simulator, tmp_path):
    path = save(tmp_path / "strings.onnx",
                [helper.make_node("Cast", ["x"], ["number"], to=TensorProto.FLOAT),
                 helper.make_node("Add", ["number", "one"], ["sum"]),
                 helper.make_node("Cast", ["sum"], ["y"], to=TensorProto.STRING)],
                [("x", TensorProto.STRING, [2, "n"])], [("y", TensorProto.STRING, [2, "n"])],
                [("one", numpy.ones(1, "float32"))])
    with npusim.Network(path) as network:
        for x in (numpy.array([["1", "2.5"], ["-1e3", "NaN"]]), [["1", "2.5"], ["-1e3", "NaN"]]):
            assert network.run({"x": x})["y"].tolist() == [["2.0", "3.5"], ["-999.0", "nan"]]
        with pytest.raises(npusim.Error, match="a cast of string into float: element 1 is 'two'"):
            network.run({"x": [["1", "two"], ["3", "4"]]})
        for wrong in (numpy.ones((2, 2), "float32"), numpy.array([[1, "a"], ["b", "c"]], object)):
            with pytest.raises(ValueError, match="x: an array of str is wanted"):
                network.run({"x": wrong})
        assert network.run({"x": [["7"], ["8"]]})["y"].tolist() == [["8.0"], ["9.0"]]


def test_a_network_that_is_refused_waits_for_its_copies(simulator, tmp_path):
    path = save(tmp_path / "refused.onnx",
                [helper.make_node("Cast", ["text"], ["truth"], to=TensorProto.BOOL),
                 helper.make_node("Add", ["x", "many"], ["y"])],
                [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, ["n"]), ("truth", TensorProto.BOOL, [1])],
                [("many", numpy.ones(100_000, "float32")), ("text", numpy.array(["yes"], object))])
    with pytest.raises(npusim.Error, match="a cast of string into bool"):
        npusim.Network(path)
    assert npusim.ops.relu(numpy.array([-1, 2], "float32")).tolist() == [0, 2]


def test_a_device_that_is_closed_closes_its_networks(simulator, model):
    device = simulator.device(0)
    network = npusim.Network(model, device=device)
    device.close()
    with pytest.raises(RuntimeError, match="closed"):
        network.run({"x": numpy.ones((4, 32), "float32")})
    network.close()
