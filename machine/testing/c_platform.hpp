// SPDX-License-Identifier: Apache-2.0
// npu_platform.h's table on a platform.
#pragma once

#include <string>

#include "npu/platform/platform.hpp"
#include "npu/testing/npu_platform.h"

namespace npu::testkit {

class CPlatform : public npu_platform {
 public:
  explicit CPlatform(platform::Platform& platform);

  static int status_of(ErrorCode code) { return 1 + static_cast<int>(code); }

 private:
  struct Calls;
  static const npu_platform_functions kTable;

  platform::Platform& platform_;
  std::string error_;
};

}  // namespace npu::testkit
