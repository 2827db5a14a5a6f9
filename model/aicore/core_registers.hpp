// SPDX-License-Identifier: Apache-2.0
// A core's window and the system counter, as its program reads and sets them.
#pragma once

#include "model/aicore/core_parts.hpp"

namespace npu::model {

class CoreRegisters {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void cond_changed(unsigned core) = 0;
  };

  CoreRegisters(CoreParts& core, Listener& listener);

  std::uint64_t data_main_base();
  // Everybody else sees it `cond_visible` later, unless the block is another one by then.
  void set_cond(std::uint32_t value);
  std::uint64_t system_counter();
  std::uint64_t counter_hz() const { return services_.config.counter_hz; }

 private:
  static constexpr std::uint64_t kShownGeneration = 0xFFFF'FFFF;

  void show_cond(std::uint64_t argument);

  ProgramServices& services_;
  const unsigned number_;
  CoreWindow& window_;
  const CallStack& calls_;
  CoreThread& thread_;
  PollLoop& polls_;
  Listener& listener_;
};

}  // namespace npu::model
