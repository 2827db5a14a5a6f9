// SPDX-License-Identifier: Apache-2.0
// Kernels that npusim brings along, by name (apps/compat/acl/include/acl/npusim_kernels.h): what a
// launch of theirs is in words of the kernel that does it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::exec {

// The object of a program that npusim brings along, by its name. kNotFound.
using BuiltInImages = std::function<Result<ConstByteSpan>(std::string_view)>;

struct BuiltInKernel {
  std::string_view name;
  std::string_view image;
  bool on_cube;
  // The kernel's words. `blocks`: how many cores the launch may use; on return how many it does.
  // kInvalidArgument.
  Result<std::vector<std::uint64_t>> (*words)(const BuiltInKernel& kernel, ConstByteSpan arguments,
                                              std::uint32_t* blocks);
  unsigned operation;      // the kernel's own
  bool any_cores = false;  // a launch may say which it is to run on
};

// Null: there is none of that name.
const BuiltInKernel* find_built_in(std::string_view name);

}  // namespace npu::exec
