// SPDX-License-Identifier: Apache-2.0
// An operator from call to doorbell, through all five layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "kernels/operators/launcher/launcher.hpp"
#include "kernels/operators/layers.hpp"
#include "npu/jit/kernel_cache.hpp"
#include "npu/platform/platform.hpp"

namespace npu::operators {

// Calls into the operating system that a look-up beyond memory is charged with: opening, checking
// and reading an object, and loading it. The same whether the object is there or is compiled first,
// so that simulated time does not depend on what a cache holds.
inline constexpr unsigned kLookUpCalls = 26;

struct Ran {
  std::string key;
  jit::Origin origin = jit::Origin::kMemory;
  std::chrono::nanoseconds compile_time{0};  // wall time
  std::vector<std::string> warnings;         // of the cache
  LayerTimes times;                          // simulated
  Bytes workspace_bytes = 0;
  unsigned launches = 0;
};

class OperatorRunner {
 public:
  // All must outlive it.
  OperatorRunner(platform::Platform& platform, jit::KernelCache& cache, Launcher& launcher);

  // The kernel of a call: may take the wall time of a compiler, and takes no simulated time. Any
  // thread, in a host task or not. Errors: normalise(), KernelCache::get().
  Result<jit::Loaded> find(const OperatorCall& call, const jit::Interrupted& interrupted) const;
  // The call with what find() has found for it. Returns at the last doorbell; Launcher::wait() is
  // for the end. Errors: normalise(), Launcher::run().
  Result<Ran> run(const OperatorCall& call, jit::Loaded found);

 private:
  void charge_look_up(jit::Origin origin);

  platform::Platform& platform_;
  jit::KernelCache& cache_;
  Launcher& launcher_;
  std::unique_ptr<platform::Mutex> lock_;
};

}  // namespace npu::operators
