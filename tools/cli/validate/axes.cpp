// SPDX-License-Identifier: Apache-2.0
// Recipes of operators on axes, groups and optimizers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {
namespace {

std::string joined(const std::vector<std::uint64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::uint64_t product(const std::vector<std::uint64_t>& sides, std::size_t first, std::size_t end) {
  std::uint64_t all = 1;
  for (std::size_t i = first; i < end; ++i) all *= sides[i];
  return all;
}

}  // namespace

// The axis that the row names, from the outermost one; else the last one. The tensor is there.
tl::expected<std::size_t, std::string> axis_of(const Measurement& row) {
  const auto axes = static_cast<std::int64_t>(row.tensors[0].size());
  const auto given = row.attributes.value("dim", nlohmann::json(-1));
  const auto dim = given.is_number_integer() ? given.get<std::int64_t>() : -1;
  const auto axis = dim < 0 ? dim + axes : dim;
  if (axis < 0 || axis >= axes) return refuse(fmt::format("there is no axis {}", dim));
  return static_cast<std::size_t>(axis);
}

Made broadcast(const Measurement& row) {
  if (row.op != "maximum") return refuse("operands are broadcast");
  auto made = compiled(row, "broadcast", joined(row.tensors[0]));
  made.settings.emplace_back("other_shape", joined(row.tensors[1]));
  made.settings.emplace_back("expression", "max(a,b)");
  return made;
}

Made softmax(const Measurement& row) {
  if (!row.has(0)) return refuse("the shape names no tensor");
  const auto axis = axis_of(row);
  if (!axis) return refuse(axis.error());
  const auto& sides = row.tensors[0];
  if (*axis + 1 == sides.size()) return on_rows(row);
  if (!type_here(type_of(row))) {
    return refuse(fmt::format("no elements of type '{}'", type_of(row)));
  }
  return compiled(row, "softmax_axis",
                  fmt::format("{},{},{}", product(sides, 0, *axis), sides[*axis],
                              product(sides, *axis + 1, sides.size())));
}

Made transpose(const Measurement& row) {
  const auto order = row.attributes.value("perm", nlohmann::json::array());
  if (!row.has(0) || order.size() != row.tensors[0].size()) {
    return refuse("the shape and the order of axes do not fit");
  }
  std::string axes;
  for (const auto& axis : order) axes += (axes.empty() ? "" : ",") + axis.dump();
  auto made = compiled(row, "transpose", joined(row.tensors[0]));
  made.settings.emplace_back("order", axes);
  return made;
}

// Batch and channels, then what is one side.
Made group_norm(const Measurement& row) {
  const auto groups = row.attributes.value("num_groups", nlohmann::json());
  if (!row.has(0) || row.tensors[0].size() < 2 || !groups.is_number_integer()) {
    return refuse("the shape has no batch, channels and groups");
  }
  const auto& x = row.tensors[0];
  return compiled(row, "group_norm",
                  fmt::format("{},{},{},{}", x[0], x[1], product(x, 2, x.size()), groups.dump()));
}

Made apply_adam_w(const Measurement& row) {
  if (!row.has(0)) return refuse("the shape names no tensor");
  auto made = compiled(row, "apply_adam_w", std::to_string(row.elements(0)));
  if (is_on(row, "maximize")) made.settings.emplace_back("maximize", "on");
  return made;
}

}  // namespace npu::validate
