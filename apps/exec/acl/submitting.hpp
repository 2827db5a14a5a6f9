// SPDX-License-Identifier: Apache-2.0
// What who looks for races hears of calls that submit work and wait for it. Without a detector
// nothing of this does anything.
#pragma once

#include <cstdint>

#include "apps/exec/races/detector.hpp"
#include "npu/driver/queue.hpp"

namespace npu::exec::acl {

inline races::Detector::Ticket ticket_of(std::uint32_t device, const driver::QueueTicket& ticket) {
  return {device, ticket.queue.value, ticket.index, ticket.submitted};
}

// A stream, or the queue of a card's own copies, as the detector knows it.
struct WatchedWork {
  races::Detector* races = nullptr;  // null: nobody looks for races
  std::uint32_t device = 0;
  std::uint64_t number = races::FoundRaces::Work::kNone;  // of the stream in its program
  races::CallSite site;                                   // of the call that uses it now
  driver::QueueTicket last;                               // of what was submitted last

  // The host has waited for the entry.
  void known(const driver::QueueTicket& ticket) const {
    if (races != nullptr && ticket.sequence != 0) {
      races->known(ticket_of(device, ticket));
    }
  }
};

// A call submits something, for as long as this lives.
class Submitting {
 public:
  explicit Submitting(WatchedWork& work) : work_(work) {
    if (work.races != nullptr) number_ = work.races->begin(work.site, work.number);
  }
  ~Submitting() {
    if (work_.races != nullptr) work_.races->end(number_);
  }
  Submitting(const Submitting&) = delete;
  Submitting& operator=(const Submitting&) = delete;

  bool is_watched() const { return work_.races != nullptr; }
  // It has, up to there.
  void made(const driver::QueueTicket& ticket) {
    if (work_.races == nullptr || ticket.sequence == 0) return;
    work_.races->made(number_, ticket_of(work_.device, ticket));
    work_.last = ticket;
  }

 private:
  WatchedWork& work_;
  std::uint32_t number_ = 0;
};

}  // namespace npu::exec::acl
