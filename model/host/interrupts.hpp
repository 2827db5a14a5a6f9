// SPDX-License-Identifier: Apache-2.0
// The host's side of MSI-X: message addresses and data, and who waits for them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/host/cpu.hpp"

namespace npu::model {

// A vector as the operating system keeps it.
struct VectorState {
  std::uint32_t data = 0;  // MSI-X message data that selects it
  std::uint64_t count = 0;
  SimTime last_arrival = 0;  // of its message
  std::uint64_t last_cause = 0;
  sc_core::sc_event arrived;
  unsigned core = 0;              // whose handler serves it
  std::function<void()> handler;  // called for each message, if there is one
  unsigned coming = 0;            // messages whose handlers have not ended
};

class Interrupts : public InterruptSink {
 public:
  static constexpr std::uint64_t kMessageAddress = 0xFEE0'0000;

  // Handlers run on `cpus`: vectors are dealt out from the last core downwards, away from where
  // tasks begin.
  Interrupts(Simulation& simulation, HostCpus& cpus);

  // Null if the vector is open already.
  std::shared_ptr<VectorState> open(std::uint32_t requester, unsigned vector);
  void close(std::uint32_t requester, unsigned vector);

  void message(std::uint32_t requester, std::uint64_t address, std::uint32_t data,
               std::uint64_t cause) override;
  // Messages that came to an open vector.
  std::uint64_t taken() const { return taken_; }
  // Messages that no open vector claims.
  std::uint64_t spurious() const { return spurious_; }

 private:
  // A message whose handler runs.
  struct Message {
    std::uint32_t requester;
    std::uint32_t data;
    unsigned core;
    SimTime arrival;
    std::uint64_t cause;
  };
  void serve(const Message& message, SimTime end);
  void handled(std::uint64_t message);

  // With order.rule=weakest.
  static constexpr SimTime kLate = 20'000'000;  // ps, of a handler, at most
  static constexpr unsigned kDoubled = 8;       // one of so many comes twice

  Simulation& simulation_;
  HostCpus& cpus_;
  std::vector<Message> messages_;
  std::vector<std::uint64_t> free_messages_;
  unsigned opened_ = 0;
  std::map<std::pair<std::uint32_t, unsigned>, std::shared_ptr<VectorState>> open_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, VectorState*> by_data_;
  std::uint32_t next_data_ = 0x20;  // vectors below are the processor's own exceptions
  std::uint64_t taken_ = 0;
  std::uint64_t spurious_ = 0;
  std::uint32_t track_;
};

}  // namespace npu::model
