// SPDX-License-Identifier: Apache-2.0
// The card's HBM: bytes in sparse memory, time from one command-level controller per channel.
//
// Protocol: model/core/transaction.hpp. Addresses are device-local bytes, 0 .. installed - 1;
// requests of one byte or more with any alignment (a burst that is touched in part costs a whole
// one); of a strided one (Transaction::rows) each row costs what it would by itself. Bytes move, if
// there is a data pointer, when BEGIN_REQ arrives: writes are in memory, reads in the payload's
// data when the call returns. The request reaches the controllers `frontend` later; BEGIN_RESP
// comes
//  - for a read, `backend` after the last burst's data has left the DRAM,
//  - for a write, when the DRAM has taken the last burst's data (CWL and the burst after its WR);
//    a posted write has no response and is released at that time.
// An access beyond `installed`, or of no bytes, moves nothing; its response
// (TLM_ADDRESS_ERROR_RESPONSE, Completion::kUnsupportedRequest) comes `frontend` + `backend` later.
// Requests are never refused: what the controllers' queues cannot hold waits in order of arrival.
#pragma once

#include <memory>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/core/sparse_memory.hpp"
#include "model/hbm/channel_set.hpp"
#include "model/hbm/clock_domain.hpp"
#include "model/hbm/completion_wheel.hpp"
#include "model/hbm/ecc.hpp"
#include "model/hbm/hbm_statistics.hpp"

namespace npu::model {

// Bytes of the requests so far.
struct HbmBytes {
  Bytes read = 0, written = 0;
};

class Hbm : public sc_core::sc_module {
 public:
  using Socket = tlm::tlm_target_socket<>;

  // `ports`: number of target sockets, all alike. Trace events carry the track `track_name`.
  Hbm(const sc_core::sc_module_name& name, Simulation& simulation, const HbmConfig& config,
      unsigned ports, std::string_view track_name);

  sc_core::sc_vector<Socket> port_sockets;

  // The bytes, for loading and inspection; no time passes.
  SparseMemory& memory() { return memory_; }
  // Is told of the bytes that requests write, not of those written through transport_dbg.
  void observe_writes(WriteObserver& observer) { observer_ = &observer; }
  // Over all channels, up to the time at which a request of now would reach the controllers: they
  // are `frontend` ahead.
  HbmStatistics statistics();
  HbmBytes traffic() const { return traffic_; }
  // A read that meets an error that cannot be corrected ends with kPoisoned, and its data are not
  // to be used.
  hbm::Ecc& ecc() { return ecc_; }
  // A channel is refreshed `pace` times as often from now on, as one that is hot; 1: as configured.
  // Not with fidelity `run`.
  void set_refresh_pace(unsigned channel, unsigned pace);
  // Watches the commands of one channel; null: nobody. Costs a branch per command when unused.
  // With fidelity `run` there are none.
  void watch(unsigned channel, hbm::CommandObserver* observer) {
    channels_.watch(channel, observer);
  }

 private:
  static constexpr SimTime kNotArmed = UINT64_MAX;
  static constexpr std::uint32_t kNoTag = UINT32_MAX;
  struct Pending {
    tlm::tlm_generic_payload* payload;
    std::uint64_t begin;      // when BEGIN_REQ came
    hbm::Clock last;          // last burst's data
    std::uint32_t remaining;  // bursts; of a free entry: the next one
    std::uint16_t port;
    bool write;
  };

  // What a target socket is bound to. No convenience socket: its detours would be felt.
  class Port : public tlm::tlm_fw_transport_if<> {
   public:
    Port(Hbm& hbm, std::uint16_t number) : hbm_(hbm), number_(number) {}
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;

   private:
    Hbm& hbm_;
    std::uint16_t number_;
  };

  void request(tlm::tlm_generic_payload& payload, std::uint16_t port);
  bool inside(const tlm::tlm_generic_payload& payload, Bytes extent) const;
  void move_bytes(tlm::tlm_generic_payload& payload, unsigned rows, Bytes pitch);
  void move_rows(tlm::tlm_generic_payload& payload, unsigned rows, Bytes pitch);
  void check(tlm::tlm_generic_payload& payload);
  void refuse(std::uint32_t tag);
  std::uint32_t new_pending(tlm::tlm_generic_payload& payload, std::uint16_t port);
  void submit(std::uint32_t tag, std::uint64_t first, std::uint64_t end, bool write);
  void submit_rows(std::uint32_t tag, const tlm::tlm_generic_payload& payload);
  // Fidelity `run`.
  void expect_completion(std::uint32_t tag);
  void complete_late(std::uint64_t tag);
  // The clock up to which everything that reaches the controllers is known: what is asked for from
  // now on comes there `frontend` later.
  hbm::Clock horizon() { return arrival_clock(sim_now()); }
  hbm::Clock arrival_clock(SimTime now);
  // Idle channels only if `all`.
  void advance_channels(hbm::Clock clock, bool all);
  void collect();
  void log_refreshes(unsigned channel);
  void wake(std::uint64_t when);
  void arm();
  void complete_due(SimTime now);
  void complete_until(hbm::CompletionWheel& wheel, hbm::Clock clock);
  void complete(std::uint32_t tag);
  std::uint64_t channels_of(const tlm::tlm_generic_payload& payload) const;
  void complete_refused(std::uint64_t tag);
  // When the transaction completing at `clock` ends.
  SimTime read_end(hbm::Clock clock) const { return clocks_.time(clock) + backend_; }
  // A burst may be served at `clock`, none before.
  void expect_service(hbm::Clock clock);

  Simulation& simulation_;
  WriteObserver* observer_ = nullptr;
  std::vector<std::unique_ptr<Port>> ports_;
  HbmConfig config_;
  std::uint32_t track_;
  SparseMemory memory_;
  hbm::Ecc ecc_;
  HbmBytes traffic_;
  hbm::ClockDomain clocks_;
  unsigned burst_shift_;  // bursts have a power of two of bytes
  SimTime frontend_;
  SimTime backend_;
  std::vector<hbm::BurstDone> done_;
  std::vector<hbm::RefreshDone> refresh_log_;
  hbm::ChannelSet channels_;
  hbm::Clock read_latency_;
  hbm::Clock write_latency_;
  std::vector<Pending> pending_;
  std::uint32_t free_pending_ = kNoTag;  // linked by `remaining`
  std::size_t writes_pending_ = 0;
  hbm::CompletionWheel reads_;  // pending_ indices by the clock of their last data
  hbm::CompletionWheel writes_;
  SimTime advance_at_ = kNotArmed;     // all channels are to be advanced then,
  hbm::Clock expected_ = hbm::kNever;  // because a burst may be served at this clock,
  SimTime armed_for_ = kNotArmed;
  SimTime arrival_time_ = UINT64_MAX;  // of the last request, and the clock edge it reaches the
  hbm::Clock arrival_clock_ = 0;       // controllers at
  bool expected_with_writes_ = false;  // what is expected may be a write
  bool awake_ = false;
};

}  // namespace npu::model
