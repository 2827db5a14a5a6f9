// SPDX-License-Identifier: Apache-2.0
// Recipes of operators on every element and on rows.
#include <fmt/format.h>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {
namespace {

Made rows_operator(const Measurement& row, const char* name) {
  if (!row.has(0)) return refuse("the shape names no tensor");
  if (!type_here(type_of(row))) {
    return refuse(fmt::format("no elements of type '{}'", type_of(row)));
  }
  const auto columns = row.tensors[0].back();
  if (columns == 0) return refuse("the tensor is empty");
  return compiled(row, name, fmt::format("{},{}", row.elements(0) / columns, columns));
}

}  // namespace

Made elementwise(const Measurement& row) {
  if (!row.has(0)) return refuse("the shape names no tensor");
  const auto type = type_here(type_of(row));
  if (!type) return refuse(fmt::format("no elements of type '{}'", type_of(row)));
  if (row.has(1) && row.tensors[1] != row.tensors[0]) return broadcast(row);
  Operation made;
  made.workload = "vector_operator";
  made.settings = {{"op", row.op},
                   {"type", *type},
                   {"elements", std::to_string(row.elements(0))},
                   {"launches", launches_of(row)}};
  made.device_metric = "operator.duration_us";
  made.wall_metric = "operator.wall_us";
  return made;
}

// Along the last axis, by the operator of this name.
Made on_last_axis(const Measurement& row) {
  if (row.has(0)) {
    const auto axis = axis_of(row);
    if (!axis) return refuse(axis.error());
    if (*axis + 1 != row.tensors[0].size()) return refuse("the axis is not the last one");
  }
  return rows_operator(row, row.op.c_str());
}

Made on_rows(const Measurement& row) {
  return rows_operator(row, row.op.c_str());
}

// Gamma is one more than its weights.
Made gemma_rms_norm(const Measurement& row) {
  auto made = rows_operator(row, "rms_norm");
  if (made) made->left_out = "the one that is added to gamma";
  return made;
}

// x, scales of weights and of activations, of columns before they are quantised.
Made dequant_swiglu_quant(const Measurement& row) {
  const bool integers = type_of(row) == "int32";
  if (integers != row.has(1) || integers != row.has(2)) {
    return refuse("int32, and nothing else, has scales of weights and activations");
  }
  auto made = rows_operator(row, "dequant_swiglu_quant");
  if (!made) return made;
  if (!is_on(row, "activate_left")) made->settings.emplace_back("activate_left", "off");
  if (row.has(3)) made->settings.emplace_back("quant_scales", "on");
  return made;
}

}  // namespace npu::validate
