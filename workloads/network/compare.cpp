// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "npu/base/shortened.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::network {
namespace {

tl::unexpected<Error> differs(std::string how) {
  return fail(ErrorCode::kWrongData, std::move(how));
}

// Reals as doubles.
std::vector<double> reals_of(const Tensor& tensor) {
  std::vector<double> all;
  all.reserve(tensor.elements());
  switch (tensor.type) {
    case ElementType::kFloat:
      for (const auto each : tensor.values<float>()) all.push_back(static_cast<double>(each));
      break;
    case ElementType::kDouble:
      return tensor.values<double>();
    case ElementType::kFloat16:
    case ElementType::kBfloat16: {
      const auto type = *row_of(tensor.type).card;
      for (std::size_t i = 0; i < tensor.elements(); ++i) {
        all.push_back(workloads::load_element(type, tensor.bytes.data(), i));
      }
      break;
    }
    default:
      break;
  }
  return all;
}

// Of finite ones.
double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const auto value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

bool is_close(double found, double expected, const Tolerance& within) {
  if (std::isnan(expected) || std::isinf(expected)) {
    return std::isnan(expected) ? std::isnan(found) : found == expected;
  }
  return std::abs(found - expected) <= within.relative * std::abs(expected) + within.absolute;
}

Status compare_texts(const Tensor& found, const Tensor& expected) {
  for (std::size_t i = 0; i < expected.elements(); ++i) {
    if (found.strings[i] == expected.strings[i]) continue;
    return differs(fmt::format("element {} of {}: found '{}', expected '{}'", i,
                               text_of(expected.sides), shortened(found.strings[i], 32),
                               shortened(expected.strings[i], 32)));
  }
  return {};
}

}  // namespace

Tolerance tolerance_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kDouble:
      return {1e-3, 1e-7};
    case ElementType::kFloat16:
      return {4.0 / 1024, 1e-7};
    case ElementType::kBfloat16:
      return {4.0 / 128, 1e-7};
    default:
      return {};
  }
}

Status compare(const Tensor& found, const Tensor& expected, bool several_nodes) {
  if (found.type != expected.type || found.sides != expected.sides) {
    return differs(fmt::format("found {} of {}, expected {} of {}", text_of(found.sides),
                               row_of(found.type).name, text_of(expected.sides),
                               row_of(expected.type).name));
  }
  if (expected.type == ElementType::kString) return compare_texts(found, expected);
  auto within = tolerance_of(expected.type);
  if (within.relative == 0) {
    const Bytes size = row_of(expected.type).bytes;
    for (std::size_t i = 0; i < expected.elements(); ++i) {
      if (std::memcmp(found.bytes.data() + i * size, expected.bytes.data() + i * size, size) == 0) {
        continue;
      }
      return differs(fmt::format("element {} of {}", i, text_of(expected.sides)));
    }
    return {};
  }
  const auto left = reals_of(found), right = reals_of(expected);
  if (several_nodes) {
    constexpr double kPart = 1.0 / 64;
    within.absolute += within.relative * kPart * largest_of(right);
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (is_close(left[i], right[i], within)) continue;
    return differs(fmt::format("element {} of {}: found {}, expected {}", i,
                               text_of(expected.sides), left[i], right[i]));
  }
  return {};
}

}  // namespace npu::network
