// SPDX-License-Identifier: Apache-2.0
// JUnit's XML, as GoogleTest writes it, but for the times: those are simulated, so that equal runs
// give equal files.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace npu::testkit {

// One test that has ended, or its process has.
struct Outcome {
  std::string suite;
  std::string name;
  bool failed = false;
  bool skipped = false;
  std::int64_t simulated = 0;  // ps; 0: no machine
  std::string details;         // <properties>, <failure> and <skipped> elements
};

// From what the test has left at GoogleTest.
Outcome outcome_of(const ::testing::TestInfo& test);
// Of a test whose process ended before it did.
std::string failure_element(const std::string& message);
// The whole file.
std::string junit(const std::vector<Outcome>& outcomes);

}  // namespace npu::testkit
