// SPDX-License-Identifier: Apache-2.0
// The DMA module of a card: submission queue, engines, and the sockets they share.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <vector>

#include "model/dma/dma_ports.hpp"
#include "model/dma/dma_types.hpp"
#include "model/dma/engine.hpp"
#include "model/dma/ring_front_end.hpp"
#include "model/dma/translation_cache.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class Dma : public sc_core::sc_module,
            public ResetListener,
            public WriteLossListener,
            public DmaRequestPort,
            public Engine::Listener {
 public:
  // Installs itself behind the DMA registers of `registers`; all references outlive the module.
  Dma(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
      CardRegisters& registers);

  // Bus addresses. Reads of at most max_read_request bytes that stay in one 4 KiB page, posted
  // writes of at most one 4 KiB page, kTranslation reads. After a posted write's call `delay` says
  // how long the transmitter needs to take it (0: taken); it bounds what an engine sends.
  tlm_utils::simple_initiator_socket<Dma> host_socket{"host_socket"};
  // Reads and writes of at most device_chunk bytes, both with responses, that stay in a chunk and
  // carry the VMID of their stream; ring fetches, of VMID 0. The payloads' data pointers stay valid
  // until the response or the reset: after that no bytes may move.
  tlm_utils::simple_initiator_socket<Dma> hbm_socket{"hbm_socket"};

  // Before the simulation starts; without it the Interrupt flag of a command does nothing.
  void connect(InterruptPort& interrupts) { shared_.interrupts = &interrupts; }
  // The second port to the engines.
  void connect(DmaRequestPort::Listener& listener) override { requester_ = &listener; }
  bool can_request() const override;
  void request(const DmaCommand& command) override;
  void stop(std::uint64_t context) override;

  // The IOMMU unmapped something of this function: cached translations are gone, and copies under
  // way ask again.
  void invalidate_translations();
  // Stops everything and forgets it; late responses are dropped.
  void function_reset(unsigned function) override;
  // It may have been an entry of the ring: halts the queue before old ones are taken for new.
  void host_write_lost(unsigned, std::uint64_t address) override {
    front_end_.host_write_lost(address);
  }

  const DmaStatistics& statistics() const { return shared_.statistics; }
  // No command of the ring is fetched, queued or executed.
  bool idle() const { return front_end_.idle(); }

 private:
  // One that is executed and one to follow, so that its priority is decided late.
  static constexpr unsigned kRequestsPerEngine = 2;

  Engine& least_loaded() const;
  void command_completed(const DmaCommand& command) override;
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  TranslationCache translations_;
  DmaPorts ports_;
  DmaShared shared_;
  std::vector<std::unique_ptr<Engine>> engines_;
  RingFrontEnd front_end_;
  DmaRequestPort::Listener* requester_ = nullptr;
  bool requests_turn_ = false;  // the last place that both waited for was offered to requests first
  bool take_turn_ = false;      // while it is
};

}  // namespace npu::model
