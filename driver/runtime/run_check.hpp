// SPDX-License-Identifier: Apache-2.0
// What is wrong with a run is said before anything of it is started.
#pragma once

#include "driver/runtime/context_parts.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

class RunCheck {
 public:
  RunCheck(const CoreCounts& cores, const Programs& programs, const AddressSpace& space)
      : cores_(cores), programs_(programs), space_(space) {}

  // kInvalidArgument names the option or the task.
  Status check(const TaskGraph& graph, const RunOptions& options) const;

 private:
  unsigned cores_for(TaskShape shape, unsigned block_dim) const;
  bool is_memory(DeviceAddress address, Bytes size) const;
  Status check_options(const RunOptions& options) const;
  Status check_task(const TaskGraph& graph, std::uint32_t task, unsigned block_dim) const;
  Status check_memory(const TaskGraph& graph, std::uint32_t task, bool dump) const;

  const CoreCounts& cores_;
  const Programs& programs_;
  const AddressSpace& space_;
};

}  // namespace npu::driver
