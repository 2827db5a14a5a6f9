// SPDX-License-Identifier: Apache-2.0
// A function's page faults that are served (abi/page_fault.hpp): requests that wait in the MMU, the
// ring in host memory or the control processor that is told of them, and the replies.
//
// What waits for one page, or where there are residency maps for one part of 4 KiB of it, in one
// way from one core is one fault, and has one record; later requests join it. A reply is for all
// faults of its page, or of its space.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/core/space_id.hpp"
#include "model/mmu/tagged_address.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class Mmu;

class PageFaults {
 public:
  using Waiting = std::vector<tlm::tlm_generic_payload*>;

  // A control processor.
  class Listener {
   public:
    virtual ~Listener() = default;
    // Whether somebody is there to take them.
    virtual bool takes_faults() const = 0;
    // There may be one more to take.
    virtual void fault_waits() = 0;
  };

  // Installs itself behind the page fault registers of `registers` and attaches itself to `mmu`.
  PageFaults(CardRegisters& registers, Mmu& mmu, PageFaultPolicy policy);
  PageFaults(const PageFaults&) = delete;
  PageFaults& operator=(const PageFaults&) = delete;

  // Of the maps of pages with parts, in the function's memory.
  std::optional<std::uint64_t> residency_base() const;
  bool serves(SpaceId space) const { return (spaces_ >> vmid_of(space) & 1) != 0; }
  // Whether a request of `space` that fails like this waits.
  bool keeps(SpaceId space, Completion completion) const {
    const bool served = serves(space) && attended_;
    return served && (completion == Completion::kNotMapped || completion == Completion::kForbidden);
  }
  // `client` of the MMU has sent it to `address` of its own space.
  void park(tlm::tlm_generic_payload& trans, std::uint64_t address, unsigned client,
            Completion completion);
  std::size_t waiting() const { return faults_.size(); }
  // Whether the MMU's PageListener will be told of the page.
  bool replays(TaggedAddress page) const;

  // For the control processor.
  void connect(Listener& listener) { listener_ = &listener; }
  // That it has not taken.
  unsigned to_take() const;
  // The oldest of them; nothing: there is none.
  std::optional<abi::PageFaultRecord> take();
  void reply(SpaceId vmid, std::uint64_t page, bool abort);
  // Whether it takes_faults() has changed. What waits for nobody fails.
  void listener_changed();

  // The host has said something that did not come.
  void host_write_lost();
  // What it could not.
  void may_send_again();

  // Gives what waits, which nobody will be told of any more.
  Waiting reset();

 private:
  struct Fault {
    abi::PageFaultRecord record;
    TaggedAddress page, part;
    Completion completion;
    SimTime since;
    std::uint64_t cause;
    enum class State : std::uint8_t { kUntold, kTold, kTaken } state;
    bool replays = false;  // the MMU's PageListener waits for it, too
    Waiting waiting;
  };

  void enable(abi::PageFaultControl control);
  void consumed(std::uint32_t consumer);
  void tell_again();
  void spaces_changed(std::uint32_t spaces);
  void reply_written(abi::PageFaultReply reply);
  void join(Fault& fault, tlm::tlm_generic_payload& trans);
  template <class Which>
  void end(Which which, bool abort);
  void tell_next();
  void tell(std::uint64_t epoch);
  void raise(std::uint64_t cause);
  void post(const abi::PageFaultRecord& record, std::uint64_t cause);
  void announce();
  bool may_tell() const;

  CardRegisters& registers_;
  RegisterBank& bank_;
  Mmu& mmu_;
  std::uint32_t spaces_ = 0;   // PAGE_FAULT_SPACES
  std::vector<Fault> faults_;  // in order of arrival
  Listener* listener_ = nullptr;
  bool attended_ = true;     // somebody takes them
  bool to_control_ = false;  // no ring
  bool telling_ = false;     // tell() is scheduled
  bool writes_lost_ = false;
  bool announcing_ = false;                    // a record of that is still to be written
  bool send_lost_ = false;                     // a record could not be written
  std::vector<abi::PageFaultRecord> written_;  // by its place in the ring
  std::uint64_t epoch_ = 0;                    // resets and Enables
  std::uint64_t base_ = 0;                     // of the ring; 0: none
  std::uint32_t size_ = 0;                     // records
  std::uint32_t produced_ = 0;                 // records since Enable
};

}  // namespace npu::model
