// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/indices.hpp"

#include <fmt/format.h>

#include "workloads/network/sides.hpp"

namespace npu::network {

Places indices_of(Lowering& node, const Value& indices, std::uint64_t rows) {
  auto all = integers_of(node.steps.download(indices));
  if (all.size() != indices.elements()) node.steps.refuse("indices that are no integers");
  const auto count = static_cast<std::int64_t>(rows);
  for (auto& each : all) {
    if (each < -count || each >= count) {
      node.steps.refuse(fmt::format("index {} of {} rows", each, rows));
    }
    if (each < 0) each += count;
  }
  return all;
}

Places places_along(Lowering& node, const Value& indices, const Sides& sides, std::size_t axis) {
  if (indices.axes() != sides.size()) {
    node.steps.refuse(fmt::format("indices of {} axes, of {}", indices.axes(), sides.size()));
    return {};
  }
  auto places = indices_of(node, indices, sides[axis]);
  if (node.steps.failed()) return {};
  for (std::size_t i = 0; i < places.size(); ++i) {
    // Coordinates of the index, the last axis first.
    std::uint64_t rest = i, place = 0, pace = 1;
    for (std::size_t j = sides.size(); j-- > 0;) {
      const std::uint64_t own = rest % indices.sides[j];
      rest /= indices.sides[j];
      if (j != axis && own >= sides[j]) {
        node.steps.refuse(fmt::format("indices of {}, of a tensor of {}", text_of(indices.sides),
                                      text_of(sides)));
        return {};
      }
      place += pace * (j == axis ? static_cast<std::uint64_t>(places[i]) : own);
      pace *= sides[j];
    }
    places[i] = static_cast<std::int64_t>(place);
  }
  return places;
}

Places rows_named(Lowering& node, const Value& indices, const Sides& sides, std::size_t batch) {
  const std::size_t depth = indices.sides.empty() ? 0 : indices.sides.back();
  const bool fits = depth != 0 && batch < indices.axes() && batch + depth <= sides.size();
  const auto all = fits ? integers_of(node.steps.download(indices)) : Places{};
  if (all.size() != indices.elements()) {
    node.steps.refuse("indices of more axes than the tensor has");
    return {};
  }
  const std::uint64_t count = all.size() / depth;
  const std::uint64_t groups = product_of(sides, 0, batch);
  if (groups == 0 || count % groups != 0) {
    node.steps.refuse("indices of other groups than the tensor's");
    return {};
  }
  Places rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t row = i / (count / groups);
    for (std::size_t j = 0; j < depth; ++j) {
      const auto side = static_cast<std::int64_t>(sides[batch + j]);
      const auto index = all[i * depth + j];
      if (index < -side || index >= side) {
        node.steps.refuse(fmt::format("index {} of {}", index, side));
        return {};
      }
      row = row * sides[batch + j] + static_cast<std::uint64_t>(index < 0 ? index + side : index);
    }
    rows.push_back(static_cast<std::int64_t>(row));
  }
  return rows;
}

}  // namespace npu::network
