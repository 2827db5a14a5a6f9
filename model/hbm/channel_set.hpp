// SPDX-License-Identifier: Apache-2.0
// The channels of an HBM, each with its controller (channel.hpp) or, with fidelity `run`, its
// planner (run_planner.hpp). A channel is busy from a run on until it is idle again. Those that
// nothing has come to yet are all alike and have one controller together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/address_map.hpp"
#include "model/hbm/channel.hpp"
#include "model/hbm/run_planner.hpp"

namespace npu::model::hbm {

class ChannelSet {
 public:
  // Served bursts are appended to `done`, but with fidelity `run`.
  ChannelSet(const HbmConfig& config, std::vector<BurstDone>& done);

  const AddressMap& map() const { return map_; }
  // Fidelity `run`.
  bool planned() const { return !planners_.empty(); }

  // The bursts [first, end) of a transaction, by address; in order of `arrived`. With fidelity
  // `run` the clock of the last RD or WR; else kNever: it is not known yet.
  Clock submit(std::uint32_t tag, std::uint64_t first, std::uint64_t end, Clock arrived,
               bool write);

  // Calls visit(number, channel) for each busy channel, or for `all` that something has come to.
  // With fidelity `run` for none.
  template <class Visit>
  void for_each(bool all, Visit visit) {
    for (unsigned word = 0; word < busy_.size(); ++word) {
      const std::uint64_t busy = all ? ~std::uint64_t{0} : busy_[word];
      for (auto left = busy; left != 0; left &= left - 1) {
        const unsigned number = word * 64 + static_cast<unsigned>(__builtin_ctzll(left));
        if (number >= channels_.size()) return;
        Channel& channel = channels_[number];
        if (!channel.used()) continue;
        visit(number, channel);
        // It catches up when something comes.
        if (channel.idle()) busy_[word] &= ~(std::uint64_t{1} << number % 64);
      }
    }
  }
  // As if something had come to each.
  void use_all() {
    for (Channel& channel : channels_) use(channel);
  }
  // A bit per channel that the bursts [first, last] touch, modulo 64.
  std::uint64_t touched_by(std::uint64_t first, std::uint64_t last) const;

  // Sums, up to `now`, which all channels that something has come to have been advanced to.
  struct Sums {
    ChannelCounts counts;
    BusClocks bus;
  };
  Sums sums(Clock now);
  void watch(unsigned channel, CommandObserver* observer) {
    if (planned()) return;
    use(channels_[channel]);
    channels_[channel].engine().watch(observer);
  }

  // ChannelEngine::set_refresh_pace(); not with fidelity `run`.
  void set_refresh_pace(unsigned channel, Clock pace) {
    use(channels_[channel]);
    channels_[channel].engine().set_refresh_pace(pace);
  }

 private:
  void use(Channel& channel) {
    if (!channel.used()) channel.use(*untouched_);
  }
  Clock submit_run(unsigned channel, const BurstRun& run);
  Clock submit_many(std::uint64_t first, std::uint64_t end, const BurstRun& like);

  AddressMap map_;
  std::vector<Channel> channels_;
  std::unique_ptr<ChannelEngine> untouched_;  // of each channel that nothing has come to yet
  std::vector<RunPlanner> planners_;
  std::vector<std::uint64_t> busy_;  // a bit per channel
  unsigned pseudo_channels_;
};

}  // namespace npu::model::hbm
