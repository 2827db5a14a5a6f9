// SPDX-License-Identifier: Apache-2.0
// An operator from call to doorbell, through all five layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "npu/jit/kernel_cache.hpp"
#include "npu/platform/platform.hpp"
#include "operators/call.hpp"
#include "operators/launcher/launcher.hpp"
#include "operators/layers.hpp"

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

  // Returns at the last doorbell; Launcher::wait() is for the end. Errors: normalise(),
  // KernelCache::get(), Launcher::run().
  Result<Ran> run(const OperatorCall& call);

 private:
  Result<jit::Loaded> look_up(const jit::KernelRequest& request);

  platform::Platform& platform_;
  jit::KernelCache& cache_;
  Launcher& launcher_;
  std::unique_ptr<platform::Mutex> lock_;
};

}  // namespace npu::operators
