// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: the inputs of all times by one product, then a product for each time.
#include <fmt/format.h>

#include <array>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"

namespace npu::network {
namespace {

// X: times x batch x input. Gates lie one behind the other.
struct Layer {
  std::uint64_t times = 0, batch = 0, directions = 0, hidden = 0, gates = 0;
};

// One direction of it.
struct Direction {
  Value from_input;     // times x batch x gates * hidden, with the bias of the input
  Value weights, bias;  // of what is hidden
  Value peepholes;      // of LSTM, 3 x hidden; no memory: none
  bool backwards = false;
};

// What goes from one time to the next.
struct State {
  Value hidden, cell;  // batch x hidden
};

// Row `at` of the first axis, without that axis.
Value slice(Steps& steps, const Value& x, std::uint64_t at) {
  const auto row = rows_of_axis(steps, x, 0, static_cast<std::int64_t>(at), 1, 1);
  return steps.view(row, Sides(x.sides.begin() + 1, x.sides.end()));
}

// Of batch x gates * hidden.
Value gate(Steps& steps, const Value& all, std::uint64_t at, const Layer& layer) {
  const auto apart = steps.view(all, {layer.batch, layer.gates, layer.hidden});
  return steps.view(rows_of_axis(steps, apart, 1, static_cast<std::int64_t>(at), 1, 1),
                    {layer.batch, layer.hidden});
}

// Part of a bias or of peepholes.
Value part(Steps& steps, const Value& table, std::uint64_t at, std::uint64_t count,
           std::uint64_t hidden) {
  const auto rows = steps.view(table, {table.elements() / hidden, hidden});
  return steps.view(rows_of_axis(steps, rows, 0, static_cast<std::int64_t>(at), 1, count),
                    {count * hidden});
}

Value from_hidden(Steps& steps, const Direction& way, const Value& hidden) {
  return broadcast(steps, "a+b", product(steps, hidden, way.weights, false, true), way.bias);
}

State next_plain(Steps& steps, const Layer& /*layer*/, const Direction& way, const Value& x,
                 const State& state, bool /*reset_after*/) {
  return {elementwise(steps, "tanh(a+b)", {x, from_hidden(steps, way, state.hidden)}), {}};
}

// Gates: update, reset, hidden.
State next_gru(Steps& steps, const Layer& layer, const Direction& way, const Value& x,
               const State& state, bool reset_after) {
  const std::uint64_t hidden = layer.hidden;
  const auto sums = from_hidden(steps, way, state.hidden);
  const auto at = [&](const Value& all, std::uint64_t i) { return gate(steps, all, i, layer); };
  const auto update = elementwise(steps, "sigmoid(a+b)", {at(x, 0), at(sums, 0)});
  const auto reset = elementwise(steps, "sigmoid(a+b)", {at(x, 1), at(sums, 1)});
  Value fresh;
  if (reset_after) {
    fresh = elementwise(steps, "tanh(a+b*c)", {at(x, 2), at(sums, 2), reset});
  } else {
    const auto rows = steps.view(way.weights, {layer.gates, hidden, hidden});
    const auto kept = elementwise(steps, "a*b", {reset, state.hidden});
    const auto own = product(steps, kept, slice(steps, rows, 2), false, true);
    const auto biased = broadcast(steps, "a+b", own, part(steps, way.bias, 2, 1, hidden));
    fresh = elementwise(steps, "tanh(a+b)", {at(x, 2), biased});
  }
  return {elementwise(steps, "b-a*b+a*c", {update, fresh, state.hidden}), {}};
}

// Gates: input, output, forget, cell.
State next_lstm(Steps& steps, const Layer& layer, const Direction& way, const Value& x,
                const State& state, bool /*reset_after*/) {
  const auto sums = elementwise(steps, "a+b", {x, from_hidden(steps, way, state.hidden)});
  const auto seen = [&](std::uint64_t i, std::uint64_t peephole, const Value& cell) {
    const auto own = gate(steps, sums, i, layer);
    if (way.peepholes.memory == nullptr) return own;
    const auto share = part(steps, way.peepholes, peephole, 1, layer.hidden);
    return elementwise(steps, "a+b", {own, broadcast(steps, "a*b", cell, share)});
  };
  const auto in = elementwise(steps, "sigmoid(a)", {seen(0, 0, state.cell)});
  const auto forget = elementwise(steps, "sigmoid(a)", {seen(2, 2, state.cell)});
  const auto fresh = gate(steps, sums, 3, layer);
  const auto cell = elementwise(steps, "a*b+c*tanh(d)", {forget, state.cell, in, fresh});
  const auto out = elementwise(steps, "sigmoid(a)", {seen(1, 1, cell)});
  return {elementwise(steps, "a*tanh(b)", {out, cell}), cell};
}

using Next = State (*)(Steps&, const Layer&, const Direction&, const Value&, const State&, bool);

bool is_refused(Lowering& node) {
  for (const auto* const name : {"activations", "clip", "activation_alpha", "activation_beta"}) {
    if (node.node.has(name)) node.steps.refuse(std::string(name) + " of their own");
  }
  if (node.node.attribute("input_forget", std::int64_t{0}) != 0) {
    node.steps.refuse("a forget gate that is the input's");
  }
  return node.steps.failed();
}

Direction direction_of(Lowering& node, const Layer& layer, std::uint64_t i, bool backwards,
                       const Value& x) {
  auto& steps = node.steps;
  Direction way;
  way.backwards = backwards;
  const std::uint64_t width = layer.gates * layer.hidden;
  const auto rows = steps.view(x, {layer.times * layer.batch, x.sides[2]});
  way.from_input = product(steps, rows, slice(steps, node.inputs[1], i), false, true);
  way.weights = slice(steps, node.inputs[2], i);
  const auto both =
      node.has(3) ? slice(steps, node.inputs[3], i) : steps.zeros(x.type, {2 * width});
  way.bias = part(steps, both, layer.gates, layer.gates, layer.hidden);
  way.from_input =
      broadcast(steps, "a+b", way.from_input, part(steps, both, 0, layer.gates, layer.hidden));
  way.from_input = steps.view(way.from_input, {layer.times, layer.batch, width});
  if (layer.gates == 4 && node.has(7)) way.peepholes = slice(steps, node.inputs[7], i);
  return way;
}

// Whether tensors have the sides that follow from X and the number of gates.
bool fits(Lowering& node, const Layer& layer, const Value& x) {
  const std::uint64_t width = layer.gates * layer.hidden;
  const Sides states{layer.directions, layer.batch, layer.hidden};
  const std::array<Sides, 8> wanted{{x.sides,
                                     {layer.directions, width, x.sides[2]},
                                     {layer.directions, width, layer.hidden},
                                     {layer.directions, 2 * width},
                                     {layer.batch},
                                     states,
                                     states,
                                     {layer.directions, 3 * layer.hidden}}};
  const bool turned = node.node.attribute("layout", std::int64_t{0}) != 0;
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    const bool is_state = i == 5 || i == 6;
    if (!node.has(i) || (is_state && turned) || node.inputs[i].sides == wanted[i]) continue;
    node.steps.refuse(fmt::format("input {} of {}, not {}", i, text_of(node.inputs[i].sides),
                                  text_of(wanted[i])));
    return false;
  }
  if (!node.has(4)) return true;
  for (const auto length : node.integers(4)) {
    if (length != static_cast<std::int64_t>(layer.times)) {
      node.steps.refuse("sequences of different lengths");
      return false;
    }
  }
  return true;
}

template <std::uint64_t kGates, Next kNext>
void lower_recurrent(Lowering& node) {
  auto& steps = node.steps;
  const bool turned = node.node.attribute("layout", std::int64_t{0}) != 0;
  if (is_refused(node)) return;
  if (node.inputs[0].axes() != 3 || node.inputs[2].axes() != 3 || node.inputs[1].axes() != 3) {
    return steps.refuse("no sequences");
  }
  const auto swapped = [&](const Value& value) { return transpose(steps, value, {1, 0, 2}); };
  const auto x = turned ? swapped(node.inputs[0]) : node.inputs[0];
  const auto way = node.node.attribute("direction", std::string("forward"));
  const Layer layer{x.sides[0], x.sides[1], way == "bidirectional" ? 2U : 1U,
                    node.inputs[2].sides[2], kGates};
  if (!fits(node, layer, x)) return;
  const auto begin = [&](std::size_t input, std::uint64_t i) {
    if (!node.has(input)) return steps.zeros(x.type, {layer.batch, layer.hidden});
    return slice(steps, turned ? swapped(node.inputs[input]) : node.inputs[input], i);
  };
  const bool after = node.node.attribute("linear_before_reset", std::int64_t{0}) != 0;
  std::vector<Value> all(layer.times * layer.directions), last, cells;
  for (std::uint64_t i = 0; i < layer.directions && !steps.failed(); ++i) {
    const auto own = direction_of(node, layer, i, way == "reverse" || i == 1, x);
    State state{begin(5, i), kGates == 4 ? begin(6, i) : Value{}};
    for (std::uint64_t t = 0; t < layer.times && !steps.failed(); ++t) {
      const std::uint64_t at = own.backwards ? layer.times - 1 - t : t;
      state = kNext(steps, layer, own, slice(steps, own.from_input, at), state, after);
      all[at * layer.directions + i] = steps.view(state.hidden, {1, layer.batch, layer.hidden});
    }
    last.push_back(steps.view(state.hidden, {1, layer.batch, layer.hidden}));
    if (kGates == 4) cells.push_back(steps.view(state.cell, {1, layer.batch, layer.hidden}));
  }
  if (steps.failed() || all.empty()) return;
  const auto whole =
      steps.view(concat(steps, all, 0), {layer.times, layer.directions, layer.batch, layer.hidden});
  const auto joined = [&](const std::vector<Value>& parts) {
    const auto states = concat(steps, parts, 0);
    return turned ? swapped(states) : states;
  };
  node.outputs = {turned ? transpose(steps, whole, {2, 0, 1, 3}) : whole, joined(last)};
  if (kGates == 4) node.outputs.push_back(joined(cells));
}

}  // namespace

const std::vector<LoweringRow> kRecurrentLowerings{
    {"RNN", lower_recurrent<1, next_plain>, 3},
    {"GRU", lower_recurrent<3, next_gru>, 3},
    {"LSTM", lower_recurrent<4, next_lstm>, 3},
};

}  // namespace npu::network
