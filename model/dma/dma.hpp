// SPDX-License-Identifier: Apache-2.0
// The DMA engines of a card and the sockets that they and the rings of its functions share.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <vector>

#include "model/dma/dma_ports.hpp"
#include "model/dma/dma_types.hpp"
#include "model/dma/engine.hpp"
#include "model/dma/held_requests.hpp"
#include "model/dma/translation_cache.hpp"

namespace npu::model {

class RingFrontEnd;

class Dma : public sc_core::sc_module,
            public ResetListener,
            public DmaRequestPort,
            private Engine::Listener,
            private PageListener {
 public:
  // `config` outlives the module; `device_index` is the card's, in traces.
  Dma(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
      unsigned device_index);

  // Bus addresses. Reads of at most max_read_request bytes that stay in one 4 KiB page, posted
  // writes of at most one 4 KiB page, kTranslation reads. After a posted write's call `delay` says
  // how long the transmitter needs to take it (0: taken); it bounds what an engine sends.
  tlm_utils::simple_initiator_socket<Dma> host_socket{"host_socket"};
  // Reads and writes of at most device_chunk bytes, both with responses, that stay in a chunk and
  // carry the address space of their request; ring fetches, of the function's own addresses. The
  // payloads' data pointers stay valid until the response or the reset: after that no bytes may
  // move.
  tlm_utils::simple_initiator_socket<Dma> hbm_socket{"hbm_socket"};
  // Reads of prefetches, without data, of the same sizes; need not be bound where there are none.
  tlm_utils::simple_initiator_socket_optional<Dma> l2_socket{"l2_socket"};

  // Before the simulation starts: the ring of the next function.
  void attach(RingFrontEnd& ring) { rings_.push_back(&ring); }
  void connect(DmaClient& client) override { requester_ = &client; }
  // Without it no request is answered with kPageFault.
  void connect(PagePort& pages);
  bool can_request(unsigned function) const override;
  void request(const DmaRequest& request) override;
  void stop(std::uint64_t context) override;

  Engine& engine(std::size_t index) { return *engines_[index]; }
  // What the engine has lost (Engine::lose_next()) is carried out, late.
  void find_lost(unsigned engine);
  // The one of the function's engines that has least to do.
  std::size_t least_loaded(unsigned function) const;
  // One more, for the driver's page copies, which others may wait for.
  std::size_t own_engine(unsigned function) const { return shared_.config.dma.engines + function; }
  // What needs pages that are not there, and its streams.
  HeldRequests& held() { return held_; }
  // What the function has is another.
  void set_partition(unsigned function, const Partition& partition) {
    shared_.partitions[function] = partition;
  }
  const BandwidthWeights& bandwidth() const { return shared_.bandwidth; }
  BandwidthWeights& bandwidth() { return shared_.bandwidth; }
  DmaShared& shared() { return shared_; }

  // The IOMMU unmapped something of the function: cached translations are gone, and copies under
  // way ask again.
  void invalidate_translations(unsigned function);
  // Stops what is done for the function and forgets it; late responses are dropped.
  void function_reset(unsigned function) override;

  const DmaEngineStatistics& statistics() const { return shared_.statistics; }

 private:
  // One that is executed and one to follow, so that its priority is decided late.
  static constexpr unsigned kRequestsPerEngine = 2;

  void request_left(const DmaRequest& request) override;
  void request_lost(DmaRequest request, std::vector<DmaRequest> behind) override;
  void page_missing(DmaRequest request, const MissingPage& page,
                    std::vector<DmaRequest> behind) override;
  void page_resolved(SpaceId space, std::uint64_t address, Completion completion) override;
  void offer_place();
  void resume_held();
  bool ring_held_up() const;
  void offer_places(std::uint64_t);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  TranslationCache translations_;
  DmaPorts ports_;
  DmaShared shared_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<RingFrontEnd*> rings_;  // by function
  std::size_t first_ring_ = 0;        // that is offered a free place
  DmaClient* requester_ = nullptr;
  PagePort* pages_ = nullptr;
  HeldRequests held_;
  bool requests_turn_ = false;  // the last place that both waited for was offered to requests first
  bool take_turn_ = false;      // while it is
};

}  // namespace npu::model
