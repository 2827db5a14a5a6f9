// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core_registers.hpp"

namespace npu::model {

CoreRegisters::CoreRegisters(CoreParts& core, Listener& listener)
    : services_(core.services),
      number_(core.number),
      window_(core.window),
      calls_(core.calls),
      thread_(core.thread),
      polls_(core.polls),
      listener_(listener) {}

std::uint64_t CoreRegisters::data_main_base() {
  thread_.enter();
  const SimTime begin = thread_.local();
  Look look;
  look.kind = Look::Kind::kRegister;
  const Look* const before = polls_.register_before();
  thread_.spend(services_.clock.clocks(services_.config.register_clocks));
  if (before != nullptr && polls_.before_change()) {
    look.value = before->value;
  } else {
    thread_.sync_to(thread_.local());
    look.value = window_.data_main_base();
  }
  polls_.looked(look, begin);
  return look.value;
}

void CoreRegisters::set_cond(std::uint32_t value) {
  polls_.enter_effect();
  thread_.spend(ticks(services_.config.set_cond));
  services_.sim.agenda.at<&CoreRegisters::show_cond>(
      thread_.local() + ticks(services_.config.cond_visible), *this,
      (calls_.generation() & kShownGeneration) << 32 | value);
}

void CoreRegisters::show_cond(std::uint64_t argument) {
  if (argument >> 32 != (calls_.generation() & kShownGeneration)) return;
  window_.set_cond(static_cast<std::uint32_t>(argument));
  listener_.cond_changed(number_);
}

std::uint64_t CoreRegisters::system_counter() {
  thread_.enter();
  const SimTime begin = thread_.local();
  Look look;
  look.kind = Look::Kind::kCounter;
  thread_.spend(services_.clock.clocks(services_.config.register_clocks));
  look.value = polls_.counter().at(thread_.local());
  polls_.looked(look, begin);
  return look.value;
}

}  // namespace npu::model
