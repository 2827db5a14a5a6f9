// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/poll_loop.hpp"

#include <algorithm>
#include <utility>

namespace npu::model {

PollLoop::PollLoop(ProgramServices& services, const CoreWindow& window, const CallStack& calls,
                   CoreThread& thread, ProgramCoreStatistics& statistics)
    : services_(services),
      window_(window),
      calls_(calls),
      thread_(thread),
      statistics_(statistics),
      counter_(services.config.counter_hz) {}

void PollLoop::reset() {
  polls_.close();
  replayed_.clear();
  found_at_ = UINT64_MAX;
  answered_at_ = 0;
}

SimTime PollLoop::take_found() {
  return std::exchange(found_at_, UINT64_MAX);
}

// --- looks ---------------------------------------------------------------------------------

void PollLoop::looked(Look look, SimTime begin) {
  // A register shows what is to be done next even before the program polls for it.
  if (look.kind == Look::Kind::kRegister || (polls_.open() && look.sampled())) {
    found_at_ = thread_.local();
  }
  if (!polls_.open()) return;
  look.begin = begin - polls_.begin();
  look.end = thread_.local() - polls_.begin();
  polls_.add(look);
}

void PollLoop::spoil() {
  polls_.spoil();
  thread_.told().end_of_polls();
  replayed_.clear();
  thread_.reach(sim_now());
}

const Look* PollLoop::replayed(Look::Kind kind, std::uint64_t address) {
  while (replay_next_ < replayed_.size() && !replayed_[replay_next_].sampled()) ++replay_next_;
  const bool again = thread_.local() < sim_now() && replay_next_ < replayed_.size() &&
                     replayed_[replay_next_].kind == kind &&
                     DataCache::line_of(replayed_[replay_next_].address) == address;
  if (again) return &replayed_[replay_next_++];
  replayed_.clear();
  thread_.reach(sim_now());
  return nullptr;
}

bool PollLoop::line_before(std::uint64_t line, DataCache::Bytes64& data) {
  const Look* const before = replayed(Look::Kind::kMiss, line);
  if (before == nullptr) return false;
  const SimTime begin = thread_.local();
  const SimTime sampled = begin + (before->end - before->begin);
  data = before->line;
  thread_.set_local(sampled);
  if (sampled < changed_at_) {
    thread_.waited_for_line(begin, open());
    return true;
  }
  // As the answer would: ahead of programs that go on at that time, AICPUs' stores among them.
  services_.sim.agenda.at<&PollLoop::sample>(sampled, *this, line);
  in_flight(begin, sampled);
  thread_.sync_to(sampled);
  answered_at_ = 0;
  thread_.waited_for_line(begin, open());
  data = sample_;
  if (sample_completion_ != Completion::kSuccess) {
    thread_.raise_fault(device_fault(sample_completion_), line, false, DataCache::kLine);
  }
  return true;
}

void PollLoop::sample(std::uint64_t line) {
  sample_completion_ = services_.memory.read(calls_.space(), line, sample_.data(), sample_.size());
}

void PollLoop::in_flight(SimTime begin, SimTime end) {
  sent_at_ = begin + services_.clock.clocks(services_.config.miss_clocks);
  answered_at_ = end;
}

// --- sleeping ------------------------------------------------------------------------------

// A look at the time of the write sees it, unless it is an atomic access of an AICPU: those come
// after everything else at that time.
void PollLoop::line_written(Writer writer, std::uint64_t) {
  const SimTime seen_from = sim_now() + (writer == Writer::kAicpuAtomic ? 1 : 0);
  changed_at_ = changed_ ? std::min(changed_at_, seen_from) : seen_from;
  if (!changed_) thread_.wake_up();
  changed_ = true;
  thread_.resumes_now();
}

bool PollLoop::looks_the_same() {
  for (const auto& look : polls_.current()) {
    if (look.kind == Look::Kind::kRegister && look.value != window_.data_main_base()) return false;
    if (look.kind != Look::Kind::kMiss) continue;
    DataCache::Bytes64 now;
    const auto line = DataCache::line_of(look.address);
    // Nobody tells of writes to pages of the host's.
    if (!services_.memory.local(calls_.space(), line)) return false;
    const auto completion = services_.memory.read(calls_.space(), line, now.data(), now.size());
    if (completion != Completion::kSuccess || now != look.line) return false;
  }
  return true;
}

// Until something changes; nothing: `limit` came first.
std::optional<SimTime> PollLoop::sleep(SimTime limit) {
  struct Place {
    SpaceId vmid;
    std::uint64_t line;
  };
  std::vector<Place> places;  // under both addresses; a reset may be followed by another block
  for (const auto& look : polls_.current()) {
    if (look.kind != Look::Kind::kMiss) continue;
    const std::uint64_t line = DataCache::line_of(look.address);
    places.push_back({calls_.space(), line});
    const auto local = services_.memory.local(calls_.space(), line);
    if (calls_.space() != 0 && local) places.push_back({0, *local});
  }
  changed_ = false;
  sleeping_ = true;
  for (const auto& place : places) services_.watch.watch(place.vmid, place.line, *this);
  thread_.sleep(limit, [this] { return changed_; });
  for (const auto& place : places) services_.watch.unwatch(place.vmid, place.line, *this);
  sleeping_ = false;
  if (!changed_) return std::nullopt;
  return changed_at_;
}

// In which look of the round that would be gone through now.
void PollLoop::cut_in_sleep(SimTime ended, SimTime round) {
  if (sim_now() < ended) return;
  const SimTime begin = ended + (sim_now() - ended) / round * round;
  for (const auto& look : polls_.current()) {
    const bool now = begin + look.begin < sim_now() && sim_now() < begin + look.end;
    if (now && look.kind == Look::Kind::kMiss) in_flight(begin + look.begin, begin + look.end);
  }
}

bool PollLoop::poll_again(std::uint64_t deadline) {
  thread_.enter();
  const SimTime ended = thread_.local();
  if (counter_.at(ended) >= deadline) {
    polls_.next_round(ended, ended);
    return false;
  }
  const bool pass = !services_.naive_polling && polls_.repeats(ended) && looks_the_same();
  if (!pass) {
    polls_.next_round(ended, ended);
    return true;
  }
  const SimTime round = ended - polls_.begin();
  const SimTime end = counter_.time_of(deadline);
  const bool ends = end - ended < UINT64_MAX / 2;
  const SimTime limit = ends ? ended + ceil_div(end - ended, round) * round : UINT64_MAX;
  const auto changed = sleep(limit);
  if (thread_.is_cut()) cut_in_sleep(ended, round);
  thread_.slept();
  SimTime next = limit;
  // The last sample of a round may be at its end.
  if (changed) next = *changed <= ended ? ended : ended + (*changed - 1 - ended) / round * round;
  statistics_.polls_passed_over += (next - ended) / round;
  if (polls_.misses()) thread_.told().passed_over(next - ended);
  replayed_ = polls_.current();
  replay_next_ = 0;
  polls_.next_round(ended, next);
  thread_.set_local(next);
  return next < limit;
}

}  // namespace npu::model
