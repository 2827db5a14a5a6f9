// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/kernel_use.hpp"

#include <algorithm>

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Pipe;

constexpr std::uint64_t kQueueBit = std::uint64_t{1} << 63;  // platform::queue_cause

TimeSpan span_of(const platform::TraceEvent& event) {
  return {event.begin.since_power_up().count(), event.end.since_power_up().count()};
}

// "card0.aicore3.mte2" -> "card0.aicore3"; empty: of something else.
std::string core_in(const std::string& track) {
  constexpr std::string_view kCore = ".aicore";
  const auto at = track.find(kCore);
  if (at == std::string::npos) return {};
  return track.substr(0, track.find('.', at + kCore.size()));
}

void add(MemoryUse& sum, const MemoryUse& more) {
  sum.read += more.read;
  sum.written += more.written;
  sum.hits += more.hits;
  sum.misses += more.misses;
}

}  // namespace

void KernelUseCounter::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kPipe:
      return instruction(event);
    case Activity::kScalarWait:
      if (auto* const core = place_of(event.track).core) core->waits.push_back(span_of(event));
      return;
    case Activity::kL2Read:
    case Activity::kL2Write:
    case Activity::kHbmRead:
    case Activity::kHbmWrite:
      if ((event.cause & kQueueBit) != 0) memory(event);
      return;
    case Activity::kKernelBlock:
    case Activity::kKernelCall:
      return program(event);
    default:
      return;
  }
}

KernelUseCounter::Place& KernelUseCounter::place_of(std::uint32_t track) {
  const auto [found, is_new] = places_.try_emplace(track);
  if (!is_new) return found->second;
  const auto core = core_in(name_(track));
  if (core.empty()) return found->second;
  found->second.core = &cores_[core];
  found->second.core->card = core.substr(0, core.find('.'));
  return found->second;
}

void KernelUseCounter::instruction(const platform::TraceEvent& event) {
  const auto detail = platform::PipeDetail::unpack(event.detail);
  const auto pipe = static_cast<std::size_t>(platform::pipe_of(event.detail));
  const auto operation = static_cast<std::size_t>(detail.operation);
  if (pipe >= platform::kPipes || operation >= copied_.size()) return;
  const auto span = span_of(event);
  place_of(event.track).busy.add(span.begin, span.end);
  users_[pipe].insert(event.track);
  if (event.bytes == 0) return;
  copied_[operation] += event.bytes;
  copiers_[operation].insert(event.track);
}

void KernelUseCounter::memory(const platform::TraceEvent& event) {
  const bool l2 = event.activity == Activity::kL2Read || event.activity == Activity::kL2Write;
  const bool written =
      event.activity == Activity::kL2Write || event.activity == Activity::kHbmWrite;
  auto& launch = launches_[event.cause];
  auto& use = l2 ? launch.l2 : launch.hbm;
  (written ? use.written : use.read) += event.bytes;
  if (!l2) return;
  use.hits += event.detail & 0xFFFF'FFFF;
  use.misses += event.detail >> 32;
}

void KernelUseCounter::program(const platform::TraceEvent& event) {
  auto* const core = place_of(event.track).core;
  if (core == nullptr) return;
  const bool call = event.activity == Activity::kKernelCall;
  launches_[event.cause].on_cores = true;
  (call ? calls_ : blocks_).push_back(span_of(event));
  const auto program = span_of(event);
  auto& time = call ? core->of_calls : core->of_blocks;
  ++time.programs;
  time.running += event.end - event.begin;
  for (const auto& wait : core->waits) {
    const auto begin = std::max(wait.begin, program.begin), end = std::min(wait.end, program.end);
    if (begin < end) time.waiting += Picoseconds(end - begin);
  }
  core->waits.clear();
}

KernelUse KernelUseCounter::use() const {
  KernelUse use;
  // The block of an executor is there for its calls, and waits between them.
  const auto& programs = calls_.empty() ? blocks_ : calls_;
  use.programs = programs.size();
  use.time = covered(programs);
  auto& scalar = use.pipes[static_cast<std::size_t>(Pipe::kScalar)];
  for (const auto& [name, core] : cores_) {
    const auto& time = calls_.empty() ? core.of_blocks : core.of_calls;
    if (time.programs == 0) continue;
    use.card = core.card;
    ++use.cores;
    ++scalar.cores;
    scalar.busy += std::max(time.running - time.waiting, Picoseconds{});
  }
  for (std::size_t pipe = 0; pipe < use.pipes.size(); ++pipe) {
    for (const auto track : users_[pipe]) {
      use.pipes[pipe].busy += places_.at(track).busy.time();
      ++use.pipes[pipe].cores;
    }
  }
  for (std::size_t copy = 0; copy < use.copies.size(); ++copy) {
    use.copies[copy] = {copied_[copy], static_cast<unsigned>(copiers_[copy].size())};
  }
  for (const auto& [cause, launch] : launches_) {
    if (!launch.on_cores) continue;
    add(use.l2, launch.l2);
    add(use.hbm, launch.hbm);
  }
  return use;
}

}  // namespace npu::timeline
