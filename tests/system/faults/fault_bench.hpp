// SPDX-License-Identifier: Apache-2.0
// A card opened by the driver, with a stream and known bytes in host and device memory.
#pragma once

#include <algorithm>

#include "tests/system/support/machine.hpp"

namespace npu::test {

using driver::DmaCommand;
using driver::WaitPolicy;
using platform::DmaDirection;

inline void fill(const platform::DmaMemory& memory, unsigned value) {
  std::fill_n(memory.cpu().data, memory.size(), std::byte(value));
}
inline bool all_equal(ConstByteSpan bytes, unsigned value) {
  return std::all_of(bytes.data, bytes.data + bytes.size,
                     [value](std::byte b) { return b == std::byte(value); });
}

struct FaultyCard {
  explicit FaultyCard(platform::Platform& machine_host)
      : host(machine_host), device(open_card(host)), stream(must(device->create_stream())) {
    memory = must(device->allocate(4_MiB));
  }

  platform::Platform& host;
  std::unique_ptr<driver::Device> device;
  driver::StreamId stream;
  driver::DeviceMemory memory;

  std::unique_ptr<platform::DmaMemory> buffer(
      Bytes size, unsigned value, DmaDirection direction = DmaDirection::kBidirectional) {
    auto made = must(device->allocate_host(size, direction));
    fill(*made, value);
    return made;
  }
  Status copy(driver::StreamId on, const DmaCommand& command,
              WaitPolicy policy = WaitPolicy::kAdaptive) {
    return device->copy(on, command, policy, host.clock().now() + 1_s);
  }
  // All of `memory` with as many bytes of the host's; long enough for things to happen meanwhile.
  DmaCommand long_copy(bool to_host, const platform::DmaMemory& bytes) const {
    return to_host ? DmaCommand::device_to_host(memory.address, bytes.bus(), memory.size)
                   : DmaCommand::host_to_device(bytes.bus(), memory.address, memory.size);
  }
  // The first stream's event has seen a fault for good; others must be as good as new.
  void expect_works() {
    const auto fresh = must(device->create_stream());
    const auto source = buffer(64_KiB, 0xA7);
    const auto target = buffer(64_KiB, 0);
    const auto in = DmaCommand::host_to_device(source->bus(), memory.address, 64_KiB);
    const auto out = DmaCommand::device_to_host(memory.address, target->bus(), 64_KiB);
    for (const auto& command : {in, out}) {
      const Status done = copy(fresh, command);
      EXPECT_TRUE(done) << done.error().message();
    }
    EXPECT_TRUE(all_equal(target->cpu(), 0xA7));
    EXPECT_TRUE(device->destroy_stream(fresh, host.clock().now() + 1_s));
  }
};

inline void expect_code(const Status& status, ErrorCode code) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, code) << status.error().message();
}

}  // namespace npu::test
