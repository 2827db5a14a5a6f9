// SPDX-License-Identifier: Apache-2.0
// The doorbell aperture of a function (abi/queue_descriptor.hpp, "Doorbells").
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

class DoorbellUnit {
 public:
  explicit DoorbellUnit(QueueFunction& function) : function_(function), shared_(function.shared) {}

  // `offset` from the start of page 0; 4 or 8 bytes, naturally aligned. False: another access,
  // which does nothing but leave a fault record.
  bool write(std::uint64_t offset, const unsigned char* data, std::size_t length);
  void host_write_lost(std::uint64_t address);

 private:
  struct Target {
    std::uint64_t page;
    std::uint64_t doorbell;
    bool short_value;
    std::uint64_t value;
  };
  void tell(const Target& target, const HardwareQueue& queue, std::uint64_t index) const;
  void ring(Process& process, HardwareQueue& queue, const Target& target);
  void decoded(std::uint64_t argument);
  void signal_decoded(std::uint64_t argument);
  void stray(const Target& target, const Process* process);
  void impossible(HardwareQueue& queue, abi::FaultCode code, std::uint64_t value);

  QueueFunction& function_;
  CommandShared& shared_;
};

}  // namespace npu::model
