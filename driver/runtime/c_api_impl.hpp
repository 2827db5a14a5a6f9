// SPDX-License-Identifier: Apache-2.0
// What lies behind the C functions' pointers, and how their calls end: nothing is thrown at a C
// program.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "npu/driver/device_context.hpp"
#include "npu/driver/runtime.h"

struct npu_device_context {
  std::unique_ptr<npu::driver::DeviceContext> context;
  std::string error;
  int device = -1;  // that is set; -1: none
  bool has_firmware = false;
};

struct npu_runtime {
  npu::driver::TaskGraph graph;
  std::string error;
};

namespace npu::driver::c_api {

constexpr int code_of(ErrorCode code) {
  return -1 - static_cast<int>(code);
}

// `Owner` has a string `error`.
template <class Owner, class T>
int outcome(Owner& owner, const Result<T>& result) {
  if (result) return 0;
  owner.error = result.error().message();
  return code_of(result.error().code);
}

template <class Owner>
int refuse(Owner& owner, const std::string& why) {
  owner.error = why;
  return NPU_ERROR_INVALID_ARGUMENT;
}

// body(owner) unless there is no owner; what it throws is an error of the owner's.
template <class Owner, class Body>
int guarded(Owner* owner, Body body) noexcept {
  if (owner == nullptr) return NPU_ERROR_INVALID_ARGUMENT;
  try {
    try {
      return body(*owner);
    } catch (const std::bad_alloc&) {
      owner->error = "out of memory";
      return NPU_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception& problem) {
      owner->error = problem.what();
      return NPU_ERROR_ABORTED;
    }
  } catch (...) {
    return NPU_ERROR_ABORTED;  // of a callable that is no C, or no memory to say what it was
  }
}

inline ConstByteSpan span(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

}  // namespace npu::driver::c_api
