// SPDX-License-Identifier: Apache-2.0
// What an errno means.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "npu/base/result.hpp"

namespace npu {

// The text that the operating system has for `error`, an errno.
inline std::string errno_text(int error) {
  return std::system_category().message(error);
}

// kInvalidArgument: another path would do; kIo: no path would, as on a full disk.
inline ErrorCode code_of_errno(int error) {
  const bool used_up = error == ENOSPC || error == EDQUOT || error == EIO || error == EMFILE ||
                       error == ENFILE || error == ENOMEM || error == EFBIG;
  return used_up ? ErrorCode::kIo : ErrorCode::kInvalidArgument;
}

}  // namespace npu
