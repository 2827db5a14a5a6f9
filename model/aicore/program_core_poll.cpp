// SPDX-License-Identifier: Apache-2.0
// Poll loops. A round that only looked, and was as the one before, will be the same again until
// something it looked at changes: the core sleeps until then and goes on at the begin of the
// round during which that happens, as if it had polled all the time. Looks of that round that
// come before the change see what they saw; the first one behind it sees what is there.
#include <algorithm>

#include "model/aicore/program_core.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace {

constexpr std::uint64_t kSecond = 1'000'000;  // ps per clock of 1 MHz

}  // namespace

std::uint64_t ProgramCore::counter_at(SimTime when) const {
  const std::uint64_t mhz = config_.counter_hz / 1'000'000;
  return when / kSecond * mhz + when % kSecond * mhz / kSecond;
}

// When the counter shows `counter` for the first time; UINT64_MAX: never.
SimTime ProgramCore::time_of(std::uint64_t counter) const {
  const std::uint64_t mhz = config_.counter_hz / 1'000'000;
  if (counter / mhz >= UINT64_MAX / kSecond) return UINT64_MAX;
  return counter / mhz * kSecond + ceil_div(counter % mhz * kSecond, mhz);
}

void ProgramCore::looked(Look look, SimTime begin) {
  // A register shows what is to be done next even before the program polls for it.
  if (look.kind == Look::Kind::kRegister || (polls_.open() && look.sampled())) found_at_ = local_;
  if (!polls_.open()) return;
  look.begin = begin - polls_.begin();
  look.end = local_ - polls_.begin();
  polls_.add(look);
}

void ProgramCore::spoil() {
  polls_.spoil();
  replayed_.clear();
  local_ = std::max(local_, sim_now());
}

// What the look that comes next saw in the round that is gone through again; null: this look is
// in the present.
const Look* ProgramCore::replayed(Look::Kind kind, std::uint64_t address) {
  while (replay_next_ < replayed_.size() && !replayed_[replay_next_].sampled()) ++replay_next_;
  const bool again = local_ < sim_now() && replay_next_ < replayed_.size() &&
                     replayed_[replay_next_].kind == kind &&
                     DataCache::line_of(replayed_[replay_next_].address) == address;
  if (again) return &replayed_[replay_next_++];
  replayed_.clear();
  local_ = std::max(local_, sim_now());
  return nullptr;
}

// A look at the time of the write sees it, unless it is an atomic access of an AICPU: those come
// after everything else at that time.
void ProgramCore::line_written(Writer writer, std::uint64_t) {
  const SimTime seen_from = sim_now() + (writer == Writer::kAicpuAtomic ? 1 : 0);
  changed_at_ = changed_ ? std::min(changed_at_, seen_from) : seen_from;
  if (!changed_) sim_.agenda.notify(wake_);
  changed_ = true;
  goes_on_ = sim_now();
}

void ProgramCore::window_written(std::uint32_t offset, std::uint32_t value) {
  if (window_.write(offset, value) && sleeping_) line_written(Writer::kDma, 0);
}

bool ProgramCore::looks_the_same() {
  for (const auto& look : polls_.current()) {
    if (look.kind == Look::Kind::kRegister && look.value != window_.data_main_base()) return false;
    if (look.kind != Look::Kind::kMiss) continue;
    DataCache::Bytes64 now;
    const auto line = DataCache::line_of(look.address);
    // Nobody tells of writes to pages of the host's.
    if (!services_.memory.local(block_.vmid, line)) return false;
    const auto completion = services_.memory.read(block_.vmid, line, now.data(), now.size());
    if (completion != Completion::kSuccess || now != look.line) return false;
  }
  return true;
}

// Until something changes; nothing: `limit` came first.
std::optional<SimTime> ProgramCore::sleep(SimTime limit) {
  struct Place {
    SpaceId vmid;
    std::uint64_t line;
  };
  std::vector<Place> places;  // under both addresses; a reset may be followed by another block
  for (const auto& look : polls_.current()) {
    if (look.kind != Look::Kind::kMiss) continue;
    const std::uint64_t line = DataCache::line_of(look.address);
    places.push_back({block_.vmid, line});
    const auto local = services_.memory.local(block_.vmid, line);
    if (block_.vmid != 0 && local) places.push_back({0, *local});
  }
  changed_ = false;
  sleeping_ = true;
  for (const auto& place : places) services_.watch.watch(place.vmid, place.line, *this);
  while (!changed_ && !cut_ && sim_now() < limit) sim_.agenda.wait(wake_, limit);
  for (const auto& place : places) services_.watch.unwatch(place.vmid, place.line, *this);
  sleeping_ = false;
  goes_on_ = UINT64_MAX;
  if (cut_) throw Cut{};
  if (!changed_) return std::nullopt;
  return changed_at_;
}

bool ProgramCore::poll_again(std::uint64_t deadline) {
  enter();
  const SimTime ended = local_;
  if (counter_at(ended) >= deadline) {
    polls_.next_round(ended, ended);
    return false;
  }
  const bool pass = !services_.naive_polling && polls_.repeats(ended) && looks_the_same();
  if (!pass) {
    polls_.next_round(ended, ended);
    return true;
  }
  const SimTime round = ended - polls_.begin();
  const SimTime end = time_of(deadline);
  const bool ends = end - ended < UINT64_MAX / 2;
  const SimTime limit = ends ? ended + ceil_div(end - ended, round) * round : UINT64_MAX;
  const auto changed = sleep(limit);
  SimTime next = limit;
  // The last sample of a round may be at its end.
  if (changed) next = *changed <= ended ? ended : ended + (*changed - 1 - ended) / round * round;
  statistics_.polls_passed_over += (next - ended) / round;
  replayed_ = polls_.current();
  replay_next_ = 0;
  polls_.next_round(ended, next);
  local_ = next;
  return next < limit;
}

}  // namespace npu::model
