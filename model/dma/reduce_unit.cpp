// SPDX-License-Identifier: Apache-2.0
#include "model/dma/reduce_unit.hpp"

#include <algorithm>

#include "model/aicore/arithmetic/reduce_elements.hpp"

namespace npu::model {

ReduceUnit::ReduceUnit(const sc_core::sc_module_name& name, Simulation& sim)
    : sc_module(name),
      client_sockets("client_socket", kPorts),
      hbm_sockets("hbm_socket", kPorts),
      sim_(sim) {
  for (unsigned i = 0; i < kPorts; ++i) {
    ports_.push_back(std::make_unique<Port>(*this, i));
    client_sockets[i].bind(*ports_[i]);
    hbm_sockets[i].bind(*ports_[i]);
  }
}

unsigned ReduceUnit::Port::transport_dbg(tlm::tlm_generic_payload& trans) {
  return unit_.hbm_sockets[number_]->transport_dbg(trans);
}

void ReduceUnit::Port::b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) {
  unit_.hbm_sockets[number_]->b_transport(trans, delay);
}

tlm::tlm_sync_enum ReduceUnit::Port::nb_transport_fw(tlm::tlm_generic_payload& trans,
                                                     tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  if (Transaction::of(trans).reduction == abi::ReduceOperation::kNone) {
    return unit_.hbm_sockets[number_]->nb_transport_fw(trans, phase, delay);
  }
  unit_.begin(number_, trans);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum ReduceUnit::Port::nb_transport_bw(tlm::tlm_generic_payload& trans,
                                                     tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  if (Transaction::of(trans).reduction == abi::ReduceOperation::kNone) {
    return unit_.client_sockets[number_]->nb_transport_bw(trans, phase, delay);
  }
  unit_.accessed(number_, trans);
  return tlm::TLM_COMPLETED;
}

void ReduceUnit::begin(unsigned port, tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const auto number = free_.back();
  free_.pop_back();
  pending_[number] = {&trans, port == kPeers ? 0 : function_of(info.vmid), false};
  send(port,
       sim_.pool.allocate_timing(tlm::TLM_READ_COMMAND, trans.get_address(),
                                 trans.get_data_length()),
       number);
}

// The reduction's own access, known by the mark that no access of others has on its way back.
void ReduceUnit::send(unsigned port, tlm::tlm_generic_payload& access, std::uint32_t number) {
  const auto& asked = Transaction::of(*pending_[number].request);
  auto& info = Transaction::of(access);
  info.reduction = asked.reduction;
  info.flow = asked.flow;
  info.cause = asked.cause;
  info.issued = sim_now();
  info.context = number;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  hbm_sockets[port]->nb_transport_fw(access, phase, delay);
}

void ReduceUnit::accessed(unsigned port, tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  const auto number = static_cast<std::uint32_t>(info.context);
  const auto completion = pending_[number].dropped ? Completion::kCompleterAbort : info.completion;
  const bool read = trans.is_read();
  trans.release();
  if (read && completion == Completion::kSuccess) {
    combine(port, number);
  } else {
    answer(port, number, completion);
  }
}

void ReduceUnit::combine(unsigned port, std::uint32_t number) {
  const auto& asked = *pending_[number].request;
  const auto& info = Transaction::of(asked);
  bytes_.resize(asked.get_data_length());
  tlm::tlm_generic_payload now;
  now.set_command(tlm::TLM_READ_COMMAND);
  now.set_address(asked.get_address());
  now.set_data_ptr(bytes_.data());
  now.set_data_length(asked.get_data_length());
  hbm_sockets[port]->transport_dbg(now);
  reduce_elements(info.element, info.reduction, bytes_.data(), asked.get_data_ptr(), bytes_.size());
  send(port,
       sim_.pool.allocate(tlm::TLM_WRITE_COMMAND, asked.get_address(), bytes_.data(),
                          asked.get_data_length()),
       number);
}

void ReduceUnit::answer(unsigned port, std::uint32_t number, Completion completion) {
  auto& asked = *pending_[number].request;
  free_.push_back(number);
  const bool success = completion == Completion::kSuccess;
  Transaction::of(asked).completion = completion;
  asked.set_response_status(success ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  client_sockets[port]->nb_transport_bw(asked, phase, delay);
}

void ReduceUnit::function_reset(unsigned function) {
  for (auto& pending : pending_) {
    if (pending.function == function) pending.dropped = true;
  }
}

}  // namespace npu::model
