// SPDX-License-Identifier: Apache-2.0
// A report's figures by their names.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "tools/reports/report.hpp"

namespace npu::test {

inline double metric_of(const reports::Report& report, const std::string& name) {
  for (const auto& each : report.metrics()) {
    if (each.name == name) return std::stod(each.value.text());
  }
  ADD_FAILURE() << "no metric " << name;
  return 0;
}

}  // namespace npu::test
