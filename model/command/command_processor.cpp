// SPDX-License-Identifier: Apache-2.0
#include "model/command/command_processor.hpp"

#include "model/config/core_layout.hpp"

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
                                   const ChipConfig& config, CardRegisters& registers)
    : sc_module(name),
      memory_(sim, forward_of(host_socket), forward_of(device_socket)),
      shared_{sim,
              config,
              registers,
              memory_,
              nullptr,
              {},
              QueueTable(config.command.doorbell_pages),
              {},
              nullptr,
              nullptr,
              nullptr,
              nullptr,
              sim.recorder.track("card" + std::to_string(registers.device_index()) + ".command"),
              0,
              0},
      faults_(shared_),
      dispatcher_(shared_),
      signals_(shared_),
      scheduler_(shared_, *this),
      doorbells_(shared_),
      management_(shared_) {
  shared_.dispatcher = &dispatcher_;
  shared_.faults = &faults_;
  shared_.scheduler = &scheduler_;
  shared_.signals = &signals_;
  doorbell_socket.register_b_transport(this, &CommandProcessor::ring);
  device_socket.register_nb_transport_bw(this, &CommandProcessor::response);
  host_socket.register_nb_transport_bw(this, &CommandProcessor::response);
  install_constants(config);
  if (config.command.slots > 0) management_.install_hooks();
}

// As hooks, which outlive a reset.
void CommandProcessor::install_constants(const ChipConfig& config) {
  auto& bank = shared_.registers.bank();
  const auto& command = config.command;
  const auto capability =
      abi::QueueCapability{}
          .set<abi::QueueCapability::Slots>(command.slots)
          .set<abi::QueueCapability::DoorbellPages>(command.slots > 0 ? command.doorbell_pages : 0);
  const CoreLayout layout(config);
  const auto cores = abi::QueueCores{}
                         .set<abi::QueueCores::AiCores>(layout.cores())
                         .set<abi::QueueCores::Aicpus>(config.aicpus);
  const auto topology = abi::CoreTopology{}
                            .set<abi::CoreTopology::Clusters>(layout.clusters())
                            .set<abi::CoreTopology::VectorCores>(layout.vector_cores());
  const auto base = abi::DoorbellBase::from_raw(shared_.registers.doorbell_base());
  bank.on_read<abi::QueueCapability>([capability] { return capability; });
  bank.on_read<abi::QueueCores>([cores] { return cores; });
  bank.on_read<abi::CoreTopology>([topology] { return topology; });
  bank.on_read<abi::DoorbellBase>([base] { return base; });
}

void CommandProcessor::ring(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
  sc_assert(trans.is_write());
  const bool ok =
      doorbells_.write(trans.get_address(), trans.get_data_ptr(), trans.get_data_length());
  trans.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE);
}

tlm::tlm_sync_enum CommandProcessor::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                              sc_core::sc_time&) {
  memory_.response(trans);
  return tlm::TLM_COMPLETED;
}

void CommandProcessor::function_reset(unsigned) {
  ++shared_.epoch;
  memory_.reset();
  management_.reset();
  scheduler_.reset();
  dispatcher_.reset();
  faults_.reset();
  shared_.commands.reset();
  shared_.table.reset();
}

}  // namespace npu::model
