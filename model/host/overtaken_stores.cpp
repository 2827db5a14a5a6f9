// SPDX-License-Identifier: Apache-2.0
#include "model/host/overtaken_stores.hpp"

#include <fmt/format.h>

#include "model/core/simulation.hpp"

namespace npu::model {

void OvertakenStores::record(std::uint64_t stores, const std::string& trigger,
                             const std::string& where) {
  count_ += stores;
  if (told_.size() >= kTold) return;
  const double microseconds = static_cast<double>(sim_now()) / 1e6;
  told_.push_back(fmt::format("{:.6f} us: {} overtook {} {} {}: no write barrier between",
                              microseconds, trigger, stores,
                              stores == 1 ? "store to" : "stores, the first to", where));
}

}  // namespace npu::model
