// SPDX-License-Identifier: Apache-2.0
// What devices send, on its way through the root complex: host memory accesses, interrupts, page
// requests; and what only passes, completions and requests for other devices.
//
// Order is kept per root port: a write is visible, an interrupt delivered, a read answered,
// anything else passed on only after every write to host memory that came before it through the
// same port.
#pragma once

#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/root_port.hpp"

namespace npu::model {

class HostAccesses {
 public:
  using Payload = tlm::tlm_generic_payload;
  class Router {
   public:
    virtual ~Router() = default;
    // The port that leads to a device's BAR; null: the address is the host's.
    virtual RootPort* peer_of(std::uint64_t address, Bytes length) = 0;
    // A completion for a core, or for another device.
    virtual void completion_passed(Payload& payload) = 0;
  };

  HostAccesses(Simulation& simulation, const RootComplexConfig& config, HostMemoryPort& memory,
               InterruptSink& interrupts, Router& router);

  void request_arrived(RootPort& port, Payload& payload);
  void completion_arrived(RootPort& port, Payload& payload);

 private:
  struct Dma {
    Payload* payload = nullptr;
    RootPort* port = nullptr;
    RootPort* peer = nullptr;  // a request for a device's BAR leaves there
    SimTime begin = 0;
    bool sampled = false;  // of a read: at its begin
  };

  std::uint64_t take(Payload& payload, RootPort& port);
  void release(std::uint64_t number) { free_.push_back(number); }
  void serve(std::uint64_t number);
  void serve_write(std::uint64_t number);
  void serve_read(std::uint64_t number);
  SimTime weakest_write(RootPort& port, const Payload& payload, SimTime visible);
  void sample_early(std::uint64_t number);
  void sample_lines(Payload& payload, const std::byte* data);
  void reject(std::uint64_t number, Completion completion);
  HostMemoryPort::Access access(const Payload& payload, bool begins);
  void trace_lookup(const Payload& payload, const HostMemoryPort::Access& found) const;
  void interrupt(std::uint64_t number);
  void page_request(std::uint64_t number);
  void store(std::uint64_t number);
  void sample(std::uint64_t number);
  void respond(std::uint64_t number);
  void push_writes(std::uint64_t number);
  void pass_on(std::uint64_t number);

  static constexpr SimTime kLateWrite = 2'000'000, kLateRead = 500'000;  // ps, weakest: at most
  static constexpr SimTime kApart = 100'000;  // relaxed writes that may not be earlier

  Simulation& simulation_;
  const SimTime latency_;
  HostMemoryPort& memory_;
  InterruptSink& interrupts_;
  Router& router_;
  const std::uint32_t track_, iommu_track_;
  std::vector<Dma> dmas_;
  std::vector<std::uint64_t> free_;
};

}  // namespace npu::model
