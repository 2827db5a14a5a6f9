// SPDX-License-Identifier: Apache-2.0
// Matchers for Result and Status, and the value of a Result.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>
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

// The value of a Result or an optional that a test cannot go on without: that there is none is a
// failure and ends the test.
template <class T, class E>
T must(tl::expected<T, E> result) {
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().message();
  throw std::runtime_error(result.error().message());
}
template <class T>
T must(std::optional<T> value) {
  if (value) return std::move(*value);
  ADD_FAILURE() << "there is none";
  throw std::runtime_error("there is none");
}

}  // namespace npu::test
