// SPDX-License-Identifier: Apache-2.0
// One direction of a link as a timeline. A message (a request, or a response) is cut into packets.
// One without data is one packet and goes between those of others: acknowledgements and read
// requests do not wait for a whole message. One with data takes the wire for all its packets at
// once; the wire serves the flows that have such messages in fair shares (fair_queues.hpp). Data
// needs room in the receiver's buffer (credits) of its pool, and a pool never holds up another.
#pragma once

#include <array>
#include <queue>
#include <string>
#include <tlm>
#include <vector>

#include "model/config/fabric_config.hpp"
#include "model/core/simulation.hpp"
#include "model/core/transaction.hpp"
#include "model/link/fair_queues.hpp"

namespace npu::model {

// What one direction has carried.
struct FabricWireStatistics {
  std::uint64_t messages = 0;
  Bytes payload_bytes = 0;
  Bytes wire_bytes = 0;            // packets: payload and overhead
  SimTime busy = 0;                // ps the wire carried any of these
  std::uint64_t credit_waits = 0;  // times it stood idle with data that found no room
  Bytes queued = 0;                // data that waits for it now
  Bytes queue_peak = 0;            // at most
};

class FabricWire {
 public:
  // A message on its way over the wire.
  struct Passage {
    SimTime begin;  // its first byte leaves
    SimTime end;    // its last one has left
    Bytes payload;
  };
  class Listener {
   public:
    virtual ~Listener() = default;
    // Of wire `wire`, when `message` begins to leave. When arrived() shall be called for it, not
    // before `begin`.
    virtual SimTime leaves(unsigned wire, tlm::tlm_generic_payload& message, bool response,
                           const Passage& passage) = 0;
    virtual void arrived(unsigned wire, tlm::tlm_generic_payload& message, bool response) = 0;
  };

  // `receive_buffer`: the credits of each pool. Trace events carry the track `track_name`.
  FabricWire(Simulation& sim, const FabricLinkConfig& transmitter, Bytes receive_buffer,
             unsigned number, Listener& listener, const std::string& track_name);

  // Flows have a number in a pool (FairQueues).
  void send(tlm::tlm_generic_payload& message, bool response, unsigned pool, std::uint32_t flow);
  // The receiver has room for `data` bytes of a pool again, now or later.
  void give_back(unsigned pool, Bytes data);
  void give_back_at(SimTime when, unsigned pool, Bytes data);

  // When a message has come so far that `next` may begin to send it on without a gap, behind a
  // switch or NIC of `latency`. A store waits for whole packets, each as large as those of `next`.
  SimTime ready(const Passage& passage, const FabricWire& next, SimTime latency,
                FabricForwarding forwarding) const;
  SimTime arrives(const Passage& passage) const { return passage.end + propagation_; }
  SimTime propagation() const { return propagation_; }

  // Of a message with `payload` bytes of data.
  Bytes wire_bytes(Bytes payload) const;
  SimTime wire_time(Bytes bytes) const;  // rounded up to 1 ps
  std::uint64_t rate() const { return rate_; }
  const FabricWireStatistics& statistics() const { return statistics_; }

  static Bytes data_of(const tlm::tlm_generic_payload& message, bool response);

 private:
  static constexpr SimTime kNever = ~SimTime{0};
  struct Return {
    SimTime when;
    unsigned pool;
    Bytes data;
    bool operator>(const Return& other) const { return when > other.when; }
  };

  void squeeze_in(tlm::tlm_generic_payload& message, bool response);
  void account(const tlm::tlm_generic_payload& message, const Passage& passage, Bytes wire);
  FairQueues::Flow* choose();
  void kick();
  void wake();
  void next(std::uint64_t);
  void room(std::uint64_t);
  void start(FairQueues::Flow& flow);
  void leave(tlm::tlm_generic_payload& message, bool response, const Passage& passage);
  void arrive(std::uint64_t pointer_and_kind);

  Simulation& sim_;
  const std::uint64_t rate_;
  const Bytes packet_payload_, packet_overhead_;
  const SimTime propagation_;
  const unsigned number_;
  const std::uint32_t track_;
  Listener& listener_;
  std::array<Bytes, FairQueues::kPools> credits_;  // by pool
  std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
  SimTime woken_at_ = kNever;  // room() is scheduled for then
  FairQueues queues_;
  SimTime begun_ = 0;          // of the message with data in flight, or the last one
  SimTime free_at_ = 0;        // when it and what was squeezed in has left
  SimTime packets_until_ = 0;  // messages without data have left
  bool armed_ = false;
  FabricWireStatistics statistics_;
};

}  // namespace npu::model
