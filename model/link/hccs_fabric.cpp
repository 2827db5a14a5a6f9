// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_fabric.hpp"

#include <algorithm>

#include "model/core/ports.hpp"

namespace npu::model {
namespace {

constexpr unsigned kHopBits = 16;

tlm::tlm_generic_payload& message_of(std::uint64_t pointer) {
  return *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(pointer));
}

// check_system() has made one before.
FabricPlan plan_of(const SystemConfig& config) {
  auto plan = plan_fabric(config);
  sc_assert(plan.has_value());
  return std::move(*plan);
}

}  // namespace

HccsFabric::HccsFabric(const sc_core::sc_module_name& name, Simulation& sim,
                       const SystemConfig& config)
    : sc_module(name),
      sim_(sim),
      plan_(plan_of(config)),
      routing_(config.fabric.routing),
      routes_(plan_, routing_, static_cast<unsigned>(config.cards.size())),
      first_whole_(plan_.links.size(), 0),
      went_down_(plan_.links.size(), 0) {
  const auto cards = static_cast<unsigned>(config.cards.size());
  FabricWire::Listener& listener = *this;
  for (const auto& link : plan_.links) {
    const auto number = static_cast<unsigned>(wires_.size());
    wires_.push_back(std::make_unique<FabricWire>(sim, link.from_low, link.from_high.receive_buffer,
                                                  number, listener, link.name + ".up"));
    wires_.push_back(std::make_unique<FabricWire>(sim, link.from_high, link.from_low.receive_buffer,
                                                  number + 1, listener, link.name + ".down"));
  }
  for (unsigned i = 0; i < cards; ++i) {
    auto end = std::make_unique<End>();
    const auto index = std::to_string(i);
    end->target = std::make_unique<TargetSocket>(("target" + index).c_str());
    end->initiator = std::make_unique<InitiatorSocket>(("initiator" + index).c_str());
    end->timeout = ticks(config.cards[i].hccs.response_timeout);
    end->target->register_nb_transport_fw(this, &HccsFabric::request, static_cast<int>(i));
    end->target->register_transport_dbg(this, &HccsFabric::debug, static_cast<int>(i));
    end->initiator->register_nb_transport_bw(this, &HccsFabric::response, static_cast<int>(i));
    ends_.push_back(std::move(end));
    ways_.push_back(std::make_unique<Way>());
    ways_.back()->from = ways_.back()->to = i;
    known_.emplace_back();
    nic_windows_.emplace_back();
    for (unsigned to = 0; to < cards; ++to) {
      known_.back().push_back(routes_.reaches(i, to));
      nic_windows_.back().push_back(measure_nic_window(i, to));
    }
  }
  chosen_.assign(cards, std::vector<std::vector<unsigned>>(cards));
  messages_.assign(cards, std::vector<std::uint64_t>(cards));
}

bool HccsFabric::knows(unsigned from, unsigned to) const {
  return to < known_.size() && known_[from][to];
}

bool HccsFabric::reaches(unsigned from, unsigned to) const {
  return to < known_.size() && routes_.reaches(from, to);
}

unsigned HccsFabric::origin(const tlm::tlm_generic_payload& message) const {
  return ways_[place_of(message).way]->from;
}

void HccsFabric::set_up(std::size_t link, bool up) {
  if (routes_.is_up(link) == up) return;
  first_whole_[link] = up ? went_down_[link] + 1 : kNever;
  if (!up) went_down_[link] = sim_now();
  routes_.set_up(link, up);
  for (auto& from : chosen_) {
    for (auto& to : from) to.clear();
  }
}

HccsFabric::Place HccsFabric::place_of(const tlm::tlm_generic_payload& message) {
  const std::uint64_t state = Transaction::of(message).sender_states.top();
  return {static_cast<unsigned>(state >> kHopBits),
          static_cast<unsigned>(state & ((1U << kHopBits) - 1))};
}

Bytes HccsFabric::measure_nic_window(unsigned from, unsigned to) const {
  const auto steps = routes_.way(from, to, 0);
  const bool over_nic = std::any_of(steps.begin(), steps.end(), [this](const auto& step) {
    const auto& link = plan_.links[step.link];
    return plan_.nodes[step.side == 0 ? link.high : link.low].kind == FabricNodeKind::kNic;
  });
  if (!over_nic) return 0;
  const auto& first = plan_.links[steps.front().link];
  return (steps.front().side == 0 ? first.from_high : first.from_low).receive_buffer;
}

// The card's own, which leads nowhere, if there is none.
unsigned HccsFabric::way_for(unsigned from, unsigned to, unsigned flow) {
  auto& chosen = chosen_[from][to];
  if (routing_ == FabricRouting::kTable) flow = 0;
  if (chosen.size() <= flow) chosen.resize(flow + 1);
  if (chosen[flow] != 0) return chosen[flow] - 1;
  const auto steps = routes_.way(from, to, flow);
  unsigned number = from;
  if (!steps.empty()) {
    number = static_cast<unsigned>(ways_.size());
    ways_.push_back(std::make_unique<Way>());
    auto& way = *ways_.back();
    way.from = from;
    way.to = to;
    // A response takes the same links the other way.
    for (const auto& step : steps) add_hop(way, false, step, steps.size());
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      add_hop(way, true, {step->link, 1 - step->side}, steps.size());
    }
  }
  chosen[flow] = number + 1;
  return number;
}

// The next of `count` hops.
void HccsFabric::add_hop(Way& way, bool response, FabricRoutes::Step step, std::size_t count) {
  auto& hops = way.hops[response ? 1 : 0];
  const auto place = static_cast<unsigned>(hops.size());
  const auto& link = plan_.links[step.link];
  const auto& node = plan_.nodes[step.side == 0 ? link.high : link.low];
  unsigned pool = 2 + 2 * place + (response ? 1 : 0);
  if (place + 1 == count) pool = response ? FairQueues::kTaken : 1;
  hops.push_back({wires_[2 * step.link + step.side].get(),
                  wires_[2 * step.link + 1 - step.side].get(), pool, ticks(node.latency),
                  node.forwarding});
}

tlm::tlm_sync_enum HccsFabric::request(int card, tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                       sc_core::sc_time&) {
  auto& info = Transaction::of(message);
  const auto from = static_cast<unsigned>(card);
  const unsigned way = way_for(from, info.peer - 1U, info.flow);
  info.peer = 0;  // what comes out is for that card's own memory
  info.sender_states.push(std::uint64_t{way} << kHopBits);
  if (ways_[way]->hops[0].empty()) {
    fail(message, sim_now());
  } else {
    forward(message, false, info.flow);
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum HccsFabric::response(int, tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                        sc_core::sc_time&) {
  auto& info = Transaction::of(message);
  info.sender_states.replace(std::uint64_t{place_of(message).way} << kHopBits);
  forward(message, true, info.flow);
  return tlm::TLM_COMPLETED;
}

unsigned HccsFabric::debug(int card, tlm::tlm_generic_payload& message) {
  auto& info = Transaction::of(message);
  const auto from = static_cast<unsigned>(card);
  const unsigned to = info.peer - 1U;
  if (!reaches(from, to)) {
    info.completion = Completion::kPeerLinkDown;
    return 0;
  }
  info.peer = 0;
  info.context = from;
  return (*ends_[to]->initiator)->transport_dbg(message);
}

// Onto the wire of its place.
void HccsFabric::forward(tlm::tlm_generic_payload& message, bool response, std::uint32_t flow) {
  const auto place = place_of(message);
  const auto& hop = ways_[place.way]->hops[response ? 1 : 0][place.hop];
  hop.wire->send(message, response, hop.pool, flow);
}

SimTime HccsFabric::leaves(unsigned, tlm::tlm_generic_payload& message, bool response,
                           const FabricWire::Passage& passage) {
  const auto place = place_of(message);
  const auto& way = *ways_[place.way];
  const auto& hops = way.hops[response ? 1 : 0];
  const auto& hop = hops[place.hop];
  if (place.hop == 0) {
    ++(response ? messages_[way.to][way.from] : messages_[way.from][way.to]);
  } else if (passage.payload > 0) {
    // The node has room again, and tells whom it has had it from.
    const auto& before = hops[place.hop - 1];
    before.wire->give_back_at(passage.end + before.back->propagation(), before.pool,
                              passage.payload);
  }
  if (place.hop + 1 == hops.size()) return hop.wire->arrives(passage);
  if (response && place.hop == 0) {
    // With the response the card's buffer is known to be free again.
    const Bytes data = FabricWire::data_of(message, false);
    if (data > 0) hop.back->give_back_at(hop.wire->arrives(passage), 1, data);
  }
  return hop.wire->ready(passage, *hops[place.hop + 1].wire, hop.latency, hop.forwarding);
}

bool HccsFabric::lost(unsigned wire, const tlm::tlm_generic_payload& message) const {
  return Transaction::of(message).issued < first_whole_[wire / 2];
}

void HccsFabric::arrived(unsigned wire, tlm::tlm_generic_payload& message, bool response) {
  const auto place = place_of(message);
  const auto& way = *ways_[place.way];
  const auto& hops = way.hops[response ? 1 : 0];
  const auto& hop = hops[place.hop];
  const bool is_lost = lost(wire, message);
  const bool last = place.hop + 1 == hops.size();
  // With the response the card's buffer is known to be free again.
  if (response && last && place.hop == 0) {
    hop.back->give_back(1, FabricWire::data_of(message, false));
  }
  if (is_lost) {
    if (hop.pool != FairQueues::kTaken) {
      hop.wire->give_back(hop.pool, FabricWire::data_of(message, response));
    }
    fail(message, std::max(sim_now(), Transaction::of(message).issued + ends_[way.from]->timeout));
  } else if (!last) {
    Transaction::of(message).sender_states.replace(std::uint64_t{place.way} << kHopBits |
                                                   (place.hop + 1));
    forward(message, response, wire);
  } else if (response) {
    answer(message);
  } else {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    auto delay = sc_core::SC_ZERO_TIME;
    (*ends_[way.to]->initiator)->nb_transport_fw(message, phase, delay);
  }
}

void HccsFabric::fail(tlm::tlm_generic_payload& message, SimTime when) {
  Transaction::of(message).completion = Completion::kPeerLinkDown;
  message.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  sim_.agenda.at<&HccsFabric::give_up>(when, *this, reinterpret_cast<std::uintptr_t>(&message));
}

void HccsFabric::give_up(std::uint64_t pointer) {
  answer(message_of(pointer));
}

void HccsFabric::answer(tlm::tlm_generic_payload& message) {
  auto& info = Transaction::of(message);
  const unsigned from = ways_[place_of(message).way]->from;
  info.sender_states.pop();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  (*ends_[from]->target)->nb_transport_bw(message, phase, delay);
}

}  // namespace npu::model
