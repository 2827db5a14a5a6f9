// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/link.hpp"

#include <algorithm>
#include <string>

#include "model/pcie/port.hpp"
#include "model/pcie/tlp.hpp"

namespace npu::model {

Link::Link(const sc_core::sc_module_name& name, Simulation& simulation, const LinkConfig& config,
           Bytes read_completion_boundary, Receivers receivers)
    : sc_module(name),
      upstream_target("upstream_target"),
      downstream_initiator("downstream_initiator"),
      downstream_target("downstream_target"),
      upstream_initiator("upstream_initiator"),
      simulation_(simulation),
      config_(config),
      boundary_(read_completion_boundary),
      down_{LinkDirection(config, ticks(receivers.downstream_hold)),
            simulation.recorder.track(std::string(this->name()) + ".down")},
      up_{LinkDirection(config, ticks(receivers.upstream_hold)),
          simulation.recorder.track(std::string(this->name()) + ".up")},
      generation_(config.generation),
      lanes_(config.lanes) {
  upstream_target.register_nb_transport_fw(this, &Link::request_down);
  downstream_target.register_nb_transport_fw(this, &Link::request_up);
  downstream_initiator.register_nb_transport_bw(this, &Link::completion_up);
  upstream_initiator.register_nb_transport_bw(this, &Link::completion_down);
}

void Link::set_down(bool down) {
  change(down, held_);
}

void Link::hold_in_reset(bool held) {
  if (held != held_) change(removed_, held);
}

void Link::change(bool removed, bool held) {
  const bool was_down = is_down_;
  const bool was_removed = removed_;
  removed_ = removed;
  held_ = held;
  is_down_ = removed || held;
  if (is_down_ == was_down) return;
  ++transitions_;
  if (is_down_) return hot_reset();
  for (auto* side : {&down_, &up_}) side->lost_before = std::max(side->lost_before, sim_now() + 1);
  if (was_removed && returned_) returned_();
}

void Link::retrain(unsigned generation, unsigned lanes) {
  sc_assert(generation >= 1 && generation <= config_.generation && lanes <= config_.lanes);
  generation_ = generation;
  lanes_ = lanes;
  for (auto* side : {&down_, &up_}) {
    auto& direction = side->direction;
    direction.set_rate(generation, lanes);
    direction.stall_until(std::max(sim_now(), direction.free_at()) + ticks(kRecovery));
  }
}

void Link::damage_next(Towards towards) {
  (towards == Towards::kDownstream ? down_ : up_).direction.damage_next();
}

LinkState Link::state(End end) const {
  const auto& received = end == End::kUpper ? up_ : down_;
  return {!is_down_, transitions_, generation_, lanes_, received.direction.statistics().bad_tlps};
}

void Link::hot_reset() {
  lose(down_);
  lose(up_);
  if (below_) below_->hot_reset();
}

// All that has been handed to the transmitter up to now.
void Link::lose(Side& side) const {
  const SimTime last = side.direction.free_at() + ticks(config_.propagation);
  side.lost_before = std::max({side.lost_before, sim_now() + 1, last + 1});
}

LinkDirection::Slot Link::send(Side& side, const Payload& payload, const TlpTrain& train) {
  const auto slot = side.direction.reserve(sim_now(), train);
  if (simulation_.recorder.enabled()) {
    const auto* info = payload.get_extension<Transaction>();
    simulation_.emit(side.track, platform::Activity::kTlp, slot.start, slot.arrival, info->cause,
                     train.payload, side.direction.wire_bytes(train));
  }
  return slot;
}

std::uint64_t Link::upstream_time(const Payload& payload) const {
  const auto& info = Transaction::of(payload);
  return up_.direction.wire_time(up_.direction.wire_bytes(request_train(payload, info, config_)));
}

// A request that meets a dead link fails at once at the port that wanted to send it.
template <auto Arrive>
void Link::request(Side& side, Payload& payload, sc_core::sc_time& delay) {
  const SimTime now = sim_now();
  if (is_down_) {
    simulation_.agenda.at<Arrive>(now, *this, handle_of(payload));
    return;
  }
  const auto slot = send(side, payload, request_train(payload, Transaction::of(payload), config_));
  delay = sc_core::sc_time::from_value(slot.sent - now);
  simulation_.agenda.at<Arrive>(slot.arrival, *this, handle_of(payload));
}

template <auto Arrive>
void Link::completion(Side& side, Payload& payload) {
  SimTime arrival = sim_now();
  if (!is_down_) {
    const auto train = completion_train(payload, Transaction::of(payload), config_, boundary_);
    arrival = send(side, payload, train).arrival;
  }
  simulation_.agenda.at<Arrive>(arrival, *this, handle_of(payload));
}

tlm::tlm_sync_enum Link::request_down(Payload& payload, tlm::tlm_phase&, sc_core::sc_time& delay) {
  request<&Link::arrive_request_down>(down_, payload, delay);
  return tlm::TLM_ACCEPTED;
}
tlm::tlm_sync_enum Link::request_up(Payload& payload, tlm::tlm_phase&, sc_core::sc_time& delay) {
  request<&Link::arrive_request_up>(up_, payload, delay);
  return tlm::TLM_ACCEPTED;
}
tlm::tlm_sync_enum Link::completion_up(Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
  completion<&Link::arrive_completion_up>(up_, payload);
  return tlm::TLM_COMPLETED;
}
tlm::tlm_sync_enum Link::completion_down(Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
  completion<&Link::arrive_completion_down>(down_, payload);
  return tlm::TLM_COMPLETED;
}

// Hands a request to its receiver; on a dead link ends it towards `back` instead.
template <class Receiver, class Back>
void Link::arrive_request(Side& side, Receiver& receiver, Back& back, Payload& payload) {
  sc_core::sc_time delay;
  if (!is_lost(side)) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    receiver->nb_transport_fw(payload, phase, delay);
    if (delay != sc_core::SC_ZERO_TIME) {
      side.direction.stall_until(sim_now() + delay.value() + ticks(config_.credit_update) +
                                 ticks(config_.propagation));
    }
  } else if (Transaction::of(payload).posted) {
    payload.release();
  } else {
    refuse(payload, Completion::kUnsupportedRequest);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    back->nb_transport_bw(payload, phase, delay);
  }
}

template <class Receiver>
void Link::arrive_completion(const Side& side, Receiver& receiver, Payload& payload) {
  if (is_lost(side)) refuse(payload, Completion::kUnsupportedRequest);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  receiver->nb_transport_bw(payload, phase, delay);
}

void Link::arrive_request_down(std::uint64_t payload) {
  arrive_request(down_, downstream_initiator, upstream_target, payload_of(payload));
}
void Link::arrive_request_up(std::uint64_t payload) {
  arrive_request(up_, upstream_initiator, downstream_target, payload_of(payload));
}
void Link::arrive_completion_up(std::uint64_t payload) {
  arrive_completion(up_, upstream_target, payload_of(payload));
}
void Link::arrive_completion_down(std::uint64_t payload) {
  arrive_completion(down_, downstream_target, payload_of(payload));
}

}  // namespace npu::model
