// SPDX-License-Identifier: Apache-2.0
// Which clusters a mixed launch may have: those of which its queue may use every core. Numbers are
// the card's.
#pragma once

#include <algorithm>

#include "model/command/core_partition.hpp"
#include "model/config/core_layout.hpp"

namespace npu::model {

class Clusters {
 public:
  using Mask = CorePartition::Mask;

  explicit Clusters(const CoreLayout& layout) : layout_(layout) {}

  unsigned lanes() const { return 1 + layout_.vector_cores(); }  // cores of a cluster
  unsigned core(unsigned cluster, unsigned role) const {
    return role == 0 ? cluster : layout_.clusters() + cluster * layout_.vector_cores() + role - 1;
  }
  // Whether `usable` has a whole one.
  bool any(const Mask& usable) const {
    bool found = false;
    for_whole(usable, 1, [&](unsigned) { found = true; });
    return found;
  }
  // The lowest one that is free, of the first `most` whole ones; 0: of all. -1: none.
  int free_one(const Mask& usable, const Mask& free, unsigned most) const {
    int found = -1;
    for_whole(usable, most, [&](unsigned cluster) {
      if (found < 0 && count(free, cluster) == lanes()) found = static_cast<int>(cluster);
    });
    return found;
  }
  // The cores of the one that is nearest to being free.
  Mask nearest(const Mask& usable, const Mask& free, unsigned most) const {
    Mask found{};
    unsigned best = 0;
    for_whole(usable, most, [&](unsigned cluster) {
      const unsigned now = count(free, cluster) + 1;
      if (now <= best) return;
      best = now;
      found = {};
      for (unsigned role = 0; role < lanes(); ++role) {
        found[core(cluster, role) / 64] |= std::uint64_t{1} << core(cluster, role) % 64;
      }
    });
    return found;
  }

 private:
  unsigned count(const Mask& mask, unsigned cluster) const {
    unsigned found = 0;
    for (unsigned role = 0; role < lanes(); ++role) {
      const unsigned number = core(cluster, role);
      if (number / 64 < mask.size() && (mask[number / 64] >> number % 64 & 1) != 0) ++found;
    }
    return found;
  }
  template <class Visit>
  void for_whole(const Mask& usable, unsigned most, Visit visit) const {
    unsigned seen = 0;
    for (unsigned cluster = 0; cluster < layout_.clusters(); ++cluster) {
      if (count(usable, cluster) != lanes()) continue;
      visit(cluster);
      if (++seen == most) return;
    }
  }

  const CoreLayout layout_;
};

}  // namespace npu::model
