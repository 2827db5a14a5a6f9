// SPDX-License-Identifier: Apache-2.0
// Windows of signals: their elements follow from their size, which the host knows.
#include <cmath>

#include "workloads/network/lowering.hpp"

namespace npu::network {
namespace {

constexpr double kTurn = 6.283185307179586;
constexpr std::int64_t kLongestSignal = std::int64_t{1} << 28;

// a - b cos(turn) + c cos(2 turn): the last element of a symmetric one is the first again.
void lower_signal(Lowering& node, double a, double b, double c) {
  auto& steps = node.steps;
  const auto size = node.integers(0);
  if (steps.failed()) return;
  if (size.size() != 1 || size[0] < 0 || size[0] > kLongestSignal) {
    return steps.refuse("a window without a size");
  }
  const bool is_periodic = node.node.attribute("periodic", std::int64_t{1}) != 0;
  const auto length = static_cast<double>(is_periodic ? size[0] : size[0] - 1);
  std::vector<double> all;
  for (std::int64_t i = 0; i < size[0]; ++i) {
    const double turn = length == 0 ? 0 : kTurn * static_cast<double>(i) / length;
    all.push_back(size[0] == 1 ? 1 : a - b * std::cos(turn) + c * std::cos(2 * turn));
  }
  const auto type =
      find_type(static_cast<int>(node.node.attribute("output_datatype", std::int64_t{1})));
  if (type == nullptr || type->bytes == 0) return steps.refuse("a window of that type");
  if (type->type == ElementType::kFloat) {
    node.outputs = {
        steps.constant(type->type, {all.size()}, std::vector<float>(all.begin(), all.end()))};
    return;
  }
  node.outputs = {cast(steps, steps.constant(ElementType::kDouble, {all.size()}, all), type->type)};
}

void lower_hann(Lowering& node) {
  lower_signal(node, 0.5, 0.5, 0);
}
void lower_hamming(Lowering& node) {
  lower_signal(node, 25.0 / 46, 21.0 / 46, 0);
}
void lower_blackman(Lowering& node) {
  lower_signal(node, 0.42, 0.5, 0.08);
}

}  // namespace

const std::vector<LoweringRow> kSignalLowerings{{"HannWindow", lower_hann},
                                                {"HammingWindow", lower_hamming},
                                                {"BlackmanWindow", lower_blackman}};

}  // namespace npu::network
