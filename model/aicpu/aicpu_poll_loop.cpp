// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_poll_loop.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::model {

// The first time at which the counter says `ticks`.
SimTime AicpuPollLoop::time_of(std::uint64_t ticks) const {
  const std::uint64_t mhz = shared_.config.counter_hz / 1'000'000;
  if (ticks / mhz >= UINT64_MAX / 1'000'000 - 1) return UINT64_MAX;
  return ticks / mhz * 1'000'000 + ceil_div(ticks % mhz * 1'000'000, mhz);
}

bool AicpuPollLoop::poll_again(std::uint64_t deadline) {
  thread_.check();
  thread_.compute(1);                                                    // the branch back
  if (thread_.hung() && rounds_.looks().empty()) thread_.synchronise();  // no load would stand
  if (thread_.take_stood()) rounds_.acted();
  ++statistics_.rounds;
  const std::uint64_t executed = statistics_.instructions - round_began_at_;
  round_began_at_ = statistics_.instructions;
  const SimTime limit = time_of(deadline);
  const bool same = rounds_.end(thread_.local());
  if (same && !thread_.hung() && !shared_.naive_polling && thread_.local() < limit && as_seen()) {
    sleep(limit, executed);
  } else {
    rounds_.begin(thread_.local());
  }
  return thread_.local() < limit;
}

// Nothing has changed between the time it was looked at and now.
bool AicpuPollLoop::as_seen() const {
  for (const auto& look : rounds_.looks()) {
    const bool seen = look.is_register
                          ? registers_.as_seen(static_cast<unsigned>(look.place >> 32),
                                               static_cast<std::uint32_t>(look.place), look.value)
                          : memory_.caches(look.place);
    if (!seen) return false;
  }
  return true;
}

void AicpuPollLoop::sleep(SimTime deadline, std::uint64_t executed) {
  const SimTime begin = thread_.local(), round = rounds_.length();
  // The last round that begins before the deadline ends here.
  const bool ends = deadline != UINT64_MAX && deadline - begin < UINT64_MAX / 2;
  const SimTime limit = ends ? begin + ceil_div(deadline - begin, round) * round : UINT64_MAX;
  for (const auto& look : rounds_.looks()) {
    if (!look.is_register) continue;
    const auto window = registers_.window(static_cast<unsigned>(look.place >> 32), 0);
    if (window) shared_.watch_register(number_, *window);
  }
  sleeping_ = true;
  changed_later_ = false;
  while (sleeping_ && sim_now() < limit) thread_.wait(limit);
  sleeping_ = false;
  thread_.check();
  const SimTime changed = sim_now();
  const SimTime rounds = changed <= begin ? 0 : (changed - begin) / round;
  statistics_.rounds += rounds;
  statistics_.rounds_skipped += rounds;
  round_began_at_ = statistics_.instructions += rounds * executed;
  thread_.set_local(begin + rounds * round);
  rounds_.begin(thread_.local());
  const SimTime unseen_until = changed + (changed_later_ ? 1 : 0);
  if (unseen_until > thread_.local()) rounds_.replay(unseen_until);
}

void AicpuPollLoop::look_changed(bool later) {
  if (!sleeping_) return;
  sleeping_ = false;
  changed_later_ = later;
  thread_.wake_up();
}

void AicpuPollLoop::lines_dropped(std::uint64_t address, Bytes length, bool later) {
  if (!sleeping_) return;
  const std::uint64_t first = address / CoherentCache::kLine;
  const std::uint64_t last = (address + length - 1) / CoherentCache::kLine;
  const auto& looks = rounds_.looks();
  const bool looked_at = std::any_of(looks.begin(), looks.end(), [&](const PollLook& look) {
    const std::uint64_t line = look.place / CoherentCache::kLine;
    return !look.is_register && line >= first && line <= last;
  });
  if (looked_at) look_changed(later);
}

}  // namespace npu::model
