// SPDX-License-Identifier: Apache-2.0
// Where reports of tests go.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "npu/testing/export.hpp"

namespace npu::testkit {

// FOLDER/NAME.json, folders are made; of a name what is no letter, digit or one of . _ - becomes _.
// kIo.
NPU_TESTING_API Status write_report_file(const std::string& folder, const std::string& name,
                                         const std::string& report);

}  // namespace npu::testkit
