// SPDX-License-Identifier: Apache-2.0
#include "driver/virtual/given_up.hpp"

namespace npu::driver {

// A command that the card has not ended would take the end of the next one for its own.
Result<std::optional<std::uint32_t>> GivenUp::conclude(PartitionPort& port) {
  if (!command_) return std::optional<std::uint32_t>();
  const auto [index, creating] = *command_;
  if (auto idle = port.wait_until_idle(); !idle) return forward_error(idle);
  const auto record = port.read(abi::PartitionOperation::kReadPartition, index);
  if (!record) return forward_error(record);
  if (record->present() && creating) {
    const auto ended = port.destroy(index);
    if (!ended && ended.error().code != ErrorCode::kNotFound) return forward_error(ended);
  }
  command_.reset();
  if (record->present() && !creating) return std::optional<std::uint32_t>();
  return std::optional<std::uint32_t>(index);
}

}  // namespace npu::driver
