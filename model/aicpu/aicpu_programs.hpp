// SPDX-License-Identifier: Apache-2.0
// Programs in device memory on the AICPUs of a card, behind the port of the command processor.
//
// Wiring: memory_socket to an MMU client; MemoryWatch::add_snooper(); connect_windows(), if the
// card has register windows of AI Cores; function_reset() from the card.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/aicpu/aicpu_core.hpp"
#include "model/aicpu/held_lines.hpp"
#include "model/aicpu/writes_under_way.hpp"
#include "model/core/busy_time.hpp"
#include "model/core/memory_watch.hpp"
#include "model/core/space_id.hpp"

namespace npu::model {

class AicpuPrograms : public sc_core::sc_module,
                      public KernelPort,
                      public ResetListener,
                      public MemoryWatch::Snooper,
                      private CoreWindows::Listener,
                      private AicpuShared {
 public:
  // Trace events of core i carry the track `track_prefix` + i. References outlive the module.
  AicpuPrograms(const sc_core::sc_module_name& name, Simulation& simulation,
                const CoreConfig& launch_times, const AicpuProgramConfig& program_times,
                unsigned core_count, std::string_view track_prefix,
                DeviceMemoryPort& device_memory);
  ~AicpuPrograms() override;

  // Reads of 64 bytes and of pieces of images, with responses; no bytes move. In one page of 2 MiB.
  tlm_utils::simple_initiator_socket<AicpuPrograms> memory_socket{"memory_socket"};

  // `of_functions`: which of the windows programs of each function see; empty: function 0 sees all.
  void connect_windows(CoreWindows& register_windows,
                       std::vector<std::vector<unsigned>> of_functions = {});
  void connect(KernelPort::Listener& listener) override { listener_ = &listener; }
  unsigned cores() const override { return static_cast<unsigned>(cores_.size()); }
  void start(unsigned core, const KernelBlock& block) override;
  void stop(std::uint64_t context) override;
  void function_reset(unsigned function) override;
  // A core that hangs executes nothing, until a reset of the function that has used it last.
  void set_hung(unsigned core, bool hung) { cores_[core]->set_hung(hung); }
  // Programs of the function see these windows from now on; none of it runs.
  void set_windows(unsigned function, std::vector<unsigned> seen) {
    windows_of[function] = std::move(seen);
  }
  void snoop(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length) override;
  void snoop_local(std::uint64_t address, Bytes length) override;

  // Every round of a poll loop is run; for tests.
  void poll_naively(bool naive) { naive_polling = naive; }
  AicpuStatistics statistics() const;
  // For snoopers that hear of a write of an AICPU: its number.
  unsigned writer() const { return writer_; }
  // Time with a block, from its start to its end.
  SimTime busy(unsigned core) const { return busy_[core].until(sim_now()); }

 private:
  static constexpr unsigned kNobody = ~0U;
  static constexpr SimTime kLateSnoop = 2'000'000;  // ps, with order.rule=weakest: at most

  void request(unsigned core, Access access, SpaceId vmid, std::uint64_t address, Bytes length,
               std::uint64_t cause) override;
  struct Snoop {
    std::uint64_t address;
    Bytes length;
    SpaceId vmid;
  };
  void snoop_later(SpaceId vmid, std::uint64_t address, Bytes length);
  void snoop_due(std::uint64_t);
  Completion write(unsigned core, Writer writer, SpaceId vmid, std::uint64_t address,
                   const void* data, Bytes length) override;
  void caches(unsigned core, SpaceId vmid, std::uint64_t line) override;
  SimTime arrival(SpaceId vmid, std::uint64_t address, Bytes length) const override;
  void watch_register(unsigned core, unsigned ai_core) override;
  void register_written(unsigned ai_core) override;
  bool goes_later(unsigned core, SimTime when) const override;
  void register_changed(unsigned ai_core, std::uint32_t offset) override;
  void done(unsigned core, const KernelBlock& block, const CommandFault& fault) override;
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  std::vector<std::unique_ptr<AicpuCore>> cores_;
  std::vector<std::uint64_t> watchers_;  // by AI Core: a bit for each core that sleeps on it
  HeldLines held_;                       // where DMA is snooped
  WritesInFlight writes_;                // of AI Cores
  std::deque<Snoop> snoops_;             // those of them to lines that a cache holds
  SimTime last_snoop_ = 0;               // with order.rule=weakest: they come in order
  KernelPort::Listener* listener_ = nullptr;
  unsigned writer_ = kNobody;
  std::vector<BusyTime> busy_;         // by core
  std::vector<std::uint32_t> epochs_;  // by core: resets seen
};

}  // namespace npu::model
