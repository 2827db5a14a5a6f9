// SPDX-License-Identifier: Apache-2.0
#include "model/command/command_processor.hpp"

namespace npu::model {
namespace {

template <class Socket>
MemoryPort::Forward forward_of(Socket& socket) {
  return [&socket](tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    return socket->nb_transport_fw(trans, phase, delay);
  };
}

}  // namespace

CommandProcessor::CommandProcessor(const sc_core::sc_module_name& name, Simulation& sim,
                                   const ChipConfig& config, unsigned device_index)
    : sc_module(name),
      doorbell_sockets("doorbell_socket", config.functions()),
      memory_(sim, forward_of(host_socket), forward_of(device_socket)),
      shared_{sim, config, memory_, "card" + std::to_string(device_index),
              sim.recorder.track("card" + std::to_string(device_index) + ".command")},
      dispatcher_(shared_),
      signals_(shared_),
      memory_signals_(shared_),
      scheduler_(shared_, *this) {
  shared_.dispatcher = &dispatcher_;
  shared_.scheduler = &scheduler_;
  shared_.signals = &signals_;
  shared_.memory_signals = &memory_signals_;
  for (unsigned i = 0; i < config.functions(); ++i) {
    doorbell_sockets[i].register_b_transport(this, &CommandProcessor::ring, static_cast<int>(i));
  }
  device_socket.register_nb_transport_bw(this, &CommandProcessor::response);
  host_socket.register_nb_transport_bw(this, &CommandProcessor::response);
}

void CommandProcessor::ring(int function, tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
  sc_assert(trans.is_write());
  auto& doorbells = front_ends_[static_cast<std::size_t>(function)]->doorbells();
  const bool ok =
      doorbells.write(trans.get_address(), trans.get_data_ptr(), trans.get_data_length());
  trans.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE);
}

tlm::tlm_sync_enum CommandProcessor::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                              sc_core::sc_time&) {
  memory_.response(trans);
  return tlm::TLM_COMPLETED;
}

void CommandProcessor::function_reset(unsigned function) {
  memory_.reset(function);
  dispatcher_.reset(function);
  scheduler_.reset(function);
  front_ends_[function]->reset();
}

}  // namespace npu::model
