// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/program_operators.hpp"

#include "kernels/operators/sources.hpp"

namespace npu::exec::acl {

Result<std::shared_ptr<const jit::Kernel>> ProgramOperators::find(
    const jit::KernelRequest& request) {
  if (cache_ == nullptr) {
    auto toolchain = operators::find_toolchain();
    if (!toolchain) return forward_error(toolchain);
    cache_ = std::make_unique<jit::KernelCache>(std::move(*toolchain));
  }
  auto found = cache_->get(request);
  if (!found) return forward_error(found);
  return found->kernel;
}

}  // namespace npu::exec::acl
