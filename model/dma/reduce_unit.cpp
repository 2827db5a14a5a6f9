// SPDX-License-Identifier: Apache-2.0
#include "model/dma/reduce_unit.hpp"

#include <algorithm>

namespace npu::model {

ReduceUnit::ReduceUnit(const sc_core::sc_module_name& name, Simulation& sim)
    : sc_module(name),
      client_sockets("client_socket", kPorts),
      hbm_sockets("hbm_socket", kPorts),
      sim_(sim) {
  for (int i = 0; i < static_cast<int>(kPorts); ++i) {
    const auto port = static_cast<std::size_t>(i);
    client_sockets[port].register_nb_transport_fw(this, &ReduceUnit::request, i);
    client_sockets[port].register_transport_dbg(this, &ReduceUnit::look, i);
    hbm_sockets[port].register_nb_transport_bw(this, &ReduceUnit::response, i);
  }
}

unsigned ReduceUnit::look(int port, tlm::tlm_generic_payload& trans) {
  return hbm_sockets[static_cast<std::size_t>(port)]->transport_dbg(trans);
}

tlm::tlm_sync_enum ReduceUnit::request(int port, tlm::tlm_generic_payload& trans,
                                       tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto& info = Transaction::of(trans);
  if (info.reduction == abi::ReduceOperation::kNone) {
    return hbm_sockets[static_cast<std::size_t>(port)]->nb_transport_fw(trans, phase, delay);
  }
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
  return tlm::TLM_ACCEPTED;
}

// The reduction's own access, known by the mark that no access of others has on its way back.
void ReduceUnit::send(int port, tlm::tlm_generic_payload& access, std::uint32_t number) {
  const auto& asked = Transaction::of(*pending_[number].request);
  auto& info = Transaction::of(access);
  info.reduction = asked.reduction;
  info.flow = asked.flow;
  info.cause = asked.cause;
  info.issued = sim_now();
  info.context = number;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  hbm_sockets[static_cast<std::size_t>(port)]->nb_transport_fw(access, phase, delay);
}

tlm::tlm_sync_enum ReduceUnit::response(int port, tlm::tlm_generic_payload& trans,
                                        tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto& info = Transaction::of(trans);
  if (info.reduction == abi::ReduceOperation::kNone) {
    return client_sockets[static_cast<std::size_t>(port)]->nb_transport_bw(trans, phase, delay);
  }
  const auto number = static_cast<std::uint32_t>(info.context);
  const auto completion = pending_[number].dropped ? Completion::kCompleterAbort : info.completion;
  const bool read = trans.is_read();
  trans.release();
  if (read && completion == Completion::kSuccess) {
    combine(port, number);
  } else {
    answer(port, number, completion);
  }
  return tlm::TLM_COMPLETED;
}

void ReduceUnit::combine(int port, std::uint32_t number) {
  const auto& asked = *pending_[number].request;
  const auto& info = Transaction::of(asked);
  bytes_.resize(asked.get_data_length());
  tlm::tlm_generic_payload now;
  now.set_command(tlm::TLM_READ_COMMAND);
  now.set_address(asked.get_address());
  now.set_data_ptr(bytes_.data());
  now.set_data_length(asked.get_data_length());
  hbm_sockets[static_cast<std::size_t>(port)]->transport_dbg(now);
  reduce_elements(info.element, info.reduction, bytes_.data(), asked.get_data_ptr(), bytes_.size());
  send(port,
       sim_.pool.allocate(tlm::TLM_WRITE_COMMAND, asked.get_address(), bytes_.data(),
                          asked.get_data_length()),
       number);
}

void ReduceUnit::answer(int port, std::uint32_t number, Completion completion) {
  auto& asked = *pending_[number].request;
  free_.push_back(number);
  const bool success = completion == Completion::kSuccess;
  Transaction::of(asked).completion = completion;
  asked.set_response_status(success ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  client_sockets[static_cast<std::size_t>(port)]->nb_transport_bw(asked, phase, delay);
}

void ReduceUnit::function_reset(unsigned function) {
  for (auto& pending : pending_) {
    if (pending.function == function) pending.dropped = true;
  }
}

}  // namespace npu::model
