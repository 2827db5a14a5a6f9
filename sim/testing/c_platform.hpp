// SPDX-License-Identifier: Apache-2.0
// npu_platform.h's table on a platform.
#pragma once

#include <string>

#include "npu/platform/platform.hpp"
#include "npu/testing/npu_platform.h"

namespace npu::testkit {

class CPlatform {
 public:
  explicit CPlatform(platform::Platform& platform);
  npu_platform* handle() { return &base_; }

  static int status_of(ErrorCode code) { return 1 + static_cast<int>(code); }

 private:
  struct Calls;
  static const npu_platform_functions kTable;

  npu_platform base_;  // first: a handle is the object's address
  platform::Platform& platform_;
  std::string error_;
};

}  // namespace npu::testkit
