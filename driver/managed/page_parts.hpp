// SPDX-License-Identifier: Apache-2.0
// Parts of a page: which to fetch for those that were touched, and runs of them.
#pragma once

#include <bitset>

#include "npu/abi/page_table.hpp"

namespace npu::driver {

using PageParts = std::bitset<abi::kPageParts>;

// What is to be there for parts that were touched, with what `there` is. `density`: percent of a
// subtree of the page, whose leaves are 16 parts, beyond which all of it is wanted
// (virtualisation.md S6); 0: the touched parts alone.
PageParts wanted_parts(const PageParts& touched, const PageParts& there, unsigned density);

// run(first, count) for each run of parts, in order.
template <class Run>
void for_each_run(const PageParts& parts, Run run) {
  for (unsigned i = 0; i < parts.size();) {
    if (!parts[i]) {
      ++i;
      continue;
    }
    unsigned end = i;
    while (end < parts.size() && parts[end]) ++end;
    run(i, end - i);
    i = end;
  }
}

}  // namespace npu::driver
