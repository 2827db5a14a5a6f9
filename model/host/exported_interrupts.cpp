// SPDX-License-Identifier: Apache-2.0
#include "model/host/exported_interrupts.hpp"

#include "model/host/vfio_user/eventfd.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

ExportedInterrupts::ExportedInterrupts(HostPlatform& host, Interrupts& interrupts,
                                       const ResourceLookup& resources, platform::Bdf bdf,
                                       std::uint64_t& signalled)
    : host_(host),
      interrupts_(interrupts),
      resources_(resources),
      bdf_(bdf),
      signalled_(signalled) {}

ExportedInterrupts::~ExportedInterrupts() {
  for (const auto& [vector, trigger] : triggers_) interrupts_.close(bdf_.packed(), vector);
}

void ExportedInterrupts::prepare(std::uint32_t msix, std::uint32_t power) {
  msix_ = msix;
  power_ = power;
  control_ = host_.pci().read16(bdf_, control_offset());
  vectors_ = (control_ & pci::kMsixControlSizeMask) + 1U;
  const std::uint32_t table = host_.pci().read32(bdf_, msix_ + pci::kMsixTable);
  table_bar_ = table & pci::kMsixBirMask;
  table_offset_ = table & ~pci::kMsixBirMask;
  table_ = resources_(bdf_, table_bar_).address + table_offset_;
}

bool ExportedInterrupts::in_table(unsigned bar, Bytes offset, Bytes count) const {
  const Bytes end = table_offset_ + Bytes{vectors_} * pci::kMsixEntrySize;
  return bar == table_bar_ && offset < end && offset + count > table_offset_;
}

std::uint32_t ExportedInterrupts::control_offset() const {
  return msix_ + pci::kMsixControl;
}

void ExportedInterrupts::write_control(std::uint32_t upper) {
  control_ = static_cast<std::uint16_t>((control_ & 0x3FFF) | (upper & 0xC0) << 8);
}

void ExportedInterrupts::reset_control() {
  control_ &= pci::kMsixControlSizeMask;
}

void ExportedInterrupts::set_trigger(unsigned vector, int eventfd) {
  const auto known = triggers_.find(vector);
  if (eventfd < 0) {
    if (known == triggers_.end()) return;
    interrupts_.close(bdf_.packed(), vector);
    triggers_.erase(known);
    write_entry(vector, pci::kMsixEntryControl, 1);
    if (triggers_.empty()) enable(false);
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
    ++signalled_;
    vfio_user::signal_eventfd(triggers_.at(vector).eventfd);
  };
  program(vector, trigger);
  if (triggers_.size() == 1) enable(true);
}

void ExportedInterrupts::mask(unsigned vector, bool masked) {
  const auto known = triggers_.find(vector);
  if (known == triggers_.end()) return;
  known->second.masked = masked;
  write_entry(vector, pci::kMsixEntryControl, masked ? 1 : 0);
}

void ExportedInterrupts::program(unsigned vector, const Trigger& trigger) {
  write_entry(vector, pci::kMsixEntryAddressLow,
              static_cast<std::uint32_t>(Interrupts::kMessageAddress));
  write_entry(vector, pci::kMsixEntryAddressHigh, 0);
  write_entry(vector, pci::kMsixEntryData, trigger.state->data);
  write_entry(vector, pci::kMsixEntryControl, trigger.masked ? 1 : 0);
}

// The table lies in a BAR, which answers only while the function decodes memory accesses.
void ExportedInterrupts::write_entry(unsigned vector, std::uint32_t field, std::uint32_t value) {
  if (!is_awake()) return;
  auto& config = host_.pci();
  const std::uint16_t command = config.read16(bdf_, pci::kCommand);
  const auto decoding = static_cast<std::uint16_t>(command | pci::kCommandMemory);
  if (command != decoding) config.write16(bdf_, pci::kCommand, decoding);
  const std::uint64_t at = table_ + Bytes{vector} * pci::kMsixEntrySize + field;
  host_.store(at, value, 4);
  // A read behind it: the entry is what it is to be before the client is told so.
  static_cast<void>(host_.load(at, 4));
  if (command != decoding) config.write16(bdf_, pci::kCommand, command);
}

// In D0.
bool ExportedInterrupts::is_awake() {
  return power_ == 0 || (host_.pci().read8(bdf_, power_ + kPowerControl) & 3) == 0;
}

void ExportedInterrupts::enable(bool enabled) {
  const auto control = host_.pci().read16(bdf_, msix_ + pci::kMsixControl);
  const auto next = enabled ? control | pci::kMsixControlEnable
                            : control & ~static_cast<unsigned>(pci::kMsixControlEnable);
  host_.pci().write16(bdf_, msix_ + pci::kMsixControl, static_cast<std::uint16_t>(next));
}

// A reset masks all vectors and forgets their messages.
void ExportedInterrupts::restore() {
  for (const auto& [vector, trigger] : triggers_) program(vector, trigger);
  if (!triggers_.empty()) enable(true);
}

}  // namespace npu::model
