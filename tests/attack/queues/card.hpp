// SPDX-License-Identifier: Apache-2.0
// What all attackers of compute queues share: the card, how long calls may take, what was found.
#pragma once

#include <algorithm>

#include "npu/driver/process.hpp"
#include "tests/attack/world.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::attack {

struct QueueWorld : World {
  QueueWorld(platform::Platform& machine_host, std::uint64_t run_seed)
      : World(machine_host, run_seed), dma(machine_host.tasks().make_mutex()) {}

  Instant now() const { return host.clock().now(); }
  Instant in(Picoseconds time) const { return now() + time; }
  void pass(Picoseconds time) const { host.clock().sleep_until(in(time)); }
  driver::Device& card() const { return *cards.front(); }

  // Held by whoever copies with the card's streams, and by whoever resets their ring.
  std::unique_ptr<platform::Mutex> dma;
  bool stopped = false;  // from outside: results are not what they must be otherwise
};

// Time that a call takes beside its deadline: the processor's work, and accesses that wait.
inline constexpr Picoseconds kCall = 300_us;
// Of those that let the card settle (driver/queue/README.md).
inline constexpr Picoseconds kSettling = 1_ms;
// Of those without a deadline: a few commands of the usual command_timeout.
inline constexpr Picoseconds kCommands = 1_s;

// Around one call: it must not end later than its deadline and `slack`.
class TimedCall {
 public:
  TimedCall(QueueWorld& world, const char* name, Instant deadline, Picoseconds slack)
      : world_(world), name_(name), begin_(world.now()), deadline_(deadline), slack_(slack) {}
  ~TimedCall() {
    // Without an answer those that have no deadline take several times their command_timeout.
    const bool patient = world_.stopped && slack_ >= kCommands;
    // A read that is not answered stalls the processor.
    const auto stall = world_.stopped ? 10_ms : 0_ms;
    const auto limit = std::max(begin_, deadline_) + (patient ? 30_s : slack_ + stall);
    const auto end = world_.now();
    if (end <= limit) return;
    world_.find(fmt::format("{}: called at {} us with deadline {} us, came back at {} us", name_,
                            begin_.since_power_up().us(), deadline_.since_power_up().us(),
                            end.since_power_up().us()));
  }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  QueueWorld& world_;
  const char* const name_;
  const Instant begin_, deadline_;
  const Picoseconds slack_;
};

// A random number of picoseconds, as many short ones as long ones, below `limit`.
inline Picoseconds any_time(fuzz::Random& random, Picoseconds limit) {
  const auto scale = std::uint64_t{1} << random.below(40);
  const auto time = scale + random.below(scale);
  return std::min(Picoseconds(static_cast<std::int64_t>(time)), limit);
}

}  // namespace npu::attack
