// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_port.hpp"

#include <cstring>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

std::uint64_t as_argument(tlm::tlm_generic_payload& payload) {
  return reinterpret_cast<std::uintptr_t>(&payload);
}
tlm::tlm_generic_payload& payload_of(std::uint64_t argument) {
  return *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(argument));
}

}  // namespace

HccsPort::HccsPort(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
                   RegisterBank& bank)
    : sc_module(name), sim_(sim), config_(config), partition_(config.partition(0)), bank_(bank) {
  sc_assert(partition_.memory_base == 0);
  peer_socket.register_nb_transport_fw(this, &HccsPort::request);
  peer_socket.register_transport_dbg(this, &HccsPort::debug);
  memory_socket.register_nb_transport_bw(this, &HccsPort::memory_response);
  fabric_out_.register_nb_transport_bw(this, &HccsPort::peer_response);
  fabric_in_.register_nb_transport_fw(this, &HccsPort::peer_request);
  fabric_in_.register_transport_dbg(this, &HccsPort::peer_debug);
  for (unsigned first = 0; first < abi::kMaxHccsCards; first += abi::HccsWord::kCards) {
    bank_.on_read<abi::HccsLinks>([this, first] { return links(first); },
                                  abi::HccsWord::offset_of(first));
  }
}

// The word that begins with card `first`.
abi::HccsLinks HccsPort::links(unsigned first) const {
  abi::HccsLinks links;
  if (fabric_ == nullptr) return links;
  std::uint64_t up = 0;
  for (unsigned card = first; card < first + abi::HccsWord::kCards; ++card) {
    if (fabric_->reaches(own_, card)) up |= abi::HccsWord::bit_of(card);
  }
  return links.set<abi::HccsLinks::Up>(up).set<abi::HccsLinks::Cards>(fabric_->cards());
}

void HccsPort::connect(HccsFabric& fabric, unsigned card) {
  fabric_out_.bind(fabric.target_socket(card));
  fabric.initiator_socket(card).bind(fabric_in_);
  fabric_ = &fabric;
  own_ = card;
}

std::uint64_t HccsPort::messages_sent(unsigned card) const {
  return fabric_ != nullptr && fabric_->knows(own_, card) ? fabric_->messages(own_, card) : 0;
}

std::uint64_t HccsPort::messages_received(unsigned card) const {
  return fabric_ != nullptr && fabric_->knows(own_, card) ? fabric_->messages(card, own_) : 0;
}

// --- outwards ------------------------------------------------------------------------------

HccsPort::Window& HccsPort::window_of(const tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  const std::size_t flow = info.flow;
  if (windows_.size() <= flow) windows_.resize(flow + 1);
  const bool write = trans.is_write();
  const Bytes nic = fabric_->nic_window(own_, info.peer - 1U);
  auto& window = windows_[flow][(write ? 1 : 0) + (nic != 0 ? 2 : 0)];
  window.limit = write ? config_.hccs.max_outstanding_writes : config_.hccs.max_outstanding_reads;
  if (nic != 0) window.limit = nic;
  return window;
}

bool HccsPort::fits(const Window& window, const tlm::tlm_generic_payload& trans) {
  return window.outstanding + trans.get_data_length() <= window.limit;
}

tlm::tlm_sync_enum HccsPort::request(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                     sc_core::sc_time&) {
  if (fabric_ == nullptr || !fabric_->knows(own_, Transaction::of(trans).peer - 1U)) {
    fail(trans, Completion::kNoPeer);
    return tlm::TLM_ACCEPTED;
  }
  auto& window = window_of(trans);
  window.queue.push(trans);
  pump(window);
  return tlm::TLM_ACCEPTED;
}

unsigned HccsPort::debug(tlm::tlm_generic_payload& trans) {
  auto& info = Transaction::of(trans);
  if (fabric_ == nullptr || !fabric_->knows(own_, info.peer - 1U)) {
    info.completion = Completion::kNoPeer;
    return 0;
  }
  return fabric_out_->transport_dbg(trans);
}

void HccsPort::pump(Window& window) {
  while (!window.queue.empty() && fits(window, window.queue.front())) {
    send(window, window.queue.pop());
  }
}

void HccsPort::send(Window& window, tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  const unsigned length = trans.get_data_length();
  window.outstanding += length;
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(outstanding_.size()));
    outstanding_.emplace_back();
  }
  const auto slot = free_.back();
  free_.pop_back();
  outstanding_[slot] = {&trans, false};
  auto& message = pool_.allocate(trans.get_command(), trans.get_address(), length);
  if (trans.is_write() && trans.get_data_ptr() == nullptr) {
    message.set_data_ptr(nullptr);
  } else if (trans.is_write()) {
    std::memcpy(message.get_data_ptr(), trans.get_data_ptr(), length);
  }
  auto& carried = Transaction::of(message);
  carried.flow = info.flow;
  carried.cause = info.cause;
  carried.reduction = info.reduction;
  carried.element = info.element;
  carried.peer = info.peer;
  carried.issued = sim_now();
  carried.context = slot;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  fabric_out_->nb_transport_fw(message, phase, delay);
}

tlm::tlm_sync_enum HccsPort::peer_response(tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                           sc_core::sc_time&) {
  const auto& carried = Transaction::of(message);
  const auto slot = static_cast<std::uint32_t>(carried.context);
  auto& trans = *outstanding_[slot].request;
  const unsigned length = message.get_data_length();
  const bool success = carried.completion == Completion::kSuccess;
  const bool wanted = trans.is_read() && trans.get_data_ptr() != nullptr;
  if (success && wanted && !outstanding_[slot].dropped) {
    std::memcpy(trans.get_data_ptr(), message.get_data_ptr(), length);
  }
  Transaction::of(trans).completion = carried.completion;
  trans.set_response_status(success ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  message.release();
  free_.push_back(slot);
  auto& window = window_of(trans);
  window.outstanding -= length;
  pump(window);
  answer(as_argument(trans));
  return tlm::TLM_COMPLETED;
}

// Not inside the request's call: the MMU is not ready for it.
void HccsPort::fail(tlm::tlm_generic_payload& trans, Completion completion) {
  Transaction::of(trans).completion = completion;
  trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  sim_.agenda.at<&HccsPort::answer>(sim_now(), *this, as_argument(trans));
}

void HccsPort::answer(std::uint64_t pointer) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  peer_socket->nb_transport_bw(payload_of(pointer), phase, delay);
}

// --- inwards -------------------------------------------------------------------------------

tlm::tlm_sync_enum HccsPort::peer_request(tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                          sc_core::sc_time&) {
  sim_.agenda.at<&HccsPort::enter>(sim_now() + ticks(config_.hccs.ingress), *this,
                                   as_argument(message));
  return tlm::TLM_ACCEPTED;
}

void HccsPort::enter(std::uint64_t pointer) {
  auto& message = payload_of(pointer);
  const auto admitted = admit(fabric_->origin(message), message);
  if (admitted != Completion::kSuccess) return refuse(message, admitted);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  memory_socket->nb_transport_fw(message, phase, delay);
}

Completion HccsPort::admit(unsigned card, const tlm::tlm_generic_payload& message) const {
  const auto access = bank_.get<abi::HccsAccess>(abi::HccsWord::offset_of(card));
  if ((access.raw & abi::HccsWord::bit_of(card)) == 0) return Completion::kPeerRefused;
  return is_usable(message.get_address(), message.get_data_length())
             ? Completion::kSuccess
             : Completion::kUnsupportedRequest;
}

unsigned HccsPort::peer_debug(tlm::tlm_generic_payload& message) {
  auto& info = Transaction::of(message);
  info.completion = admit(static_cast<unsigned>(info.context), message);
  if (info.completion != Completion::kSuccess) return 0;
  const unsigned moved = memory_socket->transport_dbg(message);
  if (moved == 0) info.completion = Completion::kUnsupportedRequest;
  if (moved != 0 && message.is_write() && observer_ != nullptr) {
    observer_->bytes_written(message.get_address(), moved);
  }
  return moved;
}

bool HccsPort::is_usable(Bytes address, Bytes length) const {
  return range_fits(address, length, partition_.usable) && partition_.has_memory(address, length);
}

void HccsPort::refuse(tlm::tlm_generic_payload& message, Completion completion) {
  Transaction::of(message).completion = completion;
  message.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  respond(message);
}

void HccsPort::respond(tlm::tlm_generic_payload& message) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  fabric_in_->nb_transport_bw(message, phase, delay);
}

tlm::tlm_sync_enum HccsPort::memory_response(tlm::tlm_generic_payload& message, tlm::tlm_phase&,
                                             sc_core::sc_time&) {
  respond(message);
  return tlm::TLM_COMPLETED;
}

void HccsPort::function_reset(unsigned function) {
  if (function != 0) return;
  for (auto& request : outstanding_) request.dropped = true;
  for (auto& flow : windows_) {
    for (auto& window : flow) {
      while (!window.queue.empty()) fail(window.queue.pop(), Completion::kCompleterAbort);
    }
  }
}

}  // namespace npu::model
