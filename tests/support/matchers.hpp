// SPDX-License-Identifier: Apache-2.0
// Matchers for Result and Status.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "npu/base/result.hpp"

namespace npu::test {

// EXPECT_THAT(call(), IsOk());
MATCHER(IsOk, "is a success") {
  if (arg) return true;
  *result_listener << "which is " << arg.error().message();
  return false;
}

// EXPECT_THAT(call(), FailsWith(ErrorCode::kTimeout));
MATCHER_P(FailsWith, code, std::string("fails with ") + std::string(to_string(code))) {
  if (arg) {
    *result_listener << "which is a success";
    return false;
  }
  *result_listener << "which is " << arg.error().message();
  return arg.error().code == code;
}

// ... and the context contains `text`.
MATCHER_P2(FailsWith, code, text,
           std::string("fails with ") + std::string(to_string(code)) + " and names " + text) {
  if (arg) {
    *result_listener << "which is a success";
    return false;
  }
  *result_listener << "which is " << arg.error().message();
  return arg.error().code == code && arg.error().context.find(text) != std::string::npos;
}

}  // namespace npu::test
