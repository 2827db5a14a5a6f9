// SPDX-License-Identifier: Apache-2.0
// Kernels in AscendC, compiled with the compiler and flags of operators on demand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/ascendc/source.hpp"
#include "npu/jit/kernel_cache.hpp"

namespace npu::ascendc {

struct CompileRequest {
  std::string source;
  std::vector<std::string> includes;      // folders, beside that of the source
  std::vector<std::string> defines;       // NAME or NAME=VALUE
  std::optional<abi::KernelCores> cores;  // of all kernels, whatever the source says
  std::string compiler;                   // as operators::find_toolchain()
  bool launched = false;                  // by host_object() alone: kernels may print
};

struct CompiledKernel {
  std::string name;
  abi::KernelCores cores = abi::KernelCores::kVector;
  std::vector<std::byte> object;
};

// Kernels are the file's functions with `__global__`, of templates the instances that it launches.
// kInvalidArgument: the compiler refuses, with file, line and reason; device_source() does; or
// there is no kernel. kNotFound: no such file, no compiler, or npusim's headers are not there.
// kTimeout, kIo, kAborted: as of jit::KernelCache::get().
Result<std::vector<CompiledKernel>> compile(const CompileRequest& request,
                                            const jit::Interrupted& interrupted = {});

// The source once more as an object of the host's, in which the kernels are: functions that launch
// them by <<<>>> can be linked to a program, which needs libascendcl. Errors: those of compile().
Result<std::vector<std::byte>> host_object(const CompileRequest& request,
                                           const std::vector<CompiledKernel>& kernels,
                                           const jit::Interrupted& interrupted = {});

// The file of kernels (abi/kernel_file.hpp).
// kWrongData: the objects are not those of one compile().
Result<std::vector<std::byte>> kernel_file(const std::vector<CompiledKernel>& kernels);

}  // namespace npu::ascendc
