// SPDX-License-Identifier: Apache-2.0
#include "tests/support/bus_script.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace npu::test {

BusScript& BusScript::expect_read_at(Bytes offset, unsigned width, std::uint64_t answer) {
  steps_.push_back({true, offset, width, answer});
  return *this;
}

BusScript& BusScript::expect_write_at(Bytes offset, unsigned width, std::uint64_t value) {
  steps_.push_back({false, offset, width, value});
  return *this;
}

std::string BusScript::describe(const Step& step) {
  std::ostringstream text;
  text << (step.is_read ? "read" : "write") << 8 * step.width << " at 0x" << std::hex
       << step.offset;
  if (!step.is_read) text << " of 0x" << step.value;
  return text.str();
}

bool BusScript::matches(const Step& actual, bool compare_value) {
  if (steps_.empty()) {
    ADD_FAILURE() << "after the end of the script: " << describe(actual);
    return false;
  }
  const auto& expected = steps_.front();
  if (expected.is_read == actual.is_read && expected.offset == actual.offset &&
      expected.width == actual.width && (!compare_value || expected.value == actual.value)) {
    return true;
  }
  ADD_FAILURE() << "expected " << describe(expected) << ", came " << describe(actual);
  return false;
}

std::uint64_t BusScript::read(Bytes offset, unsigned width) {
  if (!matches({true, offset, width, 0}, false)) return 0;
  const auto answer = steps_.front().value;
  steps_.pop_front();
  return answer;
}

void BusScript::write(Bytes offset, unsigned width, std::uint64_t value) {
  if (matches({false, offset, width, value}, true)) steps_.pop_front();
}

}  // namespace npu::test
