// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/watch/machine_activity.hpp"

#include <algorithm>

#include "tools/timeline/cause.hpp"

namespace npu::cli {
namespace {

using platform::Activity;
using platform::Load;

double share(std::uint64_t busy, std::uint64_t bytes, std::uint64_t capacity, std::int64_t time) {
  if (time <= 0) return 0;
  const auto picoseconds = static_cast<double>(time);
  const double part = capacity == 0 ? static_cast<double>(busy) / picoseconds
                                    : static_cast<double>(bytes) * 1e12 /
                                          (static_cast<double>(capacity) * picoseconds);
  return std::min(part, 1.0);
}

}  // namespace

void MachineActivity::count(const platform::TraceEvent& event) {
  constexpr unsigned kCallShift = 56, kBeforeShift = 32;
  switch (event.activity) {
    case Activity::kFault:
      ++faults_;
      return;
    case Activity::kQueueMap:
      ++slots_;
      return;
    case Activity::kQueueUnmap:
      if (slots_ > 0) --slots_;
      return;
    case Activity::kCommand:
      ++commands_.ended;
      return;
    case Activity::kQueueCommand:
      ++entries_.ended;
      return;
    case Activity::kKernelBlock:
      ++blocks_;
      return;
    case Activity::kDmaSubmit:
      (timeline::is_dma_cause(event.cause) ? commands_ : entries_).submitted +=
          (event.detail >> kBeforeShift) + 1;
      return;
    case Activity::kDriverCall: {
      const auto call = static_cast<platform::DriverCall>(event.detail >> kCallShift);
      if (call == platform::DriverCall::kCreateQueue) ++queues_;
      if (call == platform::DriverCall::kDestroyQueue && queues_ > 0) --queues_;
      return;
    }
    default:
      return;
  }
}

void MachineActivity::on_event(const platform::TraceEvent& event) {
  count(event);
  const Load load = platform::row_of(event.activity).load;
  if (load == Load::kNone || load == Load::kRate) return;
  if (event.track >= tracks_.size()) tracks_.resize(event.track + 1);
  Track& track = tracks_[event.track];
  track.is_used = true;
  track.by_bytes = load != Load::kTime;
  const std::int64_t begin = std::max(event.begin.since_power_up().count(), looked_);
  if (event.end.since_power_up().count() > begin) {
    track.recent += static_cast<std::uint64_t>(event.end.since_power_up().count() - begin);
  }
  track.recent_bytes += load == Load::kBytes       ? event.bytes
                        : load == Load::kWireBytes ? event.detail
                                                   : 0;
}

std::vector<MachineActivity::Unit> MachineActivity::look(Picoseconds time, const TrackName& name,
                                                         const Capacity& capacity) {
  std::vector<Unit> units;
  for (std::uint32_t id = 0; id < tracks_.size(); ++id) {
    Track& track = tracks_[id];
    if (!track.is_used) continue;
    Unit unit{name(id)};
    const std::uint64_t most = track.by_bytes ? capacity(unit.name) : 0;
    unit.now = share(track.recent, track.recent_bytes, most, time.count() - looked_);
    track.before += track.recent;
    track.before_bytes += track.recent_bytes;
    track.recent = track.recent_bytes = 0;
    unit.mean = share(track.before, track.before_bytes, most, time.count());
    units.push_back(std::move(unit));
  }
  looked_ = std::max(looked_, time.count());
  sort(units);
  return units;
}

void MachineActivity::sort(std::vector<Unit>& units) {
  std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    if (a.now != b.now) return a.now > b.now;
    return a.mean != b.mean ? a.mean > b.mean : a.name < b.name;
  });
}

}  // namespace npu::cli
