// SPDX-License-Identifier: Apache-2.0
// What a channel has done: bursts served, commands counted, and where the clocks of its data buses
// went (bus_account.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/config/hbm_timings.hpp"
#include "model/hbm/bus_account.hpp"
#include "model/hbm/constraints.hpp"
#include "model/hbm/refresh_schedule.hpp"
#include "model/hbm/request_queue.hpp"
#include "model/hbm/traffic.hpp"

namespace npu::model::hbm {

// Bursts whose RDs or WRs were issued, the last of them at `issued`; those of a request are told of
// with its last one. Data of a read has arrived read_latency() later; that of a write has been
// taken write_latency() later.
struct BurstDone {
  BurstDone(Clock at, std::uint32_t whose, bool is_write, unsigned how_many = 1)
      : issued(at), tag(whose), bursts(static_cast<std::uint16_t>(how_many)), write(is_write) {}
  Clock issued;
  std::uint32_t tag;
  std::uint16_t bursts;
  bool write;
};

struct ChannelCounts {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t row_hits = 0;  // bursts served without an ACT of their own
  std::uint64_t activates = 0;
  std::uint64_t precharges = 0;  // PREab counts once
  std::uint64_t refreshes = 0;

  ChannelCounts& operator+=(const ChannelCounts& other) {
    reads += other.reads;
    writes += other.writes;
    row_hits += other.row_hits;
    activates += other.activates;
    precharges += other.precharges;
    refreshes += other.refreshes;
    return *this;
  }
};

class ChannelAccount {
 public:
  // Served bursts are appended to `done`.
  ChannelAccount(const HbmTimings& timings, const Constraints& limits,
                 std::vector<BurstDone>& done);

  // A burst may be served from `at` on.
  void queued(unsigned pseudo_channel, Clock at) { buses_[pseudo_channel].account.queued(at); }
  // Bursts that are queued and not served.
  unsigned waiting() const { return buses_[0].account.waiting() + buses_[1].account.waiting(); }

  void activated() { ++counts_.activates; }
  void precharged() { ++counts_.precharges; }
  void refreshed(Clock refreshes) { counts_.refreshes += static_cast<std::uint64_t>(refreshes); }
  // The RD or WR of a request is issued; the limits of its bank are those before it.
  void served(const Request& request, int lane, unsigned pseudo_channel, Clock at, const Bank& bank,
              const RefreshSchedule& refreshes, Traffic traffic) {
    BusAccount& bus = buses_[pseudo_channel].account;
    Last& last = buses_[pseudo_channel].last;
    const bool write = is_write(request, traffic);
    if (at > bus.accounted()) {
      const Clock allowed = write ? bank.clocks.write : bank.clocks.read;
      const Clock ready = std::max(allowed, request.arrived + 1);
      const bool refreshed =
          bank.refreshed > bus.waits_from() || refreshes.behind(pseudo_channel) <= at;
      if (last.write == write && !refreshed) {
        bus.before_burst(at, ready);
      } else {
        before_burst(lane, pseudo_channel, write, at, ready, refreshes);
      }
    }
    bus.burst(at, burst_clocks_);
    last.at = at;
    last.write = write;
    ++(write ? counts_.writes : counts_.reads);
    counts_.row_hits += static_cast<unsigned>(!request.activated);
  }
  // The data bus does not wait between two RDs or WRs that are so far apart.
  bool follows(Clock apart) const { return apart <= burst_clocks_; }
  // So many row hits behind the last RD or WR, of its kind, each follows the one before; the last
  // one at `at`.
  void followed(unsigned pseudo_channel, bool write, Clock at, unsigned bursts) {
    Bus& bus = buses_[pseudo_channel];
    bus.account.burst(at, burst_clocks_, bursts);
    bus.last.at = at;
    (write ? counts_.writes : counts_.reads) += bursts;
    counts_.row_hits += bursts;
  }
  void done(Clock at, std::uint32_t tag, bool write, unsigned bursts) {
    done_.emplace_back(at, tag, write, bursts);
  }

  const ChannelCounts& counts() const { return counts_; }
  // The data bus of a pseudo channel, accounted for up to `now`.
  BusClocks bus(unsigned pseudo_channel, Clock now, const RefreshSchedule& refreshes) {
    BusAccount& account = buses_[pseudo_channel].account;
    account.settle(now, refreshes.windows_of_all(pseudo_channel));
    return account.clocks();
  }

 private:
  // The last RD or WR.
  struct Last {
    Clock at = -kNever;
    bool write = false;
  };
  struct Bus {
    Last last;
    BusAccount account;
  };

  void before_burst(int lane, unsigned pseudo_channel, bool write, Clock at, Clock ready,
                    const RefreshSchedule& refreshes);

  int burst_clocks_;
  std::array<Clock, 2> turnaround_;  // to reads, to writes
  ChannelCounts counts_;
  std::vector<BurstDone>& done_;
  std::array<Bus, 2> buses_;
};

}  // namespace npu::model::hbm
