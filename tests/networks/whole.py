#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of several nodes, as exporters write them, on a simulated card: made with Debian's
python3-onnx, computed by NumPy, run by `npusim onnx` with all passes, with none and with all but one of
those that find something.

whole.py NPUSIM [--config NAME] [--large] [NAME]...: one line for each network and choice of passes.
"""
import argparse
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("no python3-onnx")
    sys.exit(77)

PASSES = ["identities", "constants", "batch_norm", "layer_norm", "rms_norm", "attention", "transpose",
          "bias", "elementwise"]


class Network:
    """A model under construction, and what its values are."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.values = [], [], [], {}
        self.operations = 0  # multiplications and additions of products

    def input(self, *sides):
        name = f"input{len(self.inputs)}"
        self.values[name] = self.random.uniform(-1, 1, sides).astype(np.float32)
        self.inputs.append(name)
        return name

    def hidden(self, batch, rows):
        """What is added to scores, from an input that says which rows are no padding."""
        shown = self.input(batch, rows)
        ends = self.random.integers(1, rows + 1, (batch, 1))
        self.values[shown] = (np.arange(rows) < ends).astype(np.int64)
        axes = self.constant(np.array([1, 2], np.int64))
        wide = self.node("Unsqueeze", [shown, axes], self.values[shown][:, None, None])
        name = f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node("Cast", [wide], [name], name=f"n{len(self.nodes)}",
                                           to=TensorProto.FLOAT))
        self.values[name] = self.values[wide].astype(np.float32)
        return self.binary("Mul", self.binary("Sub", self.real(1), name), self.real(-10000))

    def constant(self, array):
        name = f"constant{len(self.initializers)}"
        array = np.asarray(array)
        self.values[name] = array
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *sides):
        scale = 1 / np.sqrt(sides[0] if len(sides) == 2 else np.prod(sides[1:]))
        return self.constant((self.random.uniform(-1, 1, sides) * scale).astype(np.float32))

    def real(self, value):
        return self.constant(np.array(value, np.float32))

    def node(self, op, inputs, value, **attributes):
        name = f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}",
                                           **attributes))
        self.values[name] = np.asarray(value, self.values[inputs[0]].dtype)
        return name

    # Operators with NumPy's results.
    def of(self, *names):
        return [self.values[name] for name in names]

    def matmul(self, a, b):
        self.operations += 2 * np.matmul(*self.of(a, b)).size * self.values[a].shape[-1]
        return self.node("MatMul", [a, b], np.matmul(*self.of(a, b)))

    def binary(self, op, a, b):
        how = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
               "Pow": np.power}[op]
        return self.node(op, [a, b], how(*self.of(a, b)))

    def unary(self, op, a):
        x = self.values[a]
        value = {"Sqrt": lambda: np.sqrt(x), "Relu": lambda: np.maximum(x, 0),
                 "Sigmoid": lambda: 1 / (1 + np.exp(-x)), "Tanh": lambda: np.tanh(x),
                 "Reciprocal": lambda: 1 / x, "Identity": lambda: x, "Neg": lambda: -x,
                 "Erf": lambda: erf(x), "Softsign": lambda: x / (1 + np.abs(x))}[op]()
        return self.node(op, [a], value)

    def where(self, condition, a, b):
        name = f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node("Where", [condition, a, b], [name],
                                           name=f"n{len(self.nodes)}"))
        self.values[name] = np.where(*self.of(condition, a, b)).astype(np.float32)
        return name

    def transpose(self, a, *order):
        return self.node("Transpose", [a], np.transpose(self.values[a], order), perm=order)

    def reshape(self, a, *sides):
        shape = self.constant(np.array(sides, np.int64))
        return self.node("Reshape", [a, shape], self.values[a].reshape(sides))

    def mean(self, a):
        return self.node("ReduceMean", [a], self.values[a].mean(-1, keepdims=True), axes=[-1])

    def softmax(self, a):
        x = self.values[a]
        e = np.exp(x - x.max(-1, keepdims=True))
        return self.node("Softmax", [a], e / e.sum(-1, keepdims=True), axis=-1)

    # What exporters write out.
    def layer_norm(self, x, columns):
        apart = self.binary("Sub", x, self.mean(x))
        variance = self.mean(self.binary("Pow", apart, self.real(2)))
        root = self.unary("Sqrt", self.binary("Add", variance, self.real(1e-5)))
        scaled = self.binary("Mul", self.binary("Div", apart, root), self.weights(columns))
        return self.binary("Add", scaled, self.weights(columns))

    def rms_norm(self, x, columns):
        squares = self.mean(self.binary("Pow", x, self.real(2)))
        root = self.unary("Sqrt", self.binary("Add", squares, self.real(1e-6)))
        scaled = self.binary("Mul", x, self.unary("Reciprocal", root))
        return self.binary("Mul", self.weights(columns), scaled)

    def linear(self, x, rows, columns):
        return self.binary("Add", self.matmul(x, self.weights(rows, columns)),
                           self.weights(columns))

    def gelu(self, x):
        part = self.unary("Erf", self.binary("Div", x, self.real(np.sqrt(2))))
        return self.binary("Mul", self.binary("Mul", x, self.binary("Add", part, self.real(1))),
                           self.real(0.5))

    def silu(self, x):
        return self.binary("Mul", x, self.unary("Sigmoid", x))

    def heads(self, x, batch, rows, heads, size):
        return self.transpose(self.reshape(x, batch, rows, heads, size), 0, 2, 1, 3)

    def attention(self, q, k, v, size, hidden=None):
        scores = self.matmul(q, self.transpose(k, 0, 1, 3, 2))
        scores = self.binary("Div", scores, self.real(np.sqrt(size)))
        if hidden:
            scores = self.binary("Add", scores, hidden)
        return self.matmul(self.softmax(scores), v)

    def conv(self, x, channels, size, stride=1, bias=False):
        data = self.values[x]
        weights = self.weights(channels, data.shape[1], size, size)
        inputs = [x, weights]
        pad = size // 2
        wide = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(wide, (size, size), (2, 3))
        windows = windows[:, :, ::stride, ::stride]
        value = np.einsum("nchwij,ocij->nohw", windows, self.values[weights], optimize=True)
        if bias:
            inputs.append(self.constant(self.random.uniform(-1, 1, channels).astype(np.float32)))
            value += self.values[inputs[2]][:, None, None]
        return self.node("Conv", inputs, value, kernel_shape=[size, size], pads=[pad] * 4,
                         strides=[stride] * 2)

    def batch_norm(self, x, channels):
        tables = [self.constant(self.random.uniform(low, 1, channels).astype(np.float32))
                  for low in (0.5, -1, -1, 0.2)]
        scale, shift, mean, variance = (each[:, None, None] for each in self.of(*tables))
        value = (self.values[x] - mean) / np.sqrt(variance + 1e-5) * scale + shift
        return self.node("BatchNormalization", [x] + tables, value)

    def save(self, folder, output):
        def info(name):
            kind = TensorProto.INT64 if self.values[name].dtype == np.int64 else TensorProto.FLOAT
            return helper.make_tensor_value_info(name, kind, self.values[name].shape)

        graph = helper.make_graph(self.nodes, "network", [info(each) for each in self.inputs],
                                  [info(output)], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.save(model, str(folder / "model.onnx"))
        data = folder / "test_data_set_0"
        data.mkdir()
        tensors = [(f"input_{i}", each) for i, each in enumerate(self.inputs)]
        for name, value in tensors + [("output_0", output)]:
            array = numpy_helper.from_array(np.ascontiguousarray(self.values[value]), value)
            (data / f"{name}.pb").write_bytes(array.SerializeToString())


erf = np.vectorize(math.erf, otypes=[np.float64])


def bert(large):
    """Encoder layers with biases, erf, written-out norms and padding."""
    batch, rows, heads, size, layers = (2, 64, 12, 64, 2) if large else (3, 16, 2, 16, 1)
    width = heads * size
    net = Network(1)
    x = net.layer_norm(net.unary("Identity", net.input(batch, rows, width)), width)
    hidden = net.hidden(batch, rows)
    for _ in range(layers):
        q, k, v = (net.heads(net.linear(x, width, width), batch, rows, heads, size)
                   for _ in range(3))
        mixed = net.transpose(net.attention(q, k, v, size, hidden), 0, 2, 1, 3)
        out = net.linear(net.reshape(mixed, batch, rows, width), width, width)
        x = net.layer_norm(net.binary("Add", x, out), width)
        inner = net.gelu(net.linear(x, width, 4 * width))
        x = net.layer_norm(net.binary("Add", x, net.linear(inner, 4 * width, width)), width)
    return net, x


def llama(large):
    """A decoder layer with root mean squares and a gated unit."""
    rows, heads, size = (64, 8, 64) if large else (16, 2, 16)
    width = heads * size
    net = Network(2)
    x = net.input(1, rows, width)
    y = net.rms_norm(x, width)
    q, k, v = (net.heads(net.matmul(y, net.transpose(net.weights(width, width), 1, 0)), 1, rows,
                         heads, size) for _ in range(3))
    mixed = net.transpose(net.attention(q, k, v, size), 0, 2, 1, 3)
    x = net.binary("Add", x, net.matmul(net.reshape(mixed, 1, rows, width),
                                        net.weights(width, width)))
    y = net.rms_norm(x, width)
    gate = net.silu(net.matmul(y, net.weights(width, 3 * width)))
    up = net.matmul(y, net.weights(width, 3 * width))
    return net, net.binary("Add", x, net.matmul(net.binary("Mul", gate, up),
                                                net.weights(3 * width, width)))


def resnet(large):
    """Residual blocks as of ResNet-18, with normalisations behind convolutions."""
    side, widths, blocks = (32, (64, 128, 256, 512), 2) if large else (8, (8, 16), 1)
    net = Network(3)
    x = net.unary("Relu", net.batch_norm(net.conv(net.input(1, 3, side, side), widths[0], 3),
                                         widths[0]))
    for stage, width in enumerate(widths):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.unary("Relu", net.batch_norm(net.conv(x, width, 3, stride, True), width))
            y = net.batch_norm(net.conv(y, width, 3), width)
            if stride != 1:
                x = net.batch_norm(net.conv(x, width, 1, stride), width)
            x = net.unary("Relu", net.binary("Add", x, y))
    pooled = net.node("GlobalAveragePool", [x], net.values[x].mean((2, 3), keepdims=True))
    flat = net.node("Flatten", [pooled], net.values[pooled].reshape(1, -1))
    return net, net.linear(flat, widths[-1], 10)


def odd(large):
    """What passes must leave alone, or take the long way: results that are used twice, repeated
    sides, operands that stand twice, outputs in the middle of a chain."""
    net = Network(4)
    x, column = net.input(3, 5, 7), net.input(3, 5, 1)
    twice = net.binary("Mul", x, net.real([2.5]))
    y = net.binary("Add", net.unary("Softsign", net.unary("Tanh", twice)), twice)
    y = net.binary("Add", net.binary("Mul", y, column), net.unary("Neg", y))
    y = net.binary("Sub", y, net.weights(7))
    turned = net.transpose(y, 0, 2, 1)
    z = net.matmul(turned, y)
    return net, net.binary("Add", net.binary("Mul", z, net.binary("Pow", z, net.real(2))),
                           net.weights(7))


def attention(large):
    """Scales and masks of attention: causal ones of each kind, one that hides other keys, and one that
    depends on inputs; two sequences of several heads."""
    batch, rows, heads, size = (2, 64, 8, 64) if large else (2, 20, 3, 16)
    width = heads * size
    net = Network(5)
    x, given = net.input(batch, rows, width), net.input(1, 1, rows, rows)
    lower = np.tril(np.ones((rows, rows)))
    scale = net.real(1 / np.sqrt(size))

    def sums(shown):
        return net.constant(np.where(shown, 0, -1e9).astype(np.float32)[None, None])

    def masked(kind, scores):
        if kind == "sums":
            return net.binary("Add", scores, sums(lower))
        if kind == "computed":
            hidden = net.binary("Sub", net.real(1), net.constant(lower.astype(np.float32)))
            return net.binary("Add", net.binary("Mul", hidden, net.real(-1e5)), scores)
        if kind == "shows":
            return net.where(net.constant(lower != 0), scores, net.real(-np.inf))
        if kind == "hides":
            return net.where(net.constant(lower[None] == 0), net.real(-1e9), scores)
        if kind == "other":
            return net.binary("Add", scores, sums(np.arange(rows) % 3 != 1))
        if kind == "given":
            return net.binary("Add", scores, given)
        return scores

    for kind in ("none", "sums", "computed", "shows", "hides", "other", "given"):
        q, k, v = (net.reshape(net.matmul(x, net.weights(width, width)), batch, rows, heads, size)
                   for _ in range(3))
        q, v = net.transpose(q, 0, 2, 1, 3), net.transpose(v, 0, 2, 1, 3)
        k = net.transpose(k, 0, 2, 3, 1)
        if kind in ("sums", "hides"):  # the scale stands before the product
            q = net.binary("Mul", q, scale)
        scores = net.matmul(q, k)
        if kind not in ("sums", "hides"):
            scores = net.binary("Mul", scores, scale)
        out = net.matmul(net.softmax(masked(kind, scores)), v)
        if kind == "computed":  # two take it: the result is not turned by the operator
            out = net.binary("Add", out, net.unary("Tanh", out))
        out = net.reshape(net.transpose(out, 0, 2, 1, 3), batch, rows, width)
        x = net.binary("Add", x, out)
    return net, x


def sums(large):
    """Products by labels, as attention with relative places and bilinear layers have them."""
    batch, rows, width = (4, 64, 96) if large else (2, 5, 8)
    net = Network(6)
    x, y = net.input(batch, rows, width), net.input(batch, rows, width)

    def einsum(equation, *names):
        return net.node("Einsum", list(names), np.einsum(equation, *net.of(*names)),
                        equation=equation)

    scores = einsum("bid,bjd->bij", x, y)
    bent = einsum("b i d, d e, b i e -> b i", x, net.weights(width, width), y)
    place = einsum("bjk,rj->bkr", scores, net.weights(3, rows))
    mixed = einsum("...ij,...jd->...id", scores, y)
    whole = net.binary("Add", mixed, net.reshape(bent, batch, rows, 1))
    flat = einsum("bkr,bid->bd", place, x)
    same = einsum("bii->b", scores)
    return net, net.binary("Add", net.binary("Add", whole, net.reshape(flat, batch, 1, width)),
                           net.reshape(same, batch, 1, 1))


def run(npusim, config, model, choice):
    """The result of the program, and the passes that have found something."""
    done = subprocess.run([npusim, "--config", config, "onnx", str(model),
                           "--set", "passes=" + (",".join(choice) or "none")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    table = re.search(r"\npasses\n.*\n((?:  .*\n?)*)", done.stdout)
    return done, [row.split()[0] for row in table.group(1).splitlines()] if table else []


def operations_in(text):
    """Of the report's table of limits."""
    table = re.search(r"\nlimits of nodes\n.*\n((?:  .*\n?)*)", text)
    rows = table.group(1).splitlines() if table else []
    return sum(int(re.search(r" % +(\d+)", row).group(1)) for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("npusim")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--config", default="910b2")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    failed = 0
    for make in (bert, llama, resnet, odd, attention, sums):
        if options.names and make.__name__ not in options.names:
            continue
        net, output = make(options.large)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            net.save(folder, output)
            choices = [PASSES, []]
            while choices:
                choice = choices.pop(0)
                done, found = run(options.npusim, options.config, folder / "model.onnx", choice)
                if choice is PASSES and not options.large:
                    choices += [[e for e in PASSES if e != one] for one in found]
                gone = [each for each in PASSES if each not in choice]
                table = re.search(r"\nnetwork\n.*\n *(.*)", done.stdout)
                print(f"{make.__name__} without {','.join(gone) or 'nothing'}: "
                      f"{table.group(1) if table else ''}{done.stderr.strip()}", flush=True)
                # Those of other networks are not all of MatMul, or hide a part of the scores.
                if done.returncode == 0 and make in (bert, llama):
                    found = operations_in(done.stdout)
                    if found != net.operations:
                        print(f"{found} operations in the report, {net.operations} in the network")
                        failed += 1
                failed += done.returncode != 0
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
