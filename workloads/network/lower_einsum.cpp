// SPDX-License-Identifier: Apache-2.0
// Einsum: operands are brought together two by two, each pair by a product of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/on_aicpu.hpp"

namespace npu::network {
namespace {

// A tensor with a label for each axis.
struct Labelled {
  Value value;
  std::string labels;

  bool has(char label) const { return labels.find(label) != std::string::npos; }
  std::uint64_t side(char label) const { return value.sides[labels.find(label)]; }
};

struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

// Axes of an ellipsis get labels that nothing else has, from the last axis on.
std::string spread(const std::string& term, std::size_t axes) {
  const auto at = term.find("...");
  if (at == std::string::npos) return term;
  const std::size_t count = axes - std::min(axes, term.size() - 3);
  std::string middle;
  for (std::size_t i = count; i > 0; --i) middle += static_cast<char>('0' + i);
  return term.substr(0, at) + middle + term.substr(at + 3);
}

// Without an arrow: labels that stand once, in the alphabet's order, behind those of an ellipsis.
Equation equation_of(std::string text, const std::vector<Value>& inputs) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const auto arrow = text.find("->");
  const auto left = text.substr(0, arrow);
  Equation equation;
  for (std::size_t begin = 0; begin <= left.size();) {
    const auto end = std::min(left.find(',', begin), left.size());
    equation.terms.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  std::size_t most = 0;
  for (std::size_t i = 0; i < equation.terms.size() && i < inputs.size(); ++i) {
    auto& term = equation.terms[i];
    const auto own = term.size() - (term.find("...") == std::string::npos ? 0 : 3);
    if (own != term.size())
      most = std::max(most, inputs[i].axes() - std::min(inputs[i].axes(), own));
    term = spread(term, inputs[i].axes());
  }
  if (arrow != std::string::npos) {
    const auto right = text.substr(arrow + 2);
    const auto own = right.size() - (right.find("...") == std::string::npos ? 0 : 3);
    equation.result = spread(right, own + most);
    return equation;
  }
  for (std::size_t i = most; i > 0; --i) equation.result += static_cast<char>('0' + i);
  for (char label = 'A'; label <= 'z'; ++label) {
    if (std::count(left.begin(), left.end(), label) == 1) equation.result += label;
  }
  return equation;
}

Labelled ordered(Steps& steps, const Labelled& x, const std::string& labels) {
  std::vector<std::uint64_t> order;
  for (const char label : labels) order.push_back(x.labels.find(label));
  const bool same = labels == x.labels;
  return {same ? x.value : transpose(steps, x.value, order), labels};
}

// The diagonal of axes with the same label.
Labelled diagonal(Steps& steps, Labelled x) {
  for (std::size_t first = 0; first < x.labels.size() && !steps.failed(); ++first) {
    const auto second = x.labels.find(x.labels[first], first + 1);
    if (second == std::string::npos) continue;
    const auto side = x.value.sides[first];
    std::vector<std::uint64_t> order{first, second};
    std::string labels(1, x.labels[first]);
    Sides rest;
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      if (i == first || i == second) continue;
      order.push_back(i);
      labels += x.labels[i];
      rest.push_back(x.value.sides[i]);
    }
    auto sides = rest;
    sides.insert(sides.begin(), side * side);
    const auto flat = steps.view(transpose(steps, x.value, order), sides);
    x = {rows_of_axis(steps, flat, 0, 0, static_cast<std::int64_t>(side) + 1, side), labels};
    first = ~std::size_t{0};  // from the begin again
  }
  return x;
}

// Axes that nobody wants are added up.
Labelled summed(Steps& steps, const Labelled& x, const std::string& wanted) {
  std::vector<std::size_t> axes;
  Labelled result = x;
  result.labels.clear();
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (wanted.find(x.labels[i]) == std::string::npos) {
      axes.push_back(i);
    } else {
      result.labels += x.labels[i];
    }
  }
  if (axes.empty() || steps.failed()) return result;
  result.value = is_for_aicpu(x.value) ? reduce_on_aicpu(steps, "sum", x.value, axes, false)
                                       : reduce(steps, "sum", x.value, axes, false);
  return result;
}

std::uint64_t size_of(const Labelled& x, const std::string& labels) {
  std::uint64_t size = 1;
  for (const char label : labels) size *= x.side(label);
  return size;
}

// The cores have products of reals alone; of others all pairs are made and added up.
Value pairs(Steps& steps, const Value& a, const Value& b) {
  if (!is_integer(a.type) && row_of(a.type).card.has_value()) return product(steps, a, b);
  const auto wide = steps.view(a, {a.sides[0], a.sides[1], a.sides[2], 1});
  const auto high = steps.view(b, {b.sides[0], 1, b.sides[1], b.sides[2]});
  if (is_for_aicpu(a)) {
    return reduce_on_aicpu(steps, "sum",
                           on_aicpu(steps, abi::TensorOperation::kMultiply, a.type, wide, high),
                           {2}, false);
  }
  return reduce(steps, "sum", broadcast(steps, "a*b", wide, high), {2}, false);
}

// Batches are labels that both have and that stay, what is multiplied and added those that do not.
Labelled together(Steps& steps, const Labelled& a, const Labelled& b, const std::string& wanted) {
  std::string batch, common, left, right;
  for (const char label : a.labels) {
    const bool stays = wanted.find(label) != std::string::npos;
    (!b.has(label) ? left : stays ? batch : common) += label;
  }
  for (const char label : b.labels) {
    if (!a.has(label)) right += label;
  }
  const auto batches = size_of(a, batch), terms = size_of(a, common);
  const auto rows = steps.view(ordered(steps, a, batch + left + common).value,
                               {batches, size_of(a, left), terms});
  const auto columns = steps.view(ordered(steps, b, batch + common + right).value,
                                  {batches, terms, size_of(b, right)});
  Sides sides;
  for (const char label : batch + left) sides.push_back(a.side(label));
  for (const char label : right) sides.push_back(b.side(label));
  if (steps.failed()) return {};
  return {steps.view(pairs(steps, rows, columns), sides), batch + left + right};
}

bool fits(const Equation& equation, const std::vector<Value>& inputs) {
  if (equation.terms.size() != inputs.size()) return false;
  std::string all;
  std::array<std::uint64_t, 128> sides{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (equation.terms[i].size() != inputs[i].axes() || inputs[i].elements() == 0) return false;
    for (std::size_t axis = 0; axis < inputs[i].axes(); ++axis) {
      const auto label = static_cast<unsigned char>(equation.terms[i][axis]);
      if (label >= sides.size() || std::isalnum(label) == 0) return false;
      if (sides[label] != 0 && sides[label] != inputs[i].sides[axis]) return false;
      sides[label] = inputs[i].sides[axis];
      all += equation.terms[i][axis];
    }
  }
  const auto& result = equation.result;
  return std::all_of(result.begin(), result.end(), [&](char label) {
    return all.find(label) != std::string::npos &&
           std::count(result.begin(), result.end(), label) == 1;
  });
}

void lower_einsum(Lowering& node) {
  auto& steps = node.steps;
  const auto text = node.node.attribute("equation", std::string());
  const auto equation = equation_of(text, node.inputs);
  // Sides of 1 that an ellipsis repeats, and tensors without elements, are among these.
  if (!fits(equation, node.inputs)) return steps.refuse(fmt::format("equation '{}'", text));
  const auto wanted_behind = [&equation](std::size_t begin) {
    std::string labels = equation.result;
    for (std::size_t i = begin; i < equation.terms.size(); ++i) labels += equation.terms[i];
    return labels;
  };
  const auto operand = [&](std::size_t i) {
    return diagonal(steps, {node.inputs[i], equation.terms[i]});
  };
  Labelled whole = operand(0);
  for (std::size_t i = 1; i < node.inputs.size() && !steps.failed(); ++i) {
    const auto next = operand(i);
    whole = summed(steps, whole, wanted_behind(i));
    const auto other = summed(steps, next, whole.labels + wanted_behind(i + 1));
    whole = together(steps, whole, other, wanted_behind(i + 1));
  }
  whole = summed(steps, whole, equation.result);
  if (!steps.failed()) node.outputs = {ordered(steps, whole, equation.result).value};
}

}  // namespace

const std::vector<LoweringRow> kSumLowerings{{"Einsum", lower_einsum, kAllInputs}};

}  // namespace npu::network
