// SPDX-License-Identifier: Apache-2.0
// Operators that are compiled on demand, for all programs: which there are, what compiles them, and
// what a card offers them.
#pragma once

#include <functional>
#include <memory>

#include "apps/exec/acl/outcome.hpp"
#include "kernels/operators/binding.hpp"
#include "kernels/operators/launcher/launcher.hpp"
#include "npu/jit/kernel_cache.hpp"

namespace npu::exec::acl {

class ProgramOperators {
 public:
  // Of a card by its index.
  using Cores = std::function<operators::CardCores(std::uint32_t)>;
  explicit ProgramOperators(Cores cores) : cores_(std::move(cores)) {}

  operators::CardCores cores(std::uint32_t card) const { return cores_(card); }
  // Compiled if nobody has it yet, which takes wall time and no simulated time. Errors:
  // operators::find_toolchain(), KernelCache::get().
  Result<std::shared_ptr<const jit::Kernel>> find(const jit::KernelRequest& request);

 private:
  const Cores cores_;
  std::unique_ptr<jit::KernelCache> cache_;  // from the first call on
};

}  // namespace npu::exec::acl
