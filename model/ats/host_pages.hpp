// SPDX-License-Identifier: Apache-2.0
// Pages of the host in address spaces of the card. What the tables of a space do not map may be
// addresses of a process on the host (SHARED_SPACE): their translations are asked for by ATS and
// kept in the MMU's TLB, pages that are not there are asked for by PRI. Pages at bus addresses
// are in the tables (abi/page_table.hpp: Host). Accesses to both go over the link.
//
// When the host takes a translation back (ATS Invalidate Request), those of the function are
// dropped, and it is over when no access goes on that was translated before.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <memory>
#include <systemc>

#include "model/ats/host_access.hpp"
#include "model/ats/translation_requests.hpp"
#include "model/config/chip_config.hpp"
#include "model/mmu/host_page_port.hpp"
#include "model/mmu/invalidation.hpp"

namespace npu::model {

class Mmu;

class HostPages : public sc_core::sc_module,
                  public ResetListener,
                  public HostPagePort,
                  private TranslationRequests::Listener {
 public:
  // To the endpoint: translation requests, page requests, reads and posted writes.
  tlm_utils::simple_initiator_socket<HostPages> host_socket{"host_socket"};

  HostPages(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
            const std::string& track, Mmu& mmu);

  // Before the simulation starts. `invalidated` is called with what invalidate() was given.
  void connect(HostServicesPort& services, std::function<void(std::uint64_t)> invalidated);
  // Where bytes lie that move without time; without it they cannot be reached so.
  void connect(HostMemoryPort& memory) { memory_ = &memory; }
  // The card has it: PAGE_FAULT_MODE says HostPages.
  bool enabled() const { return enabled_; }

  // --- The functions' registers.
  void share(SpaceId space, std::uint32_t pasid);
  void stop(SpaceId space);

  // --- The MMU.
  bool shares(SpaceId space) const override { return pasids_[space] != 0; }
  bool replays(TaggedAddress page) const override { return requests_.replays(page); }
  void want(tlm::tlm_generic_payload& trans, std::uint64_t address) override;
  void access(tlm::tlm_generic_payload& trans) override;
  std::byte* find(SpaceId space, std::uint64_t address, Bytes length, bool write) const override;
  std::byte* find_bus(SpaceId space, std::uint64_t bus, Bytes length, bool write) const override;
  void written(const std::byte* data, Bytes length) override { memory_->written(data, length, 0); }

  // --- The endpoint.
  // An Invalidate Request; whether it is over.
  bool invalidate(unsigned function, std::uint64_t request);
  bool page_response(unsigned function, const PageResponseMessage& message);
  void function_reset(unsigned function) override;

 private:
  using Waiting = TranslationRequests::Waiting;
  struct Invalidating {
    std::uint32_t shared = 0;  // VMIDs that have shared since the function's reset
    std::unique_ptr<Invalidation> unit;
    std::vector<std::uint64_t> now, next;  // requests
  };

  tlm::tlm_sync_enum send(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void granted(TaggedAddress page, bool write, const Waiting& waiting) override;
  void refused(const Waiting& waiting, Completion completion) override;
  void sent_back(tlm::tlm_generic_payload& trans) override;
  void settled(TaggedAddress page, Completion completion) override;
  void begin_invalidation(unsigned function);
  void invalidated(unsigned function);
  // From the first to the last of the function's spaces that share, or may have accesses in flight
  // because they did.
  TaggedRange shared_range(unsigned function) const;

  Mmu& mmu_;
  const bool enabled_;
  TranslationRequests requests_;
  HostAccess access_;
  HostServicesPort* services_ = nullptr;
  HostMemoryPort* memory_ = nullptr;
  std::function<void(std::uint64_t)> invalidated_;
  // By space; 0: it does not share.
  std::array<std::uint32_t, kMaxFunctions * abi::kVmids> pasids_{};
  std::vector<Invalidating> invalidating_;  // by function
};

}  // namespace npu::model
