// SPDX-License-Identifier: Apache-2.0
// Device memory, and the end of it.
#include <fmt/format.h>

#include "apps/demo/memory.hpp"
#include "apps/demo/steps.hpp"

namespace npu::demo {

Result<driver::DeviceMemory> HeldMemory::allocate(Bytes size) {
  auto memory = device_.allocate(size);
  if (memory) held_.push_back(memory->address);
  return memory;
}

Status HeldMemory::release() {
  Status status;
  for (const auto address : held_) {
    if (auto ok = device_.free(address); !ok) status = ok;
  }
  held_.clear();
  return status;
}

Status expect_refused(HeldMemory& held, Bytes size) {
  const auto memory = held.allocate(size);
  if (memory) return fail(ErrorCode::kBadDevice, fmt::format("{} bytes were given", size));
  if (memory.error().code == ErrorCode::kOutOfMemory) return {};
  return fail(ErrorCode::kBadDevice, "refused for another reason: " + memory.error().message());
}

namespace {

Status expect_free(driver::Device& device, Bytes expected) {
  const auto left = device.memory_statistics().free;
  if (left == expected) return {};
  return fail(ErrorCode::kBadDevice, fmt::format("{} bytes free in place of {}", left, expected));
}

}  // namespace

Result<std::string> allocate_memory(Session& session) {
  auto& device = session.device();
  const auto before = device.memory_statistics();
  HeldMemory held(device);
  Bytes reserved = 0;
  unsigned count = 0;
  for (const Bytes size : {Bytes{1}, 2_MiB, 2_MiB + 1, 6_MiB, 100_MiB, 1_GiB}) {
    const auto memory = held.allocate(size);
    if (!memory) return forward_error(memory);
    if (memory->reserved < size || memory->address.value % driver::kPageSize != 0) {
      return fail(ErrorCode::kBadDevice, fmt::format("{} bytes at {:#x}: {} reserved", size,
                                                     memory->address.value, memory->reserved));
    }
    reserved += memory->reserved;
    ++count;
  }
  if (auto ok = expect_free(device, before.free - reserved); !ok) return forward_error(ok);
  if (auto ok = held.release(); !ok) return forward_error(ok);
  if (auto ok = expect_free(device, before.free); !ok) return forward_error(ok);
  return fmt::format("{} blocks, {} MiB, all given back; {} MiB free in {} MiB", count,
                     reserved >> 20, before.free >> 20, before.total >> 20);
}

Result<std::string> exhaust_memory(Session& session) {
  auto& device = session.device();
  const auto before = device.memory_statistics();
  HeldMemory held(device);
  if (auto ok = expect_refused(held, before.total + 1); !ok) return forward_error(ok);
  unsigned blocks = 0;
  for (auto now = before; now.largest_free_block > 0; now = device.memory_statistics()) {
    const auto memory = held.allocate(now.largest_free_block);
    if (!memory) return forward_error(memory);
    ++blocks;
  }
  if (auto ok = expect_refused(held, 1); !ok) return forward_error(ok);
  if (auto ok = held.release(); !ok) return forward_error(ok);
  if (auto ok = expect_free(device, before.free); !ok) return forward_error(ok);
  if (auto ok = session.round_trip(blocks); !ok) return forward_error(ok);
  return fmt::format(
      "{} bytes refused; {} MiB taken in {} blocks, then 1 byte refused; all given "
      "back",
      before.total + 1, before.free >> 20, blocks);
}

}  // namespace npu::demo
