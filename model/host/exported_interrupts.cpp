// SPDX-License-Identifier: Apache-2.0
// ExportedFunction: MSI-X vectors that signal a client's eventfds.
#include <linux/vfio.h>

#include "model/host/exported_function.hpp"
#include "model/host/vfio_user/eventfd.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

void ExportedFunction::set_trigger(unsigned index, unsigned vector, int eventfd) {
  if (index != VFIO_PCI_MSIX_IRQ_INDEX) return;  // the others never happen
  const auto known = triggers_.find(vector);
  if (eventfd < 0) {
    if (known == triggers_.end()) return;
    interrupts_.close(bdf_.packed(), vector);
    triggers_.erase(known);
    write_entry(vector, pci::kMsixEntryControl, 1);
    if (triggers_.empty()) enable_msix(false);
    return;
  }
  if (known != triggers_.end()) {
    known->second.eventfd = eventfd;
    return;
  }
  Trigger& trigger = triggers_[vector];
  trigger.eventfd = eventfd;
  trigger.state = interrupts_.open(bdf_.packed(), vector);
  trigger.state->handler = [this, vector] {
    ++statistics_.interrupts;
    vfio_user::signal_eventfd(triggers_.at(vector).eventfd);
  };
  program(vector, trigger);
  if (triggers_.size() == 1) enable_msix(true);
}

void ExportedFunction::mask(unsigned index, unsigned vector, bool masked) {
  if (index != VFIO_PCI_MSIX_IRQ_INDEX) return;
  const auto known = triggers_.find(vector);
  if (known == triggers_.end()) return;
  known->second.masked = masked;
  write_entry(vector, pci::kMsixEntryControl, masked ? 1 : 0);
}

void ExportedFunction::program(unsigned vector, const Trigger& trigger) {
  write_entry(vector, pci::kMsixEntryAddressLow,
              static_cast<std::uint32_t>(Interrupts::kMessageAddress));
  write_entry(vector, pci::kMsixEntryAddressHigh, 0);
  write_entry(vector, pci::kMsixEntryData, trigger.state->data);
  write_entry(vector, pci::kMsixEntryControl, trigger.masked ? 1 : 0);
}

// The table lies in a BAR, which answers only while the function decodes memory accesses.
void ExportedFunction::write_entry(unsigned vector, std::uint32_t field, std::uint32_t value) {
  if (!is_awake()) return;
  auto& config = host_.pci();
  const std::uint16_t command = config.read16(bdf_, pci::kCommand);
  const auto decoding = static_cast<std::uint16_t>(command | pci::kCommandMemory);
  if (command != decoding) config.write16(bdf_, pci::kCommand, decoding);
  const Bytes at = table_offset_ + Bytes{vector} * pci::kMsixEntrySize + field;
  host_.store(bars_[table_bar_].address + at, value, 4);
  // A read behind it: the entry is what it is to be before the client is told so.
  static_cast<void>(host_.load(bars_[table_bar_].address + at, 4));
  if (command != decoding) config.write16(bdf_, pci::kCommand, command);
}

// In D0.
bool ExportedFunction::is_awake() {
  return power_ == 0 || (host_.pci().read8(bdf_, power_ + kPowerControl) & 3) == 0;
}

void ExportedFunction::enable_msix(bool enabled) {
  const auto control = host_.pci().read16(bdf_, msix_ + pci::kMsixControl);
  const auto next = enabled ? control | pci::kMsixControlEnable
                            : control & ~static_cast<unsigned>(pci::kMsixControlEnable);
  host_.pci().write16(bdf_, msix_ + pci::kMsixControl, static_cast<std::uint16_t>(next));
}

// A reset masks all vectors and forgets their messages.
void ExportedFunction::restore_interrupts() {
  for (const auto& [vector, trigger] : triggers_) program(vector, trigger);
  if (!triggers_.empty()) enable_msix(true);
}

}  // namespace npu::model
