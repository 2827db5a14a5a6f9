// SPDX-License-Identifier: Apache-2.0
#include "model/dma/dma.hpp"

#include <algorithm>
#include <utility>

#include "model/dma/ring_front_end.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

template <class Socket>
DmaPorts::Forward forward_of(Socket& socket) {
  return [&socket](tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    return socket->nb_transport_fw(trans, phase, delay);
  };
}

}  // namespace

Dma::Dma(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
         unsigned device_index)
    : sc_module(name),
      ports_(sim, forward_of(host_socket), forward_of(hbm_socket), forward_of(l2_socket)),
      shared_{sim, config, ports_, translations_, {}, {}, BandwidthWeights(config)} {
  host_socket.register_nb_transport_bw(this, &Dma::response);
  hbm_socket.register_nb_transport_bw(this, &Dma::response);
  l2_socket.register_nb_transport_bw(this, &Dma::response);
  const std::string card = "card" + std::to_string(device_index);
  sim.recorder.track(card + ".dma");  // the ring, which viewers show above the engines
  Engine::Listener& self = *this;
  for (unsigned i = 0; i < config.functions(); ++i)
    shared_.partitions.push_back(config.partition(i));
  for (unsigned i = 0; i < config.dma.engines + config.functions(); ++i) {
    const auto number = static_cast<std::uint8_t>(i);
    engines_.push_back(std::make_unique<Engine>(shared_, card, number, self));
  }
}

std::size_t Dma::least_loaded(unsigned function) const {
  const auto& partition = shared_.partitions[function];
  std::size_t best = partition.first_engine;
  for (std::size_t i = best + 1; i < partition.first_engine + partition.dma_engines; ++i) {
    if (engines_[i]->load() < engines_[best]->load()) best = i;
  }
  return best;
}

bool Dma::can_request(unsigned function) const {
  const auto& engine = *engines_[least_loaded(function)];
  return !engine.full() && (engine.load() < kRequestsPerEngine || take_turn_);
}

void Dma::request(const DmaRequest& request) {
  auto& engine = *engines_[least_loaded(request.function)];
  sc_assert(!engine.full());
  take_turn_ = false;
  engine.accept(request);
}

void Dma::stop(std::uint64_t context) {
  for (auto& engine : engines_) engine->stop(*requester_, context);
  held_.stop(*requester_, context);
  resume_held();
}

void Dma::connect(PagePort& pages) {
  pages_ = &pages;
  pages.connect(static_cast<PageListener&>(*this));
}

bool Dma::ring_held_up() const {
  return std::any_of(rings_.begin(), rings_.end(),
                     [](const RingFrontEnd* ring) { return ring->held_up(); });
}

// A free place is the rings' and the requests' in turn, if both wait for one, and the rings' in
// turn among each other.
void Dma::request_left(const DmaRequest& request) {
  request.client->dma_left(request);
  held_.left(request);
  offer_place();
}

// First to those that had one before.
void Dma::offer_place() {
  resume_held();
  requests_turn_ = !requests_turn_ && requester_ != nullptr && ring_held_up();
  if (requests_turn_) {
    take_turn_ = true;
    requester_->dma_free();
    take_turn_ = false;
  }
  const auto behind = [this](std::size_t ring) { return ring + 1 < rings_.size() ? ring + 1 : 0; };
  std::size_t ring = first_ring_;
  for (std::size_t left = rings_.size(); left > 0; --left, ring = behind(ring)) {
    rings_[ring]->dma_free();
  }
  first_ring_ = behind(first_ring_);
  if (requester_ != nullptr) requester_->dma_free();
}

// The page may have come while the last of the request was in flight.
void Dma::page_missing(DmaRequest request, const MissingPage& page,
                       std::vector<DmaRequest> behind) {
  const auto space = request.space;
  held_.wait(std::move(request), page, std::move(behind));
  if (!pages_->page_waits(space, page.address)) {
    held_.settled(space, align_down(page.address, abi::entry_span(0)), Completion::kSuccess);
  }
  offer_place();
}

void Dma::request_lost(DmaRequest request, std::vector<DmaRequest> behind) {
  held_.lose(std::move(request), std::move(behind));
  offer_place();
}

void Dma::find_lost(unsigned engine) {
  held_.found(engine);
  resume_held();
}

void Dma::page_resolved(SpaceId space, std::uint64_t address, Completion completion) {
  held_.settled(space, align_down(address, abi::entry_span(0)), completion);
  resume_held();
}

void Dma::resume_held() {
  const auto fits = [this](const DmaRequest& request) {
    return !engines_[least_loaded(request.function)]->full();
  };
  while (auto request = held_.take(fits)) {
    engines_[least_loaded(request->function)]->accept(*request);
  }
}

void Dma::invalidate_translations(unsigned function) {
  translations_.invalidate(function);
  for (auto& engine : engines_) engine->translations_invalidated(function);
}

void Dma::function_reset(unsigned function) {
  held_.reset(function);
  for (auto& engine : engines_) engine->reset(function);
  translations_.invalidate(function);
  // Others may wait for the places; whoever has lost them is reset by then.
  shared_.sim.agenda.at<&Dma::offer_places>(sim_now(), *this);
}

void Dma::offer_places(std::uint64_t) {
  resume_held();
  for (auto* ring : rings_) ring->dma_free();
  if (requester_ != nullptr) requester_->dma_free();
}

tlm::tlm_sync_enum Dma::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                 sc_core::sc_time&) {
  const auto tag = RequestTag::unpack(Transaction::of(trans).context);
  if (tag.unit >= RequestTag::kFrontEnds) {
    rings_[tag.unit - RequestTag::kFrontEnds]->fetched(trans, tag);
  } else {
    engines_[tag.unit]->response(tag, trans);
  }
  trans.release();
  return tlm::TLM_COMPLETED;
}

}  // namespace npu::model
