// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/attention_mask.hpp"

#include <optional>
#include <vector>

namespace npu::network {
namespace {

// Which elements show their key. None: some do neither.
std::optional<std::vector<bool>> shown_by_sums(const Tensor& mask) {
  std::vector<bool> shown;
  if (mask.type == ElementType::kFloat) {
    for (const float value : mask.values<float>()) {
      if (value != 0 && !(value <= kHidden)) return std::nullopt;
      shown.push_back(value == 0);
    }
    return shown;
  }
  // As bits: of negative numbers larger ones are farther from 0, up to that of infinity.
  const bool is_half = mask.type == ElementType::kFloat16;
  if (!is_half && mask.type != ElementType::kBfloat16) return std::nullopt;
  const std::uint16_t first = is_half ? 0xF0E2 : 0xC61C, last = is_half ? 0xFC00 : 0xFF80;
  for (const auto bits : mask.values<std::uint16_t>()) {
    const bool is_zero = (bits & 0x7FFFU) == 0;
    if (!is_zero && (bits < first || bits > last)) return std::nullopt;
    shown.push_back(is_zero);
  }
  return shown;
}

std::optional<std::vector<bool>> shown_by(const Tensor& mask, MaskKind kind) {
  if (kind == MaskKind::kAdded) return shown_by_sums(mask);
  if (mask.type != ElementType::kBool) return std::nullopt;
  std::vector<bool> shown;
  for (const auto value : mask.values<std::uint8_t>()) {
    shown.push_back((value != 0) == (kind == MaskKind::kTrueShows));
  }
  return shown;
}

}  // namespace

MaskShape shape_of(const Tensor& mask, MaskKind kind, std::uint64_t queries, std::uint64_t keys) {
  const auto shown = shown_by(mask, kind);
  if (!shown) return MaskShape::kOther;
  const auto side = [&mask](std::size_t from_end) {
    return mask.sides.size() < from_end ? 1 : mask.sides[mask.sides.size() - from_end];
  };
  const std::uint64_t rows = side(2), columns = side(1);
  bool all = true, causal = rows == queries && columns == keys && queries <= keys;
  for (std::size_t i = 0; i < shown->size(); ++i) {
    const std::uint64_t row = i / columns % rows, column = i % columns;
    all = all && (*shown)[i];
    causal = causal && (*shown)[i] == (column + queries <= row + keys);
  }
  return all ? MaskShape::kAll : causal ? MaskShape::kCausal : MaskShape::kOther;
}

}  // namespace npu::network
