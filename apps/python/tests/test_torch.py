# SPDX-License-Identifier: Apache-2.0
"""Torch's tensors on the card beside torch on the host; all but the first test skip where torch is missing."""

import copy
import os
import pathlib
import random
import re

import numpy
import pytest

import npusim
from npusim import ops

try:
    import torch
    import torch.nn.functional as F
    import npusim.torch as card
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is missing: python3-torch of Debian has it")
REALS = ("float32", "float16", "bfloat16")
ERROR = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}  # of the largest element
CHAINS = int(os.environ.get("NPUSIM_TORCH_CHAINS", "40"))


@pytest.fixture(autouse=True)
def inference(simulator):
    if torch is None:
        yield
        return
    torch.manual_seed(1)
    with torch.no_grad():
        yield


def check(found, wanted):
    """Torch's shape, type, and elements within the type's error."""
    assert isinstance(found, card.CardTensor)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    found = found.cpu()
    if not wanted.dtype.is_floating_point:
        assert torch.equal(found, wanted)
        return
    found, exact = found.double(), wanted.double()
    assert torch.equal(found.isfinite(), exact.isfinite())
    found, exact = found[found.isfinite()], exact[exact.isfinite()]
    if exact.numel():
        allowed = ERROR[str(wanted.dtype)[6:]] * max(exact.abs().max().item(), 0.01)
        assert (found - exact).abs().max().item() <= allowed


def both(function, *tensors):
    """Runs it on the card; on the host in float64."""
    wanted = function(*(each.double() if each.is_floating_point() else each for each in tensors))
    found = function(*(card.to(each) for each in tensors))
    kept = tensors[0].dtype if tensors[0].is_floating_point() else None
    for one, other in zip(*((each if isinstance(each, (tuple, list)) else [each]) for each in (found, wanted))):
        check(one, other.to(kept) if kept and other.is_floating_point() else other)


def test_without_torch_one_line_says_so(script):
    text = script("""
import sys
sys.modules["torch"] = None
import npusim
try:
    import npusim.torch
except ImportError as error:
    print(error)
""")
    assert text.startswith("npusim.torch needs PyTorch (python3-torch of Debian): ") and text.count("\n") == 1


@needs_torch
@pytest.mark.parametrize("name", "float16 bfloat16 float32 int8 int32 int64 uint8 bool".split())
def test_bytes_go_there_and_back(name):
    for shape in ((), (0,), (1,), (7, 13), (3, 0, 2)):
        x = (torch.randn(shape) * 3).to(getattr(torch, name))
        moved = card.to(x)
        assert (moved.shape, moved.dtype, moved.device.type) == (x.shape, x.dtype, "privateuseone")
        assert torch.equal(moved.cpu(), x) and torch.equal(moved.to("cpu"), x) and moved.tolist() == x.tolist()


@needs_torch
def test_an_npusim_tensor_is_shared_both_ways():
    on_card = npusim.tensor(numpy.arange(12, dtype="float32").reshape(3, 4))
    shared = card.from_npusim(on_card)
    assert shared.npusim().address == on_card.address == shared.view(4, 3).npusim().address
    shared.mul_(2)
    assert on_card.numpy()[2, 3] == 22
    assert card.from_npusim(npusim.empty(3, "uint16")).dtype == torch.bfloat16
    assert numpy.from_dlpack(shared)[0, 1] == 2


FORMULAS = [
    "x + y", "x - y", "x * y", "x / (y.abs() + 1)", "x + 2", "2 - x", "x * 0.5", "x / 3", "-x", "x.add(y, alpha=2)",
    "x + y[:1]", "y[:, :1] * x", "x ** 2", "x.abs() ** 0.5", "torch.rsqrt(x.abs() + 1)",
    "torch.reciprocal(x.abs() + 1)",
    "torch.exp(x)", "torch.log(x.abs() + 1)", "torch.tanh(x)", "torch.sigmoid(x)", "F.silu(x)", "F.gelu(x)",
    "F.gelu(x, approximate='tanh')", "torch.relu(x)", "F.leaky_relu(x)", "torch.erf(x)", "x.clamp(-0.5, 0.5)",
    "x.clamp(min=0)", "torch.maximum(x, y)", "torch.softmax(x, -1)", "torch.softmax(x, 0)", "torch.log_softmax(x, -1)",
    "F.layer_norm(x, x.shape[1:])", "F.layer_norm(x, x.shape[1:], y[0], y[1])", "F.group_norm(x, 1)", "x.sum()",
    "x.sum(0)", "x.mean(-1, keepdim=True)", "x.amax(1)", "x.max(1)", "x.min(0)", "x.argmax(1)", "x.argmax()",
    "x.topk(2)", "x @ y.T", "x.T @ y", "F.linear(x, y)", "F.linear(x, y, y[:, 0])",
    "torch.baddbmm(x[None, :, :1], x[None], y.T[None])", "x > y",
    "x <= 0.25", "torch.where(x > y, x, y)",
    "torch.where(x > 0, x, 0.)", "x.masked_fill(x > 0, -1.)", "torch.cat([x, y], 1)", "torch.stack([x, y], 1)",
    "x.repeat(2, 3)", "x[1]", "x[:, 1::2]", "x[..., None, -1]", "x.chunk(2, 1)", "x.T.reshape(-1)",
    "x.to(torch.int32)", "torch.zeros_like(x) + x", "x * (x > 0)", "~(x > 0) & (y > 0)",
    "x.clone().relu_() + x", "x.clone().add_(y).mul_(2)", "torch.add(x, y, out=torch.empty_like(x))",
    "x.repeat(1, 2).expand(2, -1, -1)",
    "F.pad(x, (1, 2, 0, 1), value=7)", "2.0 ** x", "F._scaled_dot_product_attention(x[None], y[None], y[None])[0]",
    "torch.einsum('ik,jk->ij', x, y)", "x.square().mean(-1, keepdim=True).add(1e-6).rsqrt() * x",
]


@needs_torch
@pytest.mark.parametrize("name", REALS)
def test_formulas_are_those_of_torch(name):
    x, y = (torch.randn(7, 13).to(getattr(torch, name)) for _ in range(2))
    for text in FORMULAS:
        try:
            both(lambda x, y, text=text: eval(text, {"torch": torch, "F": F, "x": x, "y": y}), x, y)
        except (AssertionError, RuntimeError) as error:
            raise AssertionError(f"{text} of {name}: {error}") from error


@needs_torch
def test_indices_choose_rows_wherever_they_are():
    table, indices = torch.randn(17, 5), torch.tensor([[3, 0], [16, 3]])
    for chosen in (indices, indices.int(), card.to(indices), card.to(indices.int())):
        check(F.embedding(chosen, card.to(table)), F.embedding(indices, table))
        check(card.to(table).index_select(0, chosen[0]), table[indices[0]])
        check(card.to(table.T.contiguous()).index_select(1, chosen[1]), table.T[:, indices[1]])
    for chosen in (indices - 17, card.to(indices - 17)):
        check(card.to(table)[chosen], table[indices])
    with pytest.raises(IndexError, match="17"):
        card.to(table)[torch.tensor([17])]
    for numbers in (torch.tensor([-5, 7, 0]), torch.tensor([2**40 + 1, -2**40])):
        check(card.to(numbers).int(), numbers.int())
    check(card.to(torch.tensor([-5, 7], dtype=torch.int32)).long(), torch.tensor([-5, 7]))


@needs_torch
def test_types_change_as_those_of_torch():
    for name in (*REALS, "int32", "bool"):
        for to in (*REALS, "int32", "bool"):
            x = (torch.randn(7, 13) * 3).to(getattr(torch, name))
            found = card.to(x).to(getattr(torch, to))
            check(found, x.to(getattr(torch, to)))


@needs_torch
@pytest.mark.parametrize("name", REALS)
def test_convolutions_and_norms_of_channels(name):
    dtype = getattr(torch, name)
    x, weight, bias = (each.to(dtype) for each in (torch.randn(2, 4, 7, 6), torch.randn(6, 2, 3, 2) / 4, torch.randn(6)))
    both(lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=1, dilation=(1, 2), groups=2), x, weight, bias)
    both(lambda x, w: F.conv1d(x[:, :, 0], w[:, :, 0], padding=1, groups=2), x, weight)
    norm = torch.rand(4, 4).to(dtype) + 0.5
    both(lambda x, n: F.batch_norm(x, n[0], n[1], n[2], n[3]), x, norm)


def transformer(hidden, heads):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.LayerNorm(hidden), torch.nn.LayerNorm(hidden)
            self.qkv, self.out = torch.nn.Linear(hidden, 3 * hidden), torch.nn.Linear(hidden, hidden)
            self.mlp = torch.nn.Sequential(torch.nn.Linear(hidden, 4 * hidden), torch.nn.GELU(),
                                           torch.nn.Linear(4 * hidden, hidden))

        def forward(self, x):
            batch, tokens, _ = x.shape
            q, k, v = self.qkv(self.first(x)).view(batch, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
            shares = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
            x = x + self.out((shares @ v).transpose(1, 2).reshape(x.shape))
            return x + self.mlp(self.second(x))
    return Block()


@needs_torch
@pytest.mark.parametrize("name", REALS)
def test_a_transformer_block_runs_on_the_card_without_a_copy(name, simulator):
    dtype = getattr(torch, name)
    block, x = transformer(64, 4).to(dtype), torch.randn(2, 17, 64).to(dtype)
    on_card, given = card.to(copy.deepcopy(block)), card.to(x)
    on_card(given)  # compiles
    with card.record() as rows:
        found = on_card(given)
    check(found, block.double()(x.double()).to(dtype))
    assert all(row["where"] == "card" and row["copied_bytes"] == 0 for row in rows)
    assert sum(row["operator"] == "aten.addmm.default" for row in rows) == 4
    assert all(0 < row["device_ps"] < row["total_ps"] and row["launches"] for row in rows)
    assert sum(row["launches"] for row in rows) <= 20 + 4 * (name == "bfloat16")  # whose biases are cast
    last = ops.last_call()
    assert last["device_ps"] < last["total_ps"]


@needs_torch
def test_modules_of_torch_run_as_they_are():
    for module, x in ((torch.nn.MultiheadAttention(32, 4, batch_first=True), torch.randn(2, 7, 32)),
                      (torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), torch.randn(2, 7, 32))):
        module = module.eval()
        run = (lambda m, x: m(x, x, x)[0]) if isinstance(module, torch.nn.MultiheadAttention) else (lambda m, x: m(x))
        check(run(card.to(copy.deepcopy(module)), card.to(x)), run(module, x))
    both_words = torch.nn.Embedding(7, 8)
    tied = torch.nn.Sequential(both_words, torch.nn.Linear(8, 7, bias=False))
    tied[1].weight = both_words.weight
    moved = card.to(copy.deepcopy(tied))
    assert moved[0].weight is moved[1].weight and not moved[0].weight.requires_grad
    check(moved(torch.tensor([[1, 6]])), tied(torch.tensor([[1, 6]])))
    twin = copy.deepcopy(moved)
    twin.load_state_dict({name: each * 2 for name, each in tied.state_dict().items()})
    check(twin.half()[0].weight, (tied[0].weight * 2).half())
    check(moved[0].weight, tied[0].weight)
    assert isinstance(moved.cpu()[0].weight, torch.nn.Parameter) and moved[0].weight.device.type == "cpu"


@needs_torch
def test_what_the_card_has_not_is_named_and_the_host_does_it_on_request():
    x = torch.randn(5, 7)
    moved = card.to(x)
    for wrong, told in ((lambda: torch.cumsum(moved, 0), "aten.cumsum.default"),
                        (lambda: card.to(torch.tensor([1])) + 1, "aten.add.Tensor: .*int64"),
                        (lambda: moved.__setitem__(0, 1), "aten.index_put_"),
                        (lambda: torch.cumsum(moved, 0, out=torch.empty_like(moved)), "aten.cumsum.out"),
                        (lambda: moved.cumsum_(0), "aten.cumsum_"),
                        (lambda: moved.to(torch.float64), "float64")):
        with pytest.raises(NotImplementedError, match=told) as found:
            wrong()
        assert "\n" not in str(found.value)
    with card.record(fallback=True) as rows:
        check(torch.cumsum(torch.relu(moved), 0), torch.cumsum(torch.relu(x), 0))
        changed = moved.clone()
        changed.cumsum_(0)
        check(changed, x.cumsum(0))
    assert [(row["operator"], row["copied_bytes"]) for row in rows if row["where"] == "host"] == [
        ("aten.cumsum.default", 2 * 140), ("aten.cumsum_.default", 2 * 140)]
    with pytest.raises(NotImplementedError):
        torch.cumsum(moved, 0)


@needs_torch
def test_errors_say_what_is_wrong(device):
    x = card.to(torch.randn(3, 4))
    part = x[1]
    for kind, wrong, told in ((RuntimeError, lambda: x @ x, "shapes|multiplied|size"),
                              (RuntimeError, lambda: x + torch.ones(3, 4), "on the host"),
                              (RuntimeError, lambda: x + card.to(torch.ones(5, 4)), "size|shape"),
                              (NotImplementedError, lambda: x.add_(1), "view as a copy"),
                              (NotImplementedError, lambda: part.add_(1), "view as a copy"),
                              (NotImplementedError, lambda: card.to(torch.ones(3, 4)).T.add_(1), "turned"),
                              (ValueError, lambda: card.to(torch.ones(3).double()), "float64"),
                              (TypeError, lambda: card.to([1]), "list"),
                              (TypeError, lambda: card.from_npusim([1]), "list"),
                              (ValueError, lambda: card.from_npusim(npusim.empty(3, "int16")), "int16"),
                              (IndexError, lambda: x[3], "3")):
        with pytest.raises(kind, match=told):
            wrong()
    del part
    x.add_(1)
    for wrong in (x.requires_grad_, lambda: setattr(x, "requires_grad", True), lambda: torch.nn.Parameter(x)):
        with pytest.raises(NotImplementedError, match="inference"):
            wrong()


@needs_torch
def test_the_page_runs(script):
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"
    (code, printed), = re.findall(r"^```py\n(.*?)^```\n+```\n(.*?)^```", page.read_text(), re.S | re.M)
    assert script(code) == printed


def views(x, pick):
    """A random view or move, as a function of a tensor of this shape."""
    axis = pick.randrange(x.ndim)
    other, side = pick.randrange(x.ndim), x.shape[axis]
    begin = pick.randrange(side + 1)
    order = pick.sample(range(x.ndim), x.ndim)
    rows = [pick.randrange(side) for _ in range(pick.choice((0, 1, 5)))] if side else []
    rows = torch.tensor(rows, dtype=torch.int64)
    return [lambda x: x.transpose(axis, other), lambda x: x.permute(order), lambda x: x.reshape(-1, 1),
            lambda x: x.reshape(x.shape[::-1]), lambda x: x.unsqueeze(axis) if x.ndim < 5 else x, lambda x: x.squeeze(),
            lambda x: x.narrow(axis, begin, side - begin), lambda x: x[..., :3], lambda x: x.contiguous(),
            lambda x: x.select(axis, side - 1) if side else x, lambda x: x.index_select(axis, rows),
            lambda x: torch.cat([x, x], axis), lambda x: x.unsqueeze(0).expand(2, *x.shape) if x.ndim < 5 else x,
            lambda x: x.flatten(), lambda x: x.repeat(*[2] * x.ndim)]


def sums(x, pick):
    """A random operator that computes."""
    axis, factor = pick.randrange(x.ndim), pick.choice((2, 0.5))
    return [torch.relu, torch.tanh, torch.sigmoid, F.silu, F.gelu,
            lambda x: x * factor, lambda x: 1 - x, lambda x: x / 4,
            lambda x: x + x.narrow(axis, 0, min(1, x.shape[axis])) if x.shape[axis] else x, lambda x: x * (x > 0),
            lambda x: torch.softmax(x, axis), lambda x: F.layer_norm(x, x.shape[-1:], eps=0.1) if x.shape[-1] else x,
            lambda x: x.sum(axis) / 8, lambda x: x.mean(axis, keepdim=True) if x.shape[axis] else x,
            lambda x: x.amax(axis) if x.shape[axis] else x,
            lambda x: x @ x.transpose(-1, -2) / 8 if x.ndim > 1 else x, lambda x: torch.where(x > 0.5, x, -x)]


@needs_torch
@pytest.mark.parametrize("name", REALS)
def test_random_chains_are_those_of_torch(name):
    for seed in range(CHAINS):
        pick = random.Random(f"{name} {seed}")
        dtype = getattr(torch, name)
        shape = [pick.choice((0, 1, 1, 2, 3, 7, 17)) for _ in range(pick.randrange(1, 5))]
        found = card.to(torch.randn(shape).to(dtype))
        done = [tuple(shape)]
        for _ in range(8):
            if found.ndim == 0 or found.numel() > 3000:
                break
            kind = pick.choice((views, sums))
            at = pick.randrange(len(kind(found, random.Random(0))))
            inner = pick.random()
            step = kind(found, random.Random(inner))[at]
            before = found.cpu()  # what the card has: each step is compared by itself
            found = step(found)
            done.append((kind.__name__, at, tuple(found.shape)))
            try:
                check(found, step(before.double()).to(dtype))
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {done}: {error}") from error


def changed(x, pick):
    """A random operator in place."""
    return pick.choice([lambda x: x.add_(1), lambda x: x.mul_(0.5), lambda x: x.relu_(), lambda x: x.zero_(),
                        lambda x: x.copy_(torch.sigmoid(x)), lambda x: torch.sub(x, 1, out=x), lambda x: x.fill_(3),
                        lambda x: x.copy_(torch.ones(x.shape)), lambda x: x.add_(x[:1])])


@needs_torch
def test_what_is_written_in_place_is_seen_by_all_views_or_refused():
    ran = refused = 0
    for seed in range(CHAINS):
        pick = random.Random(seed)
        host = torch.randn([pick.choice((0, 1, 2, 3, 5)) for _ in range(pick.randrange(1, 4))])
        pairs = [(host, card.to(host))]
        for _ in range(14):
            host, found = pick.choice(pairs)
            in_place, inner = pick.random() < 0.4, pick.random()
            if host.ndim == 0 or host.numel() > 500:
                continue
            if in_place:
                step = changed(host, pick)
            else:
                at = pick.randrange(len(views(host, random.Random(inner))))
                step = views(host, random.Random(inner))[at]
            try:
                made = step(found)
            except NotImplementedError:
                refused += 1
                continue
            try:
                wanted = step(host)
            except RuntimeError:  # in place where elements share their memory, of which the card has copies
                break
            ran += 1
            pairs += [] if in_place else [(wanted, made)]
            for one, other in pairs:
                check(other, one)
            if len(pairs) > 6:
                del pairs[pick.randrange(len(pairs))]
    assert ran > 2 * refused
