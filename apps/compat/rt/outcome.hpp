// SPDX-License-Identifier: Apache-2.0
// Calls and how they end: codes that only the ACL has become the runtime's.
#pragma once

#include <runtime/base.h>

#include <cstdint>
#include <initializer_list>

#include "apps/compat/client/request.hpp"

namespace npu::compat {

inline rtError_t rt_error(int code) {
  switch (code) {
    case kInvalidParameter:
      return ACL_ERROR_RT_PARAM_INVALID;
    case kBadAllocation:
      return ACL_ERROR_RT_MEMORY_ALLOCATION;
    case kNotSupported:
      return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    default:
      return code;
  }
}

template <Call kCall>
rtError_t rt_ask(const Request<kCall>& request = {}, Answer<kCall>* answer = nullptr,
                 std::size_t bytes = 0) {
  return rt_error(ask<kCall>(request, answer, bytes));
}
// One that is answered with one thing, which `to` is for.
template <Call kCall, class T>
rtError_t rt_ask_for(T* to, const Request<kCall>& request = {}, std::size_t bytes = 0) {
  return rt_error(ask_for<kCall>(to, request, bytes));
}

// Milliseconds as the wire has them. False: neither a time nor for ever.
inline bool wire_timeout(std::int32_t milliseconds, std::uint64_t* wire) {
  if (milliseconds < -1) return false;
  *wire = milliseconds < 0 ? wire::kForEver : static_cast<std::uint64_t>(milliseconds);
  return true;
}

}  // namespace npu::compat
