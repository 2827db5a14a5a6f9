// SPDX-License-Identifier: Apache-2.0
// Register windows of the AI Cores (abi/core_registers.hpp) as they are at the time of the call;
// what the way there and back takes is the caller's business. Implemented by model/aicore.
#pragma once

#include <cstdint>

#include "npu/abi/core_registers.hpp"

namespace npu::model {

class CoreWindows {
 public:
  // Is told when a register that the AICPU reads has changed by itself.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void register_changed(unsigned core, std::uint32_t offset) = 0;
  };
  virtual ~CoreWindows() = default;
  virtual void connect(Listener& listener) = 0;
  virtual unsigned windows() const = 0;
  // Programs of the function may see it: nothing of another function's runs on the core.
  virtual bool open_to(unsigned core, unsigned function) const {
    static_cast<void>(core);
    static_cast<void>(function);
    return true;
  }
  // A closed window, an offset without a register: all ones, no effect. FAST_PATH_ENABLE always
  // answers.
  virtual std::uint32_t read(unsigned core, std::uint32_t offset) const = 0;
  virtual void write(unsigned core, std::uint32_t offset, std::uint32_t value) = 0;
};

}  // namespace npu::model
