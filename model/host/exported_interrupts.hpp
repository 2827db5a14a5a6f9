// SPDX-License-Identifier: Apache-2.0
// The MSI-X vectors of a function that is lent to a vfio-user client: they signal the client's
// eventfds. Table and message addresses stay the machine's own; the client sees an image of the
// capability's message control and programs vectors through SET_IRQS only, as with the kernel's
// VFIO.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "model/host/interrupts.hpp"
#include "model/host/platform.hpp"

namespace npu::model {

class ExportedInterrupts {
 public:
  // `signalled` counts.
  ExportedInterrupts(HostPlatform& host, Interrupts& interrupts, const ResourceLookup& resources,
                     platform::Bdf bdf, std::uint64_t& signalled);
  ~ExportedInterrupts();
  ExportedInterrupts(const ExportedInterrupts&) = delete;
  ExportedInterrupts& operator=(const ExportedInterrupts&) = delete;

  // Offsets of the capabilities MSI-X and, if there is one, power management.
  void prepare(std::uint32_t msix, std::uint32_t power);
  unsigned vectors() const { return vectors_; }
  // Some of these bytes of a BAR are of the table.
  bool in_table(unsigned bar, Bytes offset, Bytes count) const;

  // As vfio_user::ServedDevice has them, of MSI-X.
  void set_trigger(unsigned vector, int eventfd);
  void mask(unsigned vector, bool masked);
  // The function has forgotten its table: a reset masks all vectors and forgets their messages.
  void restore();

  // Message control as the client sees it.
  std::uint32_t control_offset() const;
  std::uint16_t control() const { return control_; }
  // Its upper byte, of which the client may set what enables and masks.
  void write_control(std::uint32_t upper);
  void reset_control();
  // Where the capability says in which power state the function is; 0: nowhere.
  std::uint32_t power_offset() const { return power_ == 0 ? 0 : power_ + kPowerControl; }

 private:
  static constexpr std::uint32_t kPowerControl = 4;  // in the capability: PCI PM 1.2, 3.2.4
  struct Trigger {
    std::shared_ptr<VectorState> state;
    int eventfd = -1;
    bool masked = false;
  };
  void program(unsigned vector, const Trigger& trigger);
  bool is_awake();
  void write_entry(unsigned vector, std::uint32_t field, std::uint32_t value);
  void enable(bool enabled);

  HostPlatform& host_;
  Interrupts& interrupts_;
  const ResourceLookup& resources_;
  const platform::Bdf bdf_;
  std::uint64_t& signalled_;
  std::uint32_t msix_ = 0;  // offsets of capabilities
  std::uint32_t power_ = 0;
  std::uint16_t control_ = 0;
  unsigned table_bar_ = 0;
  Bytes table_offset_ = 0;
  std::uint64_t table_ = 0;  // address
  unsigned vectors_ = 0;
  std::map<unsigned, Trigger> triggers_;  // by vector
};

}  // namespace npu::model
