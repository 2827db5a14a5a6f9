// SPDX-License-Identifier: Apache-2.0
// A launch as the entry of a queue.
#pragma once

#include "npu/abi/queue_entry.hpp"
#include "npu/driver/execution_stream.hpp"
#include "npu/driver/kernel_module.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {

inline constexpr Bytes kArgumentAlignment = 64;  // abi::LaunchPayload::arguments

inline bool is_sound(const KernelLaunch& launch) {
  const auto& present = launch.present;
  return launch.module != nullptr && launch.blocks != 0 && launch.bytes <= abi::kMaxArgumentBytes &&
         present.bytes <= abi::kMaxArgumentBytes && (launch.bytes == 0 || present.bytes == 0) &&
         present.address.value % kArgumentAlignment == 0;
}

// `written`: where the arguments are that the launch has written; unused if it has none.
inline abi::QueueEntry entry_of(const KernelLaunch& launch, DeviceAddress written) {
  const auto& present = launch.present;
  const bool there = present.bytes != 0;
  return entries::launch_image(abi::QueueOpcode::kLaunchAiCore, launch.module->image(),
                               launch.blocks, there ? present.address : written,
                               there ? present.bytes : launch.bytes, launch.most_cores,
                               launch.cores == LaunchCores::kMixed, launch.timeout);
}

}  // namespace npu::driver
