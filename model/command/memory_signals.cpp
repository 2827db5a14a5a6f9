// SPDX-License-Identifier: Apache-2.0
#include "model/command/memory_signals.hpp"

#include <algorithm>

#include "model/command/queue_slot.hpp"
#include "model/command/scheduler.hpp"
#include "model/command/signal_unit.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

bool MemorySignals::watch(const HardwareQueue& queue) {
  const auto& wait = queue.wait;
  unwatch(queue);  // it goes on after the queue has been unloaded
  if (watch_ == nullptr) return false;
  const auto line = align_down(wait.place.address, MemoryWatch::kLine);
  const auto local = memory_->local(wait.place.space, line);
  if (!local) return false;
  all_.push_back({shared_.name_of(queue), wait.index, wait.place.space, line, *local, false});
  // What goes through the MMU is told of by its own address, the rest by the local one.
  watch_->watch(wait.place.space, line, *this);
  watch_->watch(0, *local, *this);
  return true;
}

void MemorySignals::unwatch(const HardwareQueue& queue) {
  const auto name = shared_.name_of(queue);
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.name == name; });
  if (found == all_.end()) return;
  stop_watching(*found);
  all_.erase(found);
}

void MemorySignals::stop_watching(const Watched& watched) {
  watch_->unwatch(watched.space, watched.line, *this);
  watch_->unwatch(0, watched.local, *this);
}

// Not in the writer's call: the memory is not ready for the reads.
void MemorySignals::line_written(Writer, std::uint64_t address) {
  for (auto& each : all_) {
    if (each.line != address && each.local != address) continue;
    each.written = true;
    // A value that is being read may be old.
    if (auto* const queue = shared_.queue_of(each.name)) ++queue->process->signals;
  }
  if (awake_) return;
  awake_ = true;
  shared_.sim.agenda.at<&MemorySignals::wake_all>(sim_now(), *this);
}

void MemorySignals::wake_all(std::uint64_t) {
  awake_ = false;
  std::vector<Watched> told;
  for (auto& each : all_) {
    if (each.written) told.push_back(each);
    each.written = false;
  }
  for (const auto& each : told) {
    if (wake(each)) continue;
    const auto gone = std::find_if(all_.begin(), all_.end(), [&](const auto& other) {
      return other.name == each.name && other.index == each.index;
    });
    if (gone == all_.end()) continue;
    stop_watching(*gone);
    all_.erase(gone);
  }
}

// False: nobody waits there any more.
bool MemorySignals::wake(const Watched& watched) {
  auto* const queue = shared_.queue_of(watched.name);
  if (queue == nullptr || queue->wait.index != watched.index) return false;
  if (queue->wait.active) shared_.signals->look_again(*queue);
  return true;
}

}  // namespace npu::model
