// SPDX-License-Identifier: Apache-2.0
// What an aclrtArgsHandle stands for: arguments of launches, put together one after another.
#pragma once

#include <acl/acl_rt_types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace npu::compat {

struct KernelArguments {
  // A parameter; data of a place holder is put behind all parameters at the end.
  struct Parameter {
    std::size_t offset = 0;
    bool is_place = false;
    std::vector<std::byte> data;
  };

  std::vector<std::byte> bytes;
  std::vector<aclrtPlaceHolderInfo> places;
  std::deque<Parameter> parameters;  // handles point at them
  bool finalized = false;
};

}  // namespace npu::compat
