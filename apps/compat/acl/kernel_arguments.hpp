// SPDX-License-Identifier: Apache-2.0
// What an aclrtArgsHandle stands for: arguments of launches, put together one after another. All of
// it is in memory of the library's or of the program's, which has no destructor to call.
#pragma once

#include <acl/acl_rt_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/compat/protocol/messages.hpp"

namespace npu::compat {

struct KernelArguments {
  struct Parameter {
    std::size_t offset = 0, size = 0;
    bool is_place = false;
    std::size_t data = 0, data_size = 0;  // of a place holder, in the same memory
  };
  static constexpr std::uint64_t kMark = 0x7374'6E65'6D75'6772;

  std::uint64_t mark = kMark;  // else nobody has initialised it
  std::byte* memory = nullptr;
  std::size_t room = 0;   // bytes: parameters from the front, data of place holders from the back
  std::size_t size = 0;   // of the parameters
  std::size_t count = 0;  // of the parameters
  std::array<Parameter, wire::kMostParameters> parameters;  // handles point at them
  // What the kernel has, if that is known.
  bool has_layout = false;
  std::size_t layout_count = 0;
  std::array<wire::KernelParameter, wire::kMostParameters> layout;
  bool finalized = false;
};

// What a launch has: the parameters, and behind them the data of place holders.
struct AssembledArguments {
  std::vector<std::byte> bytes;
  std::vector<aclrtPlaceHolderInfo> places;
};
AssembledArguments assembled(const KernelArguments& arguments);

// Null: nobody has initialised it.
KernelArguments* arguments_of(aclrtArgsHandle handle);

// ACL_ERROR_RT_FEATURE_NOT_SUPPORT: the kernel's parameters are not known.
aclError parameters_of(aclrtFuncHandle function, std::vector<wire::KernelParameter>* parameters);

}  // namespace npu::compat
