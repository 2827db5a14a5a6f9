// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_wire.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::model {

HccsWire::HccsWire(Simulation& sim, const HccsConfig& transmitter, Bytes receive_buffer,
                   unsigned number, Listener& listener)
    : sim_(sim),
      rate_(transmitter.rate),
      packet_payload_(transmitter.packet_payload),
      packet_overhead_(transmitter.packet_overhead),
      propagation_(ticks(transmitter.propagation)),
      number_(number),
      listener_(listener),
      credits_(receive_buffer) {}

Bytes HccsWire::wire_bytes(Bytes payload) const {
  return std::max<Bytes>(1, ceil_div(payload, packet_payload_)) * packet_overhead_ + payload;
}

// In two steps, so that no size of a message overflows.
SimTime HccsWire::wire_time(Bytes bytes) const {
  constexpr std::uint64_t kMillion = 1'000'000;
  return ceil_div(bytes * kMillion, rate_ / kMillion);
}

HccsWire::Flow& HccsWire::flow_of(unsigned key) {
  for (auto& flow : flows_) {
    if (flow.key == key) return flow;
  }
  flows_.emplace_back();
  flows_.back().key = key;
  flows_.back().virtual_time = 0;
  return flows_.back();
}

// Data bytes of the flow's first message. A response that says no carries none.
Bytes HccsWire::data_of(const Flow& flow) {
  const auto& message = flow.first();
  if (!flow.response()) return request_data(message);
  return message.is_read() && message.is_response_ok() ? message.get_data_length() : 0;
}

void HccsWire::send(tlm::tlm_generic_payload& message, bool response) {
  auto& flow = flow_of((response ? 0x100U : 0U) | Transaction::of(message).flow);
  if (flow.empty()) {
    flow.queue.clear();
    flow.head = 0;
    // Who had nothing to send saves up no share.
    flow.virtual_time = std::max(flow.virtual_time, virtual_now_);
  }
  flow.queue.push_back(&message);
  ++waiting_;
  kick();
}

void HccsWire::give_back(Bytes data) {
  credits_ += data;
  kick();
}

void HccsWire::kick() {
  if (armed_ || waiting_ == 0) return;
  if (sim_now() >= free_at_) {
    if (auto* const flow = choose()) start(*flow);
  }
  if (waiting_ == 0 || sim_now() >= free_at_) return;
  armed_ = true;
  sim_.agenda.at<&HccsWire::next>(free_at_, *this);
}

void HccsWire::next(std::uint64_t) {
  armed_ = false;
  kick();
}

// The flow that has had least. If its request finds no room, later ones with data wait behind it:
// small ones must not starve a large one.
HccsWire::Flow* HccsWire::choose() {
  Flow* best = nullptr;       // of all
  Flow* unblocked = nullptr;  // of those that need no room
  for (auto& flow : flows_) {
    if (flow.empty()) continue;
    if (best == nullptr || flow.virtual_time < best->virtual_time) best = &flow;
    if (!flow.response() && data_of(flow) > 0) continue;
    if (unblocked == nullptr || flow.virtual_time < unblocked->virtual_time) unblocked = &flow;
  }
  if (best == nullptr || best->response() || data_of(*best) <= credits_) return best;
  if (unblocked == nullptr) ++statistics_.credit_waits;
  return unblocked;
}

void HccsWire::start(Flow& flow) {
  const Bytes payload = data_of(flow);
  const Bytes bytes = wire_bytes(payload);
  const SimTime time = wire_time(bytes);
  auto& message = flow.first();
  ++flow.head;
  --waiting_;
  if (!flow.response()) credits_ -= payload;
  virtual_now_ = flow.virtual_time;
  flow.virtual_time += bytes;
  free_at_ = sim_now() + time;
  ++statistics_.messages;
  statistics_.payload_bytes += payload;
  statistics_.wire_bytes += bytes;
  statistics_.busy += time;
  sim_.agenda.at<&HccsWire::arrive>(free_at_ + propagation_, *this,
                                    reinterpret_cast<std::uintptr_t>(&message));
}

void HccsWire::arrive(std::uint64_t pointer) {
  listener_.arrived(
      number_, *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(pointer)));
}

}  // namespace npu::model
