// SPDX-License-Identifier: Apache-2.0
#include "model/dma/dma.hpp"

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
         CardRegisters& registers)
    : sc_module(name),
      ports_(sim, forward_of(host_socket), forward_of(hbm_socket)),
      shared_{sim, config, registers, ports_, translations_, nullptr, {}, 0},
      front_end_(shared_) {
  host_socket.register_nb_transport_bw(this, &Dma::response);
  hbm_socket.register_nb_transport_bw(this, &Dma::response);
  for (unsigned i = 0; i < config.dma.engines; ++i) {
    engines_.push_back(std::make_unique<Engine>(shared_, static_cast<std::uint8_t>(i), *this));
  }
  front_end_.connect(engines_);
  front_end_.install_hooks();
}

Engine& Dma::least_loaded() const {
  auto* best = engines_.front().get();
  for (const auto& engine : engines_) {
    if (engine->load() < best->load()) best = engine.get();
  }
  return *best;
}

bool Dma::can_request() const {
  const auto& engine = least_loaded();
  return !engine.full() && (engine.load() < kRequestsPerEngine || take_turn_);
}

void Dma::request(const DmaCommand& command) {
  auto& engine = least_loaded();
  sc_assert(command.requested && !engine.full());
  take_turn_ = false;
  engine.accept(command);
}

void Dma::stop(std::uint64_t context) {
  for (auto& engine : engines_) engine->stop(context);
}

// A free place is the ring's and the requests' in turn, if both wait for one.
void Dma::command_completed(const DmaCommand& command) {
  if (command.requested) {
    requester_->dma_done(command);
  } else {
    front_end_.command_left(command);
  }
  requests_turn_ = !requests_turn_ && requester_ != nullptr && front_end_.held_up();
  if (requests_turn_) {
    take_turn_ = true;
    requester_->dma_free();
    take_turn_ = false;
  }
  front_end_.engine_free();
  if (requester_ != nullptr) requester_->dma_free();
}

void Dma::invalidate_translations() {
  translations_.invalidate();
  for (auto& engine : engines_) engine->translations_invalidated();
}

void Dma::function_reset(unsigned) {
  shared_.epoch = (shared_.epoch + 1) & 0xFF'FFFF;
  front_end_.reset();
  for (auto& engine : engines_) engine->reset();
  translations_.invalidate();
}

tlm::tlm_sync_enum Dma::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                 sc_core::sc_time&) {
  const auto tag = RequestTag::unpack(Transaction::of(trans).context);
  if (tag.epoch == shared_.epoch) {
    if (tag.unit == RequestTag::kFrontEnd) {
      front_end_.fetched(trans, tag.slot);
    } else {
      engines_[tag.unit]->response(tag, trans);
    }
  }
  trans.release();
  return tlm::TLM_COMPLETED;
}

}  // namespace npu::model
