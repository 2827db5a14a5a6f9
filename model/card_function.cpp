// SPDX-License-Identifier: Apache-2.0
#include "model/card_function.hpp"

namespace npu::model {

CardFunction::CardFunction(const sc_core::sc_module_name& name, Simulation& simulation,
                           const ChipConfig& config, unsigned device_index, unsigned number,
                           Endpoint& endpoint)
    : sc_module(name),
      registers_("registers", simulation, config, device_index, number),
      bar2_("bar2", simulation, config, registers_) {
  endpoint.register_sockets[number].bind(registers_.register_socket);
  endpoint.memory_sockets[number].bind(bar2_.memory_socket);
  registers_.connect(endpoint);
}

void CardFunction::reset() {
  registers_.function_reset(registers_.function());
  ring_->reset();
}

}  // namespace npu::model
