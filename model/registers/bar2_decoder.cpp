// SPDX-License-Identifier: Apache-2.0
#include "model/registers/bar2_decoder.hpp"

#include <cstring>

#include "npu/abi/queue_descriptor.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

Bar2Decoder::Bar2Decoder(const sc_core::sc_module_name& name, Simulation& sim,
                         CardRegisters& registers)
    : sc_module(name), sim_(sim), registers_(registers), streams_(registers.streams()) {
  memory_socket.register_nb_transport_fw(this, &Bar2Decoder::from_host);
  hbm_socket.register_nb_transport_bw(this, &Bar2Decoder::from_memory);
}

tlm::tlm_sync_enum Bar2Decoder::from_host(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  const Bytes address = trans.get_address();
  const Bytes length = trans.get_data_length();
  const auto& partition = registers_.partition();
  const Bytes windows = registers_.stream_window_base(), doorbells = registers_.doorbell_base();
  const Bytes window_bytes = partition.memory == 0 ? 0 : streams_.window_bytes();
  const Bytes doorbell_bytes = Bytes{partition.doorbell_pages} * abi::kDoorbellPageSize;
  if (address >= windows && range_fits(address - windows, length, window_bytes)) {
    finish(trans, access_stream(trans));
    return tlm::TLM_ACCEPTED;
  }
  if (address >= doorbells && range_fits(address - doorbells, length, doorbell_bytes)) {
    finish(trans, access_doorbell(trans));
    return tlm::TLM_ACCEPTED;
  }
  const auto touches = [&](Bytes base, Bytes bytes) {
    return address < base + bytes && address + length > base;
  };
  if (!touches(windows, window_bytes) && !touches(doorbells, doorbell_bytes) &&
      partition.has_memory(address, length)) {
    trans.set_address(partition.memory_base + address);
    return hbm_socket->nb_transport_fw(trans, phase, delay);
  }
  finish(trans, Completion::kUnsupportedRequest);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Bar2Decoder::from_memory(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
  trans.set_address(trans.get_address() - registers_.partition().memory_base);
  return memory_socket->nb_transport_bw(trans, phase, delay);
}

Completion Bar2Decoder::access_stream(tlm::tlm_generic_payload& trans) {
  const Bytes offset = trans.get_address() - registers_.stream_window_base();
  const bool one_window = offset / abi::kStreamWindowSize ==
                          (offset + trans.get_data_length() - 1) / abi::kStreamWindowSize;
  if (!one_window) return Completion::kUnsupportedRequest;
  const bool ok = trans.is_write()
                      ? streams_.host_write(offset, trans.get_data_ptr(), trans.get_data_length())
                      : streams_.host_read(offset, trans.get_data_ptr(), trans.get_data_length());
  return ok ? Completion::kSuccess : Completion::kUnsupportedRequest;
}

Completion Bar2Decoder::access_doorbell(tlm::tlm_generic_payload& trans) {
  if (!trans.is_write()) {
    std::memset(trans.get_data_ptr(), 0, trans.get_data_length());
    return Completion::kSuccess;
  }
  const auto address = trans.get_address();
  trans.set_address(address - registers_.doorbell_base());
  auto delay = sc_core::SC_ZERO_TIME;
  doorbell_socket->b_transport(trans, delay);
  trans.set_address(address);
  return trans.is_response_ok() ? Completion::kSuccess : Completion::kUnsupportedRequest;
}

void Bar2Decoder::finish(tlm::tlm_generic_payload& trans, Completion completion) {
  auto& info = Transaction::of(trans);
  if (info.posted) {
    trans.release();
    return;
  }
  info.completion = completion;
  trans.set_response_status(completion == Completion::kSuccess ? tlm::TLM_OK_RESPONSE
                                                               : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  // The response must not come inside the request's call: the requester is not ready for it.
  sim_.agenda.at<&Bar2Decoder::respond>(sim_now(), *this, reinterpret_cast<std::uintptr_t>(&trans));
}

void Bar2Decoder::respond(std::uint64_t trans) {
  auto& payload = *reinterpret_cast<tlm::tlm_generic_payload*>(static_cast<std::uintptr_t>(trans));
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  memory_socket->nb_transport_bw(payload, phase, delay);
}

}  // namespace npu::model
