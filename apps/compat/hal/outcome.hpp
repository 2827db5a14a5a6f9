// SPDX-License-Identifier: Apache-2.0
// How a call of npusim ended, in the HAL's errors.
#pragma once

#include <ascend_hal.h>

#include "apps/compat/client/request.hpp"

namespace npu::compat {

inline constexpr std::size_t kPageBytes = std::size_t{2} << 20;
inline constexpr std::size_t kHostPage = 4096;  // bytes

// `code`: an aclError.
drvError_t hal_error(int code);

template <Call kCall>
drvError_t hal_ask(const Request<kCall>& request = {}, Answer<kCall>* answer = nullptr,
                   std::size_t bytes = 0) {
  return hal_error(ask<kCall>(request, answer, bytes));
}
// One that is answered with one thing, which `to` is for.
template <Call kCall, class T>
drvError_t hal_ask_for(T* to, const Request<kCall>& request = {}, std::size_t bytes = 0) {
  return hal_error(ask_for<kCall>(to, request, bytes));
}

inline void* pointer_of(DVdeviceptr address) {
  return pointer(address);
}

}  // namespace npu::compat
