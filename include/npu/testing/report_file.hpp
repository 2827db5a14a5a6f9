// SPDX-License-Identifier: Apache-2.0
// Report files of tests.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "npu/testing/export.hpp"

namespace npu::testkit {

// Writes FOLDER/NAME.json and creates folders. Other characters of NAME than letters, digits and .
// _ - become _.
// kIo: the file cannot be written.
NPU_TESTING_API Status write_report_file(const std::string& folder, const std::string& name,
                                         const std::string& report);

}  // namespace npu::testkit
