// SPDX-License-Identifier: Apache-2.0
// Recipes of attention.
#include <fmt/format.h>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {

// Tensors of batch, sequence, heads, head; or B1 N1=12 N2=1 S0=128 S1=1024 D128.
Made attention(const Measurement& row) {
  if (!type_here(type_of(row))) {
    return refuse(fmt::format("no attention of type '{}'", type_of(row)));
  }
  std::string shape;
  if (row.has(0) && row.has(1) && row.tensors[0].size() == 4 && row.tensors[1].size() == 4) {
    const auto& q = row.tensors[0];
    const auto& k = row.tensors[1];
    shape = fmt::format("{},{},{},{},{},{}", q[0], q[2], k[2], q[1], k[1], q[3]);
  } else {
    const auto queries = side_of(row, {"S0", "S"}), keys = side_of(row, {"S1", "S"});
    const auto head = side_of(row, {"D"});
    if (queries == 0 || keys == 0 || head == 0) return refuse("the shape has no S and D");
    const auto heads = side_of(row, {"N1", "H"}, 1);
    shape = fmt::format("{},{},{},{},{},{}", side_of(row, {"B"}, 1), heads,
                        side_of(row, {"N2"}, heads), queries, keys, head);
  }
  auto made = compiled(row, "flash_attention", shape);
  if (row.has(0)) made.settings.emplace_back("layout", "bsnd");
  if (!is_on(row, "is_causal")) return made;
  made.settings.emplace_back("causal", "on");
  // On an A2 a causal row of these takes as long as one without a mask (kernel-times.md K37).
  if (part_here(row.sku).value_or("").rfind("950", 0) != 0)
    made.settings.emplace_back("whole_mask", "on");
  return made;
}

}  // namespace npu::validate
