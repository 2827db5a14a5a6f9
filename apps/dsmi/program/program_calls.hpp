// SPDX-License-Identifier: Apache-2.0
// Calls of the npusim that has started this program, about its cards.
#pragma once

#include "apps/compat/client/request.hpp"
#include "apps/compat/protocol/management.hpp"
#include "npu/base/result.hpp"

namespace npu::dsmi {

// The answer, whose bytes are in the thread's window, or the driver's error; kDeviceLost: npusim is
// gone.
template <compat::Call kCall>
Result<compat::Answer<kCall>> ask_npusim(const compat::Request<kCall>& request = {},
                                         std::size_t bytes = 0) {
  compat::Answer<kCall> answer;
  const int status = compat::ask<kCall>(request, &answer, bytes);
  if (status == 0) return answer;
  const int code = status - compat::kManagementError;
  const bool known = code >= 0 && code <= static_cast<int>(ErrorCode::kWrongData);
  return fail(known ? static_cast<ErrorCode>(code) : ErrorCode::kDeviceLost,
              "npusim refuses the call");
}

}  // namespace npu::dsmi
