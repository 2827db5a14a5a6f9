// SPDX-License-Identifier: Apache-2.0
// Poll loops. A round that only looks, and has looked at the same a second time, will go on doing
// so; the core sleeps until something it looks at changes and goes on in the round in which that
// happens, at the round's own time. What that round samples before the change is what was seen
// before, so that the program sees what it would have seen, at the times at which it would have.
#include <algorithm>

#include "model/aicpu/aicpu_core.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

// The first time at which the counter says `ticks`.
SimTime AicpuCore::time_of(std::uint64_t ticks) const {
  const std::uint64_t mhz = shared_.config.counter_hz / 1'000'000;
  if (ticks / mhz >= UINT64_MAX / 1'000'000 - 1) return UINT64_MAX;
  return ticks / mhz * 1'000'000 + ceil_div(ticks % mhz * 1'000'000, mhz);
}

bool AicpuCore::poll_again(std::uint64_t deadline) {
  check();
  compute(1);  // the branch back
  ++statistics_.rounds;
  const std::uint64_t executed = statistics_.instructions - round_began_at_;
  round_began_at_ = statistics_.instructions;
  const SimTime limit = time_of(deadline);
  const bool same = rounds_.end(local_);
  if (same && !shared_.naive_polling && local_ < limit && as_seen()) {
    sleep(limit, executed);
  } else {
    rounds_.begin(local_);
  }
  return local_ < limit;
}

// Nothing has changed between the time it was looked at and now.
bool AicpuCore::as_seen() const {
  for (const auto& look : rounds_.looks()) {
    if (look.is_register) {
      const auto core = static_cast<unsigned>(look.place >> 32);
      const auto offset = static_cast<std::uint32_t>(look.place);
      const auto window = this->window(core, offset);
      if (window && shared_.windows->read(*window, offset) != look.value) return false;
    } else if (!cache_.holds(block_.vmid, look.place)) {
      return false;
    }
  }
  return true;
}

void AicpuCore::sleep(SimTime deadline, std::uint64_t executed) {
  const SimTime begin = local_, round = rounds_.length();
  // The last round that begins before the deadline ends here.
  const bool ends = deadline != UINT64_MAX && deadline - begin < UINT64_MAX / 2;
  const SimTime limit = ends ? begin + ceil_div(deadline - begin, round) * round : UINT64_MAX;
  for (const auto& look : rounds_.looks()) {
    if (!look.is_register) continue;
    const auto window = this->window(static_cast<unsigned>(look.place >> 32), 0);
    if (window) shared_.watch_register(number_, *window);
  }
  sleeping_ = true;
  changed_later_ = false;
  while (sleeping_ && sim_now() < limit) sim_.agenda.wait(wake_, limit);
  sleeping_ = false;
  check();
  const SimTime changed = sim_now();
  const SimTime rounds = changed <= begin ? 0 : (changed - begin) / round;
  statistics_.rounds += rounds;
  statistics_.rounds_skipped += rounds;
  round_began_at_ = statistics_.instructions += rounds * executed;
  local_ = begin + rounds * round;
  rounds_.begin(local_);
  const SimTime unseen_until = changed + (changed_later_ ? 1 : 0);
  if (unseen_until > local_) rounds_.replay(unseen_until);
}

void AicpuCore::look_changed(bool later) {
  if (!sleeping_) return;
  sleeping_ = false;
  changed_later_ = later;
  sim_.agenda.notify(wake_);
}

}  // namespace npu::model
