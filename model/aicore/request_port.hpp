// SPDX-License-Identifier: Apache-2.0
// A core's requests to memory, its pipes' and its scalar unit's, and how many are in flight.
#pragma once

#include "model/aicore/call_stack.hpp"
#include "model/aicore/memory_pipe.hpp"
#include "model/aicore/statistics.hpp"

namespace npu::model {

class RequestPort {
 public:
  class Carrier {
   public:
    virtual ~Carrier() = default;
    // A request for time alone; its answer comes with its slot.
    virtual void send(unsigned core, const MemoryRequest& request, const KernelBlock& block) = 0;
  };
  // A slot as it travels.
  struct Slot {
    platform::Pipe pipe;
    std::uint32_t place;  // below 2^kPipeShift: what the pipe, or the scalar unit, knows it by
  };

  RequestPort(Carrier& carrier, unsigned core, const CallStack& calls,
              ProgramCoreStatistics& statistics)
      : carrier_(carrier), core_(core), calls_(calls), statistics_(statistics) {}

  static Slot unpack(std::uint32_t slot) {
    return {static_cast<platform::Pipe>(slot >> kPipeShift), slot & ((1U << kPipeShift) - 1)};
  }

  void send(platform::Pipe pipe, const MemoryRequest& request) {
    MemoryRequest numbered = request;
    numbered.slot |= static_cast<std::uint32_t>(pipe) << kPipeShift;
    ++in_flight_;
    ++statistics_.requests;
    statistics_.events.sent(request.write, request.rows * request.row_bytes);
    carrier_.send(core_, numbered, calls_.block());
  }
  // Nobody waits for it: a block may end before its answer comes.
  void send_ahead(const MemoryRequest& request) {
    send(platform::Pipe::kScalar, request);
    --in_flight_;
  }
  // One that will be sent later counts from now on.
  void announce() { ++in_flight_; }
  void send_announced(const MemoryRequest& request) {
    --in_flight_;
    send(platform::Pipe::kScalar, request);
  }
  void answered() { --in_flight_; }
  bool idle() const { return in_flight_ == 0; }
  // Those that are in flight will not be heard of.
  void forget() { in_flight_ = 0; }

 private:
  static constexpr unsigned kPipeShift = 28;

  Carrier& carrier_;
  const unsigned core_;
  const CallStack& calls_;
  ProgramCoreStatistics& statistics_;
  unsigned in_flight_ = 0;
};

}  // namespace npu::model
