// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/block_trace.hpp"

#include <fmt/format.h>

#include "driver/support/observation.hpp"

namespace npu::driver {

BlockTrace::BlockTrace(platform::Platform& platform, std::uint32_t device_index)
    : platform_(&platform),
      track_(platform.tracer().track(fmt::format("driver{}.memory", device_index))) {}

void BlockTrace::emit(platform::BlockState state, std::uint64_t address, Bytes size) const {
  observe(*platform_, [&](platform::Tracer& tracer, Instant now) {
    constexpr unsigned kStateShift = 60;
    platform::TraceEvent event;
    event.begin = event.end = now;
    event.bytes = size;
    event.detail = static_cast<std::uint64_t>(state) << kStateShift | address;
    event.track = track_;
    event.activity = platform::Activity::kMemoryBlock;
    tracer.emit(event);
  });
}

}  // namespace npu::driver
