// SPDX-License-Identifier: Apache-2.0
// Who may use how much of what all functions' copies share, each direction of the link and the
// device memory, while the card is divided: a fluid server of the resource's rate, that serves
// everybody who has something in proportion to weights, and one alone at full rate. A piece of a
// copy may be sent when little of its function's is left there; so nobody has a queue in front of
// the others, and what one does not use the others have. A card that is not divided never waits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/simulation.hpp"

namespace npu::model {

enum class SharedResource : std::uint8_t { kLinkToCard, kLinkToHost, kHbm };
inline constexpr std::size_t kSharedResources = 3;

// One resource.
class BandwidthWeight {
 public:
  // `rate`: bytes per second; `burst`: bytes that a function may have sent ahead of its weight.
  BandwidthWeight(std::uint64_t rate, Bytes burst, std::size_t functions);

  // 0: it is not there.
  void set_weight(unsigned function, unsigned weight) { users_[function].weight = weight; }
  // When `length` bytes of the function's may be sent: now, if it is not later; they count then.
  SimTime admit(unsigned function, Bytes length, SimTime now);
  // Time that the function has waited for its turn so far.
  SimTime waited(unsigned function) const { return users_[function].waited; }

 private:
  struct User {
    unsigned weight = 0;
    double left = 0;  // bytes that were sent and are not served yet
    SimTime refused = UINT64_MAX;
    SimTime waited = 0;
  };
  void serve(SimTime now);

  const double rate_;   // bytes per picosecond
  const double burst_;  // bytes
  std::vector<User> users_;
  SimTime served_ = 0;  // until then
};

class BandwidthWeights {
 public:
  explicit BandwidthWeights(const ChipConfig& config)
      : config_(config), there_(config.functions()) {}

  // `weights` by resource; all 0: the function is not there.
  void set_weights(unsigned function, const std::array<unsigned, kSharedResources>& weights);
  // More than one function is there.
  bool divided() const { return divided_; }
  SimTime admit(SharedResource resource, unsigned function, Bytes length) {
    return partitions_[static_cast<std::size_t>(resource)].admit(function, length, sim_now());
  }
  SimTime waited(SharedResource resource, unsigned function) const {
    return partitions_.empty() ? 0
                               : partitions_[static_cast<std::size_t>(resource)].waited(function);
  }

 private:
  void make_partitions();

  const ChipConfig& config_;
  std::vector<BandwidthWeight> partitions_;  // by resource; none before the card is first divided
  std::vector<bool> there_;                  // by function
  bool divided_ = false;
};

}  // namespace npu::model
