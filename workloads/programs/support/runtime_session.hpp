// SPDX-License-Identifier: Apache-2.0
// What programs on the chip-level runtime begin with: a context with firmware, kernels by name, and
// the parameters of a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "npu/driver/device_context.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

// block_dim, aicpu_thread_num, handshake, dual_issue.
std::vector<ParameterSpec> run_parameters();
driver::RunOptions run_options(const ParameterSet& parameters);

class RuntimeSession {
 public:
  // Kernel i of `kernels` (names of programs) is registered under id i.
  static Result<std::unique_ptr<RuntimeSession>> open(Context& context,
                                                      const std::vector<std::string>& kernels);

  driver::DeviceContext& device() { return *device_; }
  // Device memory that lives as long as the session.
  Result<driver::DeviceAddress> allocate(Bytes size) { return device_->allocate(size); }
  Status close() { return device_->finalize(); }

 private:
  explicit RuntimeSession(std::unique_ptr<driver::DeviceContext> device)
      : device_(std::move(device)) {}
  std::unique_ptr<driver::DeviceContext> device_;
};

}  // namespace npu::workloads
