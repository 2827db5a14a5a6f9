// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/link.hpp"

#include <algorithm>
#include <string>

#include "model/pcie/port.hpp"
#include "model/pcie/tlp.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

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
  removed_ = down;
  update();
}

void Link::hold_in_reset(bool held) {
  if (held == held_) return;
  held_ = held;
  update();
}

void Link::contain(Picoseconds time) {
  ++contained_;
  update();
  simulation_.agenda.at<&Link::released>(sim_now() + ticks(time), *this, 0);
}

void Link::released(std::uint64_t) {
  --contained_;
  update();
}

void Link::update() {
  const bool was_down = is_down_;
  const bool was_gone = is_gone_;
  is_gone_ = removed_ || contained_ > 0;
  is_down_ = is_gone_ || held_;
  if (is_down_ == was_down) return;
  ++transitions_;
  if (is_down_) return hot_reset();
  for (auto* side : {&down_, &up_}) side->lost_before = std::max(side->lost_before, sim_now() + 1);
  if (was_gone && returned_) returned_();
}

void Link::retrain(unsigned generation, unsigned lanes) {
  sc_assert(generation >= 1 && generation <= config_.generation && lanes <= config_.lanes);
  generation_ = generation;
  lanes_ = lanes;
  for (auto* side : {&down_, &up_}) {
    auto& direction = side->direction;
    direction.set_rate(generation, lanes);
    direction.stall_until(std::max(sim_now(), direction.free_at()) + LinkDirection::kRecovery);
  }
}

void Link::damage_next(Towards towards) {
  (towards == Towards::kDownstream ? down_ : up_).direction.damage_next();
}

void Link::correctable(Towards towards, Correctable error) {
  const bool is_down = towards == Towards::kDownstream;
  const auto sender = is_down ? Towards::kUpstream : Towards::kDownstream;
  switch (error) {
    case Correctable::kReceiver:
      log(towards, {pci::kAerReceiverError, true, {}});
      return retrain(generation_, lanes_);
    case Correctable::kBadDllp:
      return log(towards, {pci::kAerBadDllp, true, {}});
    case Correctable::kRollover:
      return (is_down ? down_ : up_).direction.damage_next(LinkDirection::kReplays);
    case Correctable::kTimeout:
      return log(sender, {pci::kAerReplayTimeout, true, {}});
  }
}

void Link::send_stray_completion(Towards towards) {
  if (is_down_) return;
  TlpTrain train;
  train.uses_credits = true;
  train.kind = TlpKind::kCompletion;
  const auto slot =
      (towards == Towards::kDownstream ? down_ : up_).direction.reserve(sim_now(), train);
  simulation_.agenda.at<&Link::stray_arrived>(slot.arrival, *this,
                                              static_cast<std::uint64_t>(towards));
}

void Link::stray_arrived(std::uint64_t towards) {
  constexpr std::uint32_t kCompletion = 0x0A000000, kLastTag = 0xFF00;
  const auto to = static_cast<Towards>(towards);
  if (is_lost(to == Towards::kDownstream ? down_ : up_)) return;
  log(to, {pci::kAerUnexpectedCompletion, false, {kCompletion, 0, kLastTag, 0}});
}

void Link::log(Towards receiver, const PortError& error) {
  (receiver == Towards::kDownstream ? found_below_ : found_above_).push_back(error);
}

LinkState Link::state(End end) const {
  const bool is_upper = end == End::kUpper;
  const auto& received = is_upper ? up_ : down_;
  const auto& sent = is_upper ? down_ : up_;
  const auto& found = is_upper ? found_above_ : found_below_;
  return {!is_down_,
          transitions_,
          generation_,
          lanes_,
          received.direction.statistics().bad_tlps,
          sent.direction.statistics().rollovers,
          found.size(),
          &found};
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
// What the port above drops is lost with the link.
void Link::find_error(const Payload& payload, bool is_completion) {
  if (upstream_errors_.empty() || is_lost(up_)) return;
  const auto& info = Transaction::of(payload);
  const bool is_write =
      !is_completion && info.posted &&
      (info.kind == TransactionKind::kMemory || info.kind == TransactionKind::kInterrupt);
  const auto met =
      std::find_if(upstream_errors_.begin(), upstream_errors_.end(),
                   [&](const auto& each) { return is_write || each.bit != pci::kAerPoisoned; });
  if (met == upstream_errors_.end()) return;
  const auto error = *met;
  upstream_errors_.erase(met);
  log(Towards::kUpstream,
      {error.bit, false,
       is_completion ? completion_header(payload, info) : tlp_header(payload, info)});
  contain(error.contained);
}

void Link::arrive_request_up(std::uint64_t payload) {
  find_error(payload_of(payload), false);
  arrive_request(up_, upstream_initiator, downstream_target, payload_of(payload));
}
void Link::arrive_completion_up(std::uint64_t payload) {
  find_error(payload_of(payload), true);
  arrive_completion(up_, upstream_target, payload_of(payload));
}
void Link::arrive_completion_down(std::uint64_t payload) {
  arrive_completion(down_, downstream_target, payload_of(payload));
}

}  // namespace npu::model
