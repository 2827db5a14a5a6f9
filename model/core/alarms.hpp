// SPDX-License-Identifier: Apache-2.0
// Limits of waits: up to when a process waits for an event. Most waits end long before theirs, and
// the kernel would keep each of these until its time comes, which makes every other one slower to
// find. Here a limit is gone with its wait, and the kernel knows of the earliest one alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <systemc>
#include <vector>

#include "model/core/stepped_event.hpp"

namespace npu::model {

// Whose limit it is: of who goes on then, or of who only looks then whether others have gone on.
enum class LimitOf : std::uint8_t { kWait, kLook };

class Alarms : public sc_core::sc_module {
 public:
  // `is_alone`: whether nothing but a limit is left that could make anything happen.
  Alarms(const sc_core::sc_module_name& name, std::function<bool()> is_alone);
  SC_HAS_PROCESS(Alarms);

  // For processes, with the kernel at their time: until `event` or `limit`, picoseconds.
  void wait(const sc_core::sc_event& event, std::uint64_t limit, LimitOf of = LimitOf::kWait);
  // Something has happened that anybody may wait for: who looks is allowed to find it.
  void note_progress() {
    ++standstill_;
    vain_looks_ = 0;
  }
  // The earliest limit; UINT64_MAX: nobody waits with one.
  std::uint64_t first() const { return waits_.empty() ? UINT64_MAX : (*waits_.begin())->limit; }
  // The kernel has none of them among what it has to do, until arm().
  void disarm() { due_.disarm(); }
  void arm();
  // Where the kernel has nothing else to do it must not go on to a limit whose wait has ended.
  void forget_ended() {
    if (waits_.empty()) disarm();
  }

 private:
  struct Wait {
    std::uint64_t limit;
    std::uint64_t number;  // of equal limits the one that was first there is over first
    LimitOf of;
    std::uint64_t standstill;  // in which it began
    sc_core::sc_event* over;
    bool rung = false;
  };
  struct Earlier {
    bool operator()(const Wait* a, const Wait* b) const {
      return a->limit != b->limit ? a->limit < b->limit : a->number < b->number;
    }
  };
  // Ends with the wait, also with one whose process is killed.
  class Entry;

  void ring();
  void forget(Wait& wait);
  bool looks_in_vain();

  const std::function<bool()> is_alone_;
  std::set<Wait*, Earlier> waits_;
  std::size_t looks_ = 0;         // of them
  std::uint64_t standstill_ = 0;  // there have been so many
  unsigned vain_looks_ = 0;       // in it
  std::uint64_t number_ = 0;
  SteppedEvent due_;  // armed for the first one, or for one before it whose wait has ended
  std::vector<std::unique_ptr<sc_core::sc_event>> events_;
  std::vector<sc_core::sc_event*> free_;
};

}  // namespace npu::model
