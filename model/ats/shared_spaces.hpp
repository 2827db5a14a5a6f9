// SPDX-License-Identifier: Apache-2.0
// A function's address spaces that are those of processes on the host (SHARED_SPACE).
#pragma once

#include "model/registers/card_registers.hpp"

namespace npu::model {

class HostPages;

class SharedSpaces {
 public:
  // Installs itself behind the register; `pages` outlives it.
  SharedSpaces(CardRegisters& registers, HostPages& pages);
  SharedSpaces(const SharedSpaces&) = delete;
  SharedSpaces& operator=(const SharedSpaces&) = delete;

 private:
  void written(abi::SharedSpace value);

  CardRegisters& registers_;
  HostPages& pages_;
};

}  // namespace npu::model
