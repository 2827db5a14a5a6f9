// SPDX-License-Identifier: Apache-2.0
// SHA-256, which tells configurations and programs apart in a report.
#pragma once

#include <string>
#include <string_view>

#include "npu/base/byte_span.hpp"

namespace npu::reports {

// 64 hexadecimal digits, as sha256sum prints them.
std::string sha256_text(ConstByteSpan bytes);
std::string sha256_text(std::string_view text);

}  // namespace npu::reports
