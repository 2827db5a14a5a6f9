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

// One that makes something, which `to` is for.
template <class T>
drvError_t hal_ask_for(T* to, Call call, std::initializer_list<std::uint64_t> words = {}) {
  return to == nullptr ? DRV_ERROR_INVALID_VALUE : hal_error(ask_for(to, call, words));
}
inline drvError_t hal_ask(Call call, std::initializer_list<std::uint64_t> words = {},
                          std::size_t bytes = 0) {
  return hal_error(ask(call, words, bytes));
}

inline void* pointer_of(DVdeviceptr address) {
  return pointer(address);
}

}  // namespace npu::compat
