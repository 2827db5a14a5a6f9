// SPDX-License-Identifier: Apache-2.0
// Scrub of a device's memory on request.
#include "npu/driver/memory_scrub.hpp"

#include <algorithm>
#include <utility>

#include "driver/device/device_parts.hpp"
#include "driver/queue/process_commands.hpp"
#include "driver/queue/queue_manager.hpp"
#include "npu/driver/management.hpp"

namespace npu::driver {
namespace {

// Of one command: others' commands wait behind it.
constexpr Bytes kPiece = 2_MiB;
// With one doorbell.
constexpr std::size_t kCommands = 16;

std::vector<abi::ManagementCommand> commands_of(const std::vector<DeviceMemory>& ranges) {
  std::vector<abi::ManagementCommand> commands;
  for (const auto& range : ranges) {
    for (Bytes at = 0; at < range.reserved; at += kPiece) {
      abi::ManagementCommand command;
      command.opcode = static_cast<std::uint8_t>(abi::ManagementOpcode::kScrub);
      command.address = range.address.value + at;
      command.size = std::min(kPiece, range.reserved - at);
      commands.push_back(command);
    }
  }
  return commands;
}

Result<std::vector<DeviceMemory>> memory_in_use(Device& device) {
  auto& memory = DeviceParts::memory(device);
  if (auto ok = DeviceParts::link(device).usable(); !ok) return forward_error(ok);
  const MutexHolder holder(memory.mutex());
  memory.physical().collect();
  return memory.physical().allocator().allocations();
}

Result<MemoryErrors> errors_of(Device& device) {
  const auto access = manage(device);
  return Management(*access).memory_errors();
}

}  // namespace

Result<ScrubReport> scrub_memory(Device& device, Instant deadline) {
  const auto manager = manager_of(device);
  if (!manager) return forward_error(manager);
  auto& clock = (*manager)->link().clock();
  const Instant begin = clock.now();
  const auto before = errors_of(device);
  if (!before) return forward_error(before);
  const auto ranges = memory_in_use(device);
  if (!ranges) return forward_error(ranges);
  const auto commands = commands_of(*ranges);
  ScrubReport report;
  for (std::size_t at = 0; at < commands.size(); at += kCommands) {
    if (clock.now() >= deadline) return fail(ErrorCode::kTimeout, "scrub of the card's memory");
    const auto end = std::min(at + kCommands, commands.size());
    const std::vector<abi::ManagementCommand> some(
        commands.begin() + static_cast<std::ptrdiff_t>(at),
        commands.begin() + static_cast<std::ptrdiff_t>(end));
    for (auto& answer : (*manager)->ring().execute(some, deadline)) {
      auto accepted = ProcessCommands::accepted(std::move(answer), some.front().opcode);
      if (!accepted) return forward_error(accepted);
    }
    for (const auto& command : some) report.bytes += command.size;
  }
  const auto after = errors_of(device);
  if (!after) return forward_error(after);
  report.found = {after->since_reset.single - before->since_reset.single,
                  after->since_reset.multi - before->since_reset.multi};
  report.time = clock.now() - begin;
  return report;
}

}  // namespace npu::driver
