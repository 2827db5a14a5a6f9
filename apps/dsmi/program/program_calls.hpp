// SPDX-License-Identifier: Apache-2.0
// Calls of the npusim that has started this program, about its cards.
#pragma once

#include <initializer_list>

#include "apps/compat/client/request.hpp"
#include "apps/compat/protocol/management.hpp"
#include "npu/base/result.hpp"

namespace npu::dsmi {

// The driver's error; kDeviceLost: npusim is gone. Words and window of the answer are in the
// thread's channel.
inline Status ask_npusim(compat::Call call, std::initializer_list<std::uint64_t> words,
                         std::size_t bytes = 0) {
  const int status = compat::ask(call, words, bytes);
  if (status == 0) return {};
  const int code = status - compat::kManagementError;
  const bool known = code >= 0 && code <= static_cast<int>(ErrorCode::kWrongData);
  return fail(known ? static_cast<ErrorCode>(code) : ErrorCode::kDeviceLost,
              "npusim refuses the call");
}

}  // namespace npu::dsmi
