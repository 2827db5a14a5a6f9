// SPDX-License-Identifier: Apache-2.0
#include "model/link/fabric_wire.hpp"

#include <algorithm>

#include "model/core/ports.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

FabricWire::FabricWire(Simulation& sim, const FabricLinkConfig& transmitter, Bytes receive_buffer,
                       unsigned number, Listener& listener, const std::string& track_name)
    : sim_(sim),
      rate_(transmitter.rate),
      packet_payload_(transmitter.packet_payload),
      packet_overhead_(transmitter.packet_overhead),
      propagation_(ticks(transmitter.propagation)),
      number_(number),
      track_(sim.recorder.track(track_name)),
      listener_(listener) {
  credits_.fill(receive_buffer);
}

Bytes FabricWire::wire_bytes(Bytes payload) const {
  return std::max<Bytes>(1, ceil_div(payload, packet_payload_)) * packet_overhead_ + payload;
}

// In two steps, so that no size of a message overflows.
SimTime FabricWire::wire_time(Bytes bytes) const {
  constexpr std::uint64_t kMillion = 1'000'000;
  return ceil_div(bytes * kMillion, rate_ / kMillion);
}

// A response that says no carries none.
Bytes FabricWire::data_of(const tlm::tlm_generic_payload& message, bool response) {
  if (!response) return message.is_write() ? message.get_data_length() : 0;
  const bool success = Transaction::of(message).completion == Completion::kSuccess;
  return message.is_read() && success ? message.get_data_length() : 0;
}

void FabricWire::send(tlm::tlm_generic_payload& message, bool response, unsigned pool,
                      std::uint32_t flow) {
  const Bytes data = data_of(message, response);
  if (data == 0) {
    squeeze_in(message, response);
    return;
  }
  queues_.push(message, pool, flow << 1 | (response ? 1U : 0U));
  statistics_.queued += data;
  statistics_.queue_peak = std::max(statistics_.queue_peak, statistics_.queued);
  kick();
}

// At the next border of a packet; what is in flight ends later by as much.
void FabricWire::squeeze_in(tlm::tlm_generic_payload& message, bool response) {
  SimTime start = std::max(sim_now(), packets_until_);
  if (start < free_at_) {
    const SimTime packet = wire_time(packet_payload_ + packet_overhead_);
    start = std::min(free_at_, begun_ + ceil_div(start - begun_, packet) * packet);
  }
  const Bytes bytes = wire_bytes(0);
  const SimTime time = wire_time(bytes);
  packets_until_ = start + time;
  free_at_ = std::max(free_at_, start) + time;
  const Passage passage{start, packets_until_, 0};
  account(message, passage, bytes);
  leave(message, response, passage);
}

void FabricWire::account(const tlm::tlm_generic_payload& message, const Passage& passage,
                         Bytes wire) {
  ++statistics_.messages;
  statistics_.payload_bytes += passage.payload;
  statistics_.wire_bytes += wire;
  statistics_.busy += passage.end - passage.begin;
  if (!sim_.recorder.enabled()) return;
  sim_.emit(track_, platform::Activity::kHccsTransfer, passage.begin, arrives(passage),
            Transaction::of(message).cause, passage.payload, wire);
}

void FabricWire::give_back(unsigned pool, Bytes data) {
  if (pool != FairQueues::kTaken) credits_[pool] += data;
  kick();
}

void FabricWire::give_back_at(SimTime when, unsigned pool, Bytes data) {
  returns_.push({when, pool, data});
  if (!queues_.empty() && !armed_) wake();
}

// Nothing else makes it look again: it has found no room.
void FabricWire::wake() {
  if (returns_.empty()) return;
  const SimTime when = std::max(sim_now(), returns_.top().when);
  if (woken_at_ <= when) return;
  woken_at_ = when;
  sim_.agenda.at<&FabricWire::room>(when, *this);
}

void FabricWire::kick() {
  if (armed_ || queues_.empty()) return;
  if (sim_now() >= free_at_) {
    if (auto* const flow = choose()) start(*flow);
  }
  if (queues_.empty() || sim_now() >= free_at_) return;
  armed_ = true;
  sim_.agenda.at<&FabricWire::next>(free_at_, *this);
}

void FabricWire::next(std::uint64_t) {
  armed_ = false;
  kick();
}

void FabricWire::room(std::uint64_t) {
  woken_at_ = kNever;
  kick();
}

FairQueues::Flow* FabricWire::choose() {
  for (; !returns_.empty() && returns_.top().when <= sim_now(); returns_.pop()) {
    credits_[returns_.top().pool] += returns_.top().data;
  }
  auto* const flow = queues_.choose([this](unsigned pool, const tlm::tlm_generic_payload& message) {
    return message.get_data_length() <= credits_[pool];
  });
  if (flow != nullptr) return flow;
  ++statistics_.credit_waits;
  wake();
  return nullptr;
}

void FabricWire::start(FairQueues::Flow& flow) {
  const bool response = (flow.key & 1) != 0;
  const unsigned pool = flow.pool();
  const Bytes payload = data_of(flow.queue.front(), response);
  const Bytes bytes = wire_bytes(payload);
  auto& message = queues_.pop(flow, bytes);
  statistics_.queued -= payload;
  if (pool != FairQueues::kTaken) credits_[pool] -= payload;
  begun_ = sim_now();
  free_at_ = begun_ + wire_time(bytes);
  const Passage passage{begun_, free_at_, payload};
  account(message, passage, bytes);
  leave(message, response, passage);
}

void FabricWire::leave(tlm::tlm_generic_payload& message, bool response, const Passage& passage) {
  const SimTime when = listener_.leaves(number_, message, response, passage);
  sim_.agenda.at<&FabricWire::arrive>(
      when, *this, reinterpret_cast<std::uintptr_t>(&message) | (response ? 1U : 0U));
}

void FabricWire::arrive(std::uint64_t pointer_and_kind) {
  const auto pointer = static_cast<std::uintptr_t>(pointer_and_kind & ~std::uint64_t{1});
  listener_.arrived(number_, *reinterpret_cast<tlm::tlm_generic_payload*>(pointer),
                    (pointer_and_kind & 1) != 0);
}

SimTime FabricWire::ready(const Passage& passage, const FabricWire& next, SimTime latency,
                          FabricForwarding forwarding) const {
  const bool store = forwarding == FabricForwarding::kStore;
  const Bytes first = std::min(passage.payload, next.packet_payload_);
  const Bytes head = packet_overhead_ + (store ? first : 0);
  // The part of the message that is sent on when its last byte has come.
  const Bytes rest = passage.payload == 0 ? 0 : (passage.payload - 1) % next.packet_payload_ + 1;
  const SimTime last = store ? next.wire_time(next.packet_overhead_ + rest) : 0;
  const SimTime whole = next.wire_time(next.wire_bytes(passage.payload));
  const SimTime begins = passage.begin + wire_time(head) + propagation_;
  const SimTime ends = arrives(passage) + last;
  return latency + std::max(begins, ends > whole ? ends - whole : 0);
}

}  // namespace npu::model
