// SPDX-License-Identifier: Apache-2.0
// What the host's cores send to the root complex: loads and stores of memory that is mapped,
// configuration accesses, invalidations; by the current task, at its CPU cost. Stores that are
// combined leave from the core's buffer when something else does, or at a barrier.
#pragma once

#include <tlm.h>

#include <array>
#include <memory>
#include <vector>

#include "model/core/simulation.hpp"
#include "model/host/cpu.hpp"
#include "model/host/host_statistics.hpp"
#include "model/host/weak_order.hpp"
#include "npu/platform/platform.hpp"

namespace npu::model {

class HostBus {
 public:
  using Socket = tlm::tlm_initiator_socket<>;

  HostBus(Socket& socket, Simulation& simulation, HostCpus& cpus, HostStatistics& statistics);

  // One access; `width` 1, 2, 4 or 8 bytes, aligned. `bar`: through which it is mapped; none: what
  // was stored before has left.
  std::uint64_t load(std::uint64_t address, unsigned width, const MappedBar& bar,
                     bool combines = false);
  void store(std::uint64_t address, std::uint64_t value, unsigned width, const MappedBar& bar);
  void store_combining(std::uint64_t address, std::uint64_t value, unsigned width,
                       const MappedBar& bar);
  // All that the current task has stored leaves.
  void drain();
  // A task looks on, or goes on with something else.
  void time_passes() {
    if (weak_) weak_->time_passes(cpus_.local_now());
  }
  // Null: stores leave in program order, but for those that are combined.
  WeakOrder* weak() { return weak_.get(); }
  void write_barrier();
  void read_barrier();
  std::uint32_t read_config(platform::Bdf bdf, std::uint32_t offset, unsigned width);
  void write_config(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value);
  // What the function has cached from `bus` on is invalidated; the core spins until it has
  // answered, or is known not to.
  Completion invalidate(std::uint32_t requester, std::uint64_t bus);
  std::uint32_t track() const { return track_; }  // of what goes over it

 private:
  // A core's write combining buffer: bytes of one 64-byte line, contiguous.
  struct CombiningBuffer {
    std::uint64_t address = 0;
    unsigned length = 0;
    MappedBar bar;
    SimTime issued = 0;  // the first of the stores
    std::array<unsigned char, 64> bytes{};
  };
  static std::uint64_t config_address(platform::Bdf bdf, std::uint32_t offset) {
    return std::uint64_t{bdf.packed()} << 12 | offset;
  }
  tlm::tlm_generic_payload& request(tlm::tlm_command command, TransactionKind kind,
                                    std::uint64_t address, const void* data, unsigned length);
  tlm::tlm_generic_payload& posted(std::uint64_t address, const void* data, unsigned length,
                                   unsigned bar);
  void send(tlm::tlm_generic_payload& payload, SimTime issued);
  void post_held(const HeldStore& store);
  void hold(std::uint64_t address, std::uint64_t value, unsigned width, const MappedBar& bar,
            bool combines);
  void drain_combining();
  void before_load(std::uint64_t address, unsigned width, const MappedBar& bar, bool combines);
  void trace_config(platform::Bdf bdf, std::uint32_t offset, unsigned width, SimTime begin);
  void trace_barrier(SimTime begin, bool read);

  Socket& socket_;
  Simulation& simulation_;
  HostCpus& cpus_;
  HostStatistics& statistics_;
  std::vector<CombiningBuffer> combining_;  // by core; unused if there is a weak order
  std::unique_ptr<WeakOrder> weak_;
  const std::uint32_t track_;
};

}  // namespace npu::model
