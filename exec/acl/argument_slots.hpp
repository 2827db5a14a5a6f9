// SPDX-License-Identifier: Apache-2.0
// Places for the arguments of launches on their way: in host memory, from where they travel in
// front of the launch, and in the card's. A place is used again when its launch has ended.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exec/acl/stream.hpp"

namespace npu::exec::acl {

class ArgumentSlots {
 public:
  static Result<std::unique_ptr<ArgumentSlots>> open(driver::ProcessContext& process);

  struct Slot {
    std::size_t number = 0;
    ByteSpan bytes;  // abi::kMaxArgumentBytes
    platform::BusAddress host;
    driver::DeviceAddress device;
  };
  // The next place, once it is free.
  Value<Slot> take(Instant deadline);
  // The launch that reads it.
  void used_by(const Slot& slot, Submitted launch);

 private:
  static constexpr std::size_t kSlots = 256;

  std::unique_ptr<platform::DmaMemory> host_;
  driver::DeviceAddress device_;
  std::vector<std::optional<Submitted>> users_{kSlots};
  std::size_t next_ = 0;
};

}  // namespace npu::exec::acl
