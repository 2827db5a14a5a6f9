// SPDX-License-Identifier: Apache-2.0
#include "model/dma/bandwidth_weights.hpp"

#include <algorithm>
#include <cmath>

#include "model/config/link_rate.hpp"
#include "model/core/bus_page.hpp"

namespace npu::model {
namespace {

constexpr Bytes kTlpHeader = 16;
constexpr double kPerSecond = 1e12;  // picoseconds
constexpr double kNothing = 1e-6;    // of a byte: what rounding leaves

// Of the link, what is data.
std::uint64_t payload_rate(const LinkConfig& link) {
  const Bytes whole = link.max_payload + kTlpHeader + link.tlp_framing + link.dllp_per_tlp;
  return link_bytes_per_second(link) / whole * link.max_payload;
}

}  // namespace

BandwidthWeight::BandwidthWeight(std::uint64_t rate, Bytes burst, std::size_t functions)
    : rate_(static_cast<double>(rate) / kPerSecond),
      burst_(static_cast<double>(burst)),
      users_(functions) {}

// From one time at which somebody has nothing left to the next.
void BandwidthWeight::serve(SimTime now) {
  double time = static_cast<double>(now - served_);
  served_ = now;
  while (time > 0) {
    double weights = 0, next = time;
    for (const auto& user : users_) {
      if (user.left > 0) weights += user.weight;
    }
    if (weights == 0) return;
    for (const auto& user : users_) {
      if (user.left > 0) next = std::min(next, user.left * weights / (rate_ * user.weight));
    }
    for (auto& user : users_) {
      if (user.left <= 0) continue;
      user.left -= next * rate_ * user.weight / weights;
      if (user.left < kNothing) user.left = 0;
    }
    time -= next;
  }
}

SimTime BandwidthWeight::admit(unsigned function, Bytes length, SimTime now) {
  serve(now);
  auto& user = users_[function];
  if (user.weight == 0) return now;  // it is being reset
  if (user.left <= burst_) {
    user.left += static_cast<double>(length);
    if (user.refused != UINT64_MAX) user.waited += now - user.refused;
    user.refused = UINT64_MAX;
    return now;
  }
  if (user.refused == UINT64_MAX) user.refused = now;
  double weights = 0;
  for (const auto& other : users_) {
    if (other.left > 0) weights += other.weight;
  }
  const double wait = (user.left - burst_) * weights / (rate_ * user.weight);
  return now + static_cast<SimTime>(std::ceil(wait)) + 1;
}

void BandwidthWeights::make_partitions() {
  const auto functions = config_.functions();
  const auto& usable = config_.virtual_functions;
  const auto link = payload_rate(config_.link) / 100 * usable.link_usable_percent;
  const auto hbm = hbm_bytes_per_second(config_.hbm) / 100 * usable.hbm_usable_percent;
  // A few requests: what is sent at once does not delay others by more.
  partitions_.emplace_back(link, 4 * kBusPage, functions);
  partitions_.emplace_back(link, 4 * kBusPage, functions);
  partitions_.emplace_back(hbm, 64 * config_.dma.device_chunk, functions);
}

void BandwidthWeights::set_weights(unsigned function,
                                   const std::array<unsigned, kSharedResources>& weights) {
  if (partitions_.empty()) make_partitions();
  for (std::size_t i = 0; i < weights.size(); ++i) partitions_[i].set_weight(function, weights[i]);
  there_[function] = weights[0] != 0;
  divided_ = std::count(there_.begin(), there_.end(), true) > 1;
}

}  // namespace npu::model
