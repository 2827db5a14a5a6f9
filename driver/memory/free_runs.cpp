// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/free_runs.hpp"

#include <algorithm>

namespace npu::driver {

void FreeRuns::set(Page page, unsigned order, bool is_free) {
  const Page count = is_free ? Page{1} << order : 0;
  runs_[node(page, order)] = Run{count, count, count};
}

void FreeRuns::update_above(Page page, unsigned order) {
  Page half = Page{1} << order;
  for (std::size_t at = node(page, order) >> 1; at > 0; at >>= 1, half <<= 1) {
    const Run& left = runs_[2 * at];
    const Run& right = runs_[2 * at + 1];
    runs_[at] = Run{left.prefix == half ? half + right.prefix : left.prefix,
                    right.suffix == half ? half + left.suffix : right.suffix,
                    std::max({left.longest, right.longest, left.suffix + right.prefix})};
  }
}

FreeRuns::Page FreeRuns::find(Page count) const {
  if (runs_[1].longest < count) return kNone;
  std::size_t at = 1;
  Page page = 0;
  Page size = leaves_;
  while (runs_[at].prefix < count) {
    const Page half = size / 2;
    const Run& left = runs_[2 * at];
    const Run& right = runs_[2 * at + 1];
    if (left.longest >= count) {
      at = 2 * at;
    } else if (left.suffix + right.prefix >= count) {
      return page + half - left.suffix;
    } else {
      at = 2 * at + 1;
      page += half;
    }
    size = half;
  }
  return page;
}

}  // namespace npu::driver
