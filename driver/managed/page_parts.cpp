// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/page_parts.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kLeaf = 16;  // parts: 64 KiB

unsigned count(const PageParts& parts, unsigned first, unsigned size) {
  unsigned sum = 0;
  for (unsigned i = first; i < first + size; ++i) sum += parts[i] ? 1 : 0;
  return sum;
}

void set(PageParts& parts, unsigned first, unsigned size) {
  for (unsigned i = first; i < first + size; ++i) parts.set(i);
}

}  // namespace

PageParts wanted_parts(const PageParts& touched, const PageParts& there, unsigned density) {
  if (density == 0) return touched | there;
  PageParts wanted = there;
  for (unsigned leaf = 0; leaf < abi::kPageParts; leaf += kLeaf) {
    if (count(touched, leaf, kLeaf) != 0) set(wanted, leaf, kLeaf);
  }
  // By what is asked for, not by what smaller subtrees add.
  const PageParts asked = wanted;
  for (unsigned size = 2 * kLeaf; size <= abi::kPageParts; size *= 2) {
    for (unsigned first = 0; first < abi::kPageParts; first += size) {
      const bool concerned = count(touched, first, size) != 0;
      if (concerned && 100 * count(asked, first, size) > density * size) set(wanted, first, size);
    }
  }
  return wanted;
}

}  // namespace npu::driver
