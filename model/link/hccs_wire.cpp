// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_wire.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::model {

HccsWire::HccsWire(Simulation& sim, const HccsConfig& transmitter, Bytes receive_buffer,
                   unsigned number, Listener& listener, const std::string& track_name)
    : sim_(sim),
      rate_(transmitter.rate),
      packet_payload_(transmitter.packet_payload),
      packet_overhead_(transmitter.packet_overhead),
      propagation_(ticks(transmitter.propagation)),
      number_(number),
      track_(sim.recorder.track(track_name)),
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

// A response that says no carries none.
Bytes HccsWire::data_of(const tlm::tlm_generic_payload& message, bool response) {
  if (!response) return request_data(message);
  const bool success = Transaction::of(message).completion == Completion::kSuccess;
  return message.is_read() && success ? message.get_data_length() : 0;
}

void HccsWire::send(tlm::tlm_generic_payload& message, bool response) {
  if (data_of(message, response) == 0) {
    squeeze_in(message, response);
    return;
  }
  auto& flow = flow_of((response ? 0x100U : 0U) | Transaction::of(message).flow);
  // Who had nothing to send saves up no share.
  if (flow.queue.empty()) flow.virtual_time = std::max(flow.virtual_time, virtual_now_);
  flow.queue.push(message);
  ++waiting_;
  kick();
}

// At the next border of a packet; what is in flight ends later by as much.
void HccsWire::squeeze_in(tlm::tlm_generic_payload& message, bool response) {
  SimTime start = std::max(sim_now(), packets_until_);
  if (start < free_at_) {
    const SimTime packet = wire_time(packet_payload_ + packet_overhead_);
    start = std::min(free_at_, begun_ + ceil_div(start - begun_, packet) * packet);
  }
  const Bytes bytes = wire_bytes(0);
  const SimTime time = wire_time(bytes);
  packets_until_ = start + time;
  free_at_ = std::max(free_at_, start) + time;
  account(message, {0, bytes}, start, time);
  arrive_at(packets_until_ + propagation_, message, response);
}

void HccsWire::account(const tlm::tlm_generic_payload& message, Load load, SimTime start,
                       SimTime time) {
  ++statistics_.messages;
  statistics_.payload_bytes += load.payload;
  statistics_.wire_bytes += load.wire;
  statistics_.busy += time;
  if (!sim_.recorder.enabled()) return;
  sim_.emit(track_, platform::Activity::kHccsTransfer, start, start + time + propagation_,
            Transaction::of(message).cause, load.payload, load.wire);
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

// The flow that has had least. If that is a request that finds no room, only responses may go
// first: small requests must not starve a large one.
HccsWire::Flow* HccsWire::choose() {
  Flow* best = nullptr;
  Flow* response = nullptr;
  for (auto& flow : flows_) {
    if (flow.queue.empty()) continue;
    if (best == nullptr || flow.virtual_time < best->virtual_time) best = &flow;
    if (!flow.response()) continue;
    if (response == nullptr || flow.virtual_time < response->virtual_time) response = &flow;
  }
  if (best == nullptr || best->response() || data_of(best->queue.front(), false) <= credits_)
    return best;
  if (response == nullptr) ++statistics_.credit_waits;
  return response;
}

void HccsWire::start(Flow& flow) {
  auto& message = flow.queue.pop();
  const Bytes payload = data_of(message, flow.response());
  const Bytes bytes = wire_bytes(payload);
  const SimTime time = wire_time(bytes);
  --waiting_;
  if (!flow.response()) credits_ -= payload;
  virtual_now_ = flow.virtual_time;
  flow.virtual_time += bytes;
  begun_ = sim_now();
  free_at_ = begun_ + time;
  account(message, {payload, bytes}, begun_, time);
  arrive_at(free_at_ + propagation_, message, flow.response());
}

void HccsWire::arrive_at(SimTime when, tlm::tlm_generic_payload& message, bool response) {
  sim_.agenda.at<&HccsWire::arrive>(
      when, *this, reinterpret_cast<std::uintptr_t>(&message) | (response ? 1U : 0U));
}

void HccsWire::arrive(std::uint64_t pointer_and_kind) {
  const auto pointer = static_cast<std::uintptr_t>(pointer_and_kind & ~std::uint64_t{1});
  listener_.arrived(number_, *reinterpret_cast<tlm::tlm_generic_payload*>(pointer),
                    (pointer_and_kind & 1) != 0);
}

}  // namespace npu::model
