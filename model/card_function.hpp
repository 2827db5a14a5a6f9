// SPDX-License-Identifier: Apache-2.0
// One function of a card: all that a driver sees of it, made from its partition. What does the work
// is shared with the other functions and knows nothing of registers and rings.
#pragma once

#include <optional>
#include <systemc>

#include "model/dma/ring_front_end.hpp"
#include "model/pcie/endpoint.hpp"
#include "model/registers/bar2_decoder.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class CardFunction : public sc_core::sc_module {
 public:
  // Binds itself to the sockets of function `number` of the endpoint. All references outlive it.
  CardFunction(const sc_core::sc_module_name& name, Simulation& simulation,
               const ChipConfig& config, unsigned device_index, unsigned number,
               Endpoint& endpoint);

  // The engines that work for it.
  void connect(Dma& dma) { ring_.emplace(registers_, dma); }

  CardRegisters& registers() { return registers_; }
  Bar2Decoder& bar2() { return bar2_; }
  // Before the engines forget it.
  void reset();
  void host_write_lost(std::uint64_t address) { ring_->host_write_lost(address); }

 private:
  CardRegisters registers_;
  Bar2Decoder bar2_;
  std::optional<RingFrontEnd> ring_;
};

}  // namespace npu::model
