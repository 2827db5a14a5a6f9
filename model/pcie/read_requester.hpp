// SPDX-License-Identifier: Apache-2.0
// The endpoint as a requester: the reads and translations of the card's DMA over the link, their
// tags, timeouts and errors.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/deadlines.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/function_set.hpp"

namespace npu::model {

// A fault for tests: what becomes of one completion.
enum class CompletionFault : std::uint8_t {
  kNone,
  kPoison,
  kDrop,
  kUnsupported,  // its status, and no data
  kAbort,
};

// What a completion with the fault says, of one that said `otherwise`.
Completion completion_with(CompletionFault fault, Completion otherwise);

class ReadRequester {
 public:
  using Payload = tlm::tlm_generic_payload;
  class Owner {
   public:
    virtual ~Owner() = default;
    // Onto the link.
    virtual void send_read(Payload& wire) = 0;
    // The read that start() or reject() was called for is over, its completion says how. The next
    // one may be started from here.
    virtual void read_ended(unsigned port, Payload& client) = 0;
  };

  // Requests leave after the configuration's `egress`, completions arrive after its `ingress`.
  // Errors are told in the registers of the function that has asked.
  ReadRequester(Simulation& simulation, const EndpointConfig& config, FunctionSet& functions,
                Owner& owner);

  // `port` is handed back to the owner. Data are copied to the client when it ends well.
  void start(unsigned port, Payload& client);
  // A read that the function may not send ends with kCompleterAbort, as late as it would leave.
  void reject(unsigned port, Payload& client);
  void completion_arrived(Payload& wire);
  // A completion does not arrive: its read ends with a timeout, unless it was given up before.
  void lose(const Payload& wire);
  // Every open read of the function ends with kCompleterAbort, now.
  void abort(unsigned function);

  bool is_pending(unsigned function) const;
  std::size_t outstanding() const { return outstanding_; }
  void fail_next_completion(CompletionFault fault) { fault_ = fault; }

  // For its Deadlines.
  bool is_waiting(std::uint64_t context) const;
  void timed_out(std::uint64_t context);

 private:
  // A read of the card's DMA between its BEGIN_REQ and its BEGIN_RESP. A payload of the endpoint's
  // own travels, so that one that comes back late meets nobody else's memory.
  struct Tag {
    Payload* client = nullptr;  // null: free, or given up and waiting for the late completion
    bool travelling = false;    // the request or its completion is on its way
    unsigned port = 0;
    unsigned function = 0;
    std::uint32_t generation = 0;
    std::unique_ptr<unsigned char[]> data;  // the completion's, until the client takes it
  };

  unsigned take_tag();
  Payload& make_wire(const Payload& client, unsigned number);
  void send(std::uint64_t wire);
  void rejected(std::uint64_t handle);
  void deliver(std::uint64_t handle);
  void end(unsigned number, Completion completion, const unsigned char* data);
  void log_error(Completion completion, const Payload& payload);

  Simulation& simulation_;
  const SimTime egress_, ingress_;
  FunctionSet& functions_;
  Owner& owner_;
  std::vector<Tag> tags_;
  std::vector<unsigned> free_tags_;
  std::size_t outstanding_ = 0;
  Deadlines<ReadRequester> deadlines_;
  CompletionFault fault_ = CompletionFault::kNone;
};

}  // namespace npu::model
