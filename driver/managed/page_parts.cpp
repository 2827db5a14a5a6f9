// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/page_parts.hpp"

#include <array>

namespace npu::driver {
namespace {

constexpr unsigned kLeaf = 16;  // parts: 64 KiB
constexpr unsigned kLeaves = abi::kPageParts / kLeaf;
constexpr PageParts kLeafParts{(1U << kLeaf) - 1};

// Of a subtree, at its first leaf.
struct Subtree {
  bool touched = false;
  unsigned asked = 0;  // parts that are there or asked for
};

PageParts parts_of(unsigned first, unsigned count) {
  return PageParts{}.set() >> (abi::kPageParts - count) << first;
}

}  // namespace

PageParts wanted_parts(const PageParts& touched, const PageParts& there, unsigned density) {
  if (density == 0) return touched | there;
  PageParts wanted = there;
  std::array<Subtree, kLeaves> tree;
  for (unsigned leaf = 0; leaf < kLeaves; ++leaf) {
    const auto own = kLeafParts << (leaf * kLeaf);
    tree[leaf].touched = (touched & own).any();
    if (tree[leaf].touched) wanted |= own;
    tree[leaf].asked = static_cast<unsigned>((wanted & own).count());
  }
  // By what is asked for, not by what smaller subtrees add.
  for (unsigned size = 2; size <= kLeaves; size *= 2) {
    for (unsigned first = 0; first < kLeaves; first += size) {
      auto& subtree = tree[first];
      const auto& upper = tree[first + size / 2];
      subtree.touched = subtree.touched || upper.touched;
      subtree.asked += upper.asked;
      const unsigned all = size * kLeaf;
      if (!subtree.touched || 100 * subtree.asked <= density * all) continue;
      wanted |= parts_of(first * kLeaf, all);
    }
  }
  return wanted;
}

}  // namespace npu::driver
