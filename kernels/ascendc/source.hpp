// SPDX-License-Identifier: Apache-2.0
// A preprocessed AscendC source as C++ that the host's compiler takes.
#pragma once

#include <string>
#include <vector>

#include "npu/abi/kernel_file.hpp"
#include "npu/base/result.hpp"

namespace npu::ascendc {

struct FoundKernel {
  std::string name;
  abi::KernelCores cores = abi::KernelCores::kVector;
  int site = -1;  // which launch says what instance of a template it is; -1: it is none
};

struct DeviceSource {
  std::string text;
  std::vector<FoundKernel> kernels;    // in their order
  std::vector<std::string> variables;  // in global memory, by name
};

// What the file is for if nothing in it says so: kVector, kCube if it multiplies by Mmad.
//
// `__gm__ T*` becomes a pointer class, `__gm__ T name;` a variable of the section kVariableSection
// whose symbol is kVariablePrefix and its name; `__global__`, `__vector__`, `__cube__`, `__mix__(a,
// b)` and KERNEL_TASK_TYPE_DEFAULT(...) go, and say what kernels there are; `kernel<<<...>>>`
// becomes a call, and if the kernel is a template each such launch makes a kernel. Lines stay where
// they were. Parts from system headers stay as they are.
//
// kInvalidArgument, with file and line: `__gm__` of neither a pointer nor a variable; two variables
// of one name; a variable's name of 112 characters or more, or more than kMostVariables; a launch
// of no kernel; an unknown mix of cores; a kernel's name of 60 characters or more; more than
// kMostKernels kernels.
Result<DeviceSource> device_source(const std::string& preprocessed);

// An assembler's name, of which the linker makes __start_npusim_gm.
inline constexpr const char* kVariableSection = "npusim_gm";
inline constexpr const char* kVariablePrefix = "npusim_gm.";
// Of an object of the abi::KernelLayout in what entry_of() gives.
inline constexpr const char* kLayoutSymbol = "npusim_layout";

// What follows the text for the kernel: its entry and its layout.
std::string entry_of(const FoundKernel& kernel);

// What follows the text in an object of the host's: the file of kernels at `path`, and which of
// them the source's functions stand for.
std::string kernels_of_host(const std::string& path, const std::vector<FoundKernel>& kernels);

}  // namespace npu::ascendc
