// SPDX-License-Identifier: Apache-2.0
// One direction of an HCCS link as a timeline. A message (a request, or a response) is cut into
// packets. One without data is one packet and goes between those of others: acknowledgements and
// read requests do not wait for a whole message. One with data takes the wire for all its packets
// at once; the wire serves the flows that have such messages so that each gets the same number of
// bytes (start-time fair queueing), each flow in order. Data of requests needs room in the
// receiver's buffer (credits), responses do not: whoever asked has room for them, so that requests
// never hold up responses.
#pragma once

#include <string>
#include <tlm>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/simulation.hpp"
#include "model/link/message_queue.hpp"

namespace npu::model {

// What one direction has carried.
struct HccsWireStatistics {
  std::uint64_t messages = 0;
  Bytes payload_bytes = 0;
  Bytes wire_bytes = 0;            // packets: payload and overhead
  SimTime busy = 0;                // ps the wire carried any of these
  std::uint64_t credit_waits = 0;  // times it stood idle with a request that found no room
};

class HccsWire {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The last byte of `message` is at the receiver's end of wire `wire`.
    virtual void arrived(unsigned wire, tlm::tlm_generic_payload& message, bool response) = 0;
  };

  // `transmitter` gives rate, packets and propagation, `receive_buffer` the credits.
  // Its trace events carry the track `track_name`.
  HccsWire(Simulation& sim, const HccsConfig& transmitter, Bytes receive_buffer, unsigned number,
           Listener& listener, const std::string& track_name);

  // Flows are Transaction::flow, requests and responses apart.
  void send(tlm::tlm_generic_payload& message, bool response);
  // The receiver has room for `data` bytes of requests again.
  void give_back(Bytes data);

  // Of a message with `payload` bytes of data.
  Bytes wire_bytes(Bytes payload) const;
  SimTime wire_time(Bytes bytes) const;  // rounded up to 1 ps
  const HccsWireStatistics& statistics() const { return statistics_; }

  // Data bytes of a request: what it takes of the receiver's buffer.
  static Bytes request_data(const tlm::tlm_generic_payload& message) {
    return message.is_write() ? message.get_data_length() : 0;
  }

 private:
  struct Flow {
    unsigned key = 0;            // response << 8 | Transaction::flow
    std::uint64_t virtual_time;  // wire bytes it has had, on the common scale
    MessageQueue queue;

    bool response() const { return key >> 8 != 0; }
  };

  static Bytes data_of(const tlm::tlm_generic_payload& message, bool response);
  void squeeze_in(tlm::tlm_generic_payload& message, bool response);
  struct Load {
    Bytes payload, wire;
  };
  void account(const tlm::tlm_generic_payload& message, Load load, SimTime start, SimTime time);
  Flow& flow_of(unsigned key);
  Flow* choose();
  void kick();
  void next(std::uint64_t);
  void start(Flow& flow);
  void arrive_at(SimTime when, tlm::tlm_generic_payload& message, bool response);
  void arrive(std::uint64_t pointer_and_kind);

  Simulation& sim_;
  const std::uint64_t rate_;
  const Bytes packet_payload_, packet_overhead_;
  const SimTime propagation_;
  const unsigned number_;
  const std::uint32_t track_;
  Listener& listener_;
  Bytes credits_;
  std::vector<Flow> flows_;  // in order of first use
  std::size_t waiting_ = 0;  // messages in their queues
  std::uint64_t virtual_now_ = 0;
  SimTime begun_ = 0;          // of the message with data in flight, or the last one
  SimTime free_at_ = 0;        // when it and what was squeezed in has left
  SimTime packets_until_ = 0;  // messages without data have left
  bool armed_ = false;
  HccsWireStatistics statistics_;
};

}  // namespace npu::model
