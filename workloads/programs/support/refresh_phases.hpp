// SPDX-License-Identifier: Apache-2.0
// Where in a round of refreshes of the card's memory a measurement begins. A bank that is being
// refreshed holds a copy up by more than a small copy takes: measurements that begin anywhere
// compare refreshes instead of what was to be measured.
#pragma once

#include "workloads/framework/context.hpp"

namespace npu::workloads {

class RefreshPhases {
 public:
  // `count` beginnings, evenly over a round of card `card`. Without a simulated card there is
  // nothing to wait for.
  RefreshPhases(Context& context, std::size_t card, std::uint64_t count);

  // Sleeps until the next beginning number `index` before which every bank has been refreshed since
  // the call, so that no row is left open.
  void wait(std::uint64_t index);
  Picoseconds round() const { return round_; }

 private:
  Context& context_;
  Picoseconds round_;
  std::int64_t count_;
};

}  // namespace npu::workloads
