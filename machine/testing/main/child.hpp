// SPDX-License-Identifier: Apache-2.0
// One test in a process of its own.
#pragma once

#include <string>

#include "junit.hpp"

namespace npu::testkit {

// Runs the test "Suite.Name" in a forked child and waits for it. What it prints is printed; a
// process that ends otherwise than by the end of its test has failed.
Outcome run_in_child(const std::string& suite, const std::string& name);

}  // namespace npu::testkit
