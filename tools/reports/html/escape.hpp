// SPDX-License-Identifier: Apache-2.0
// Texts in a page from which nothing can break out.
#pragma once

#include <string>
#include <string_view>

namespace npu::reports {

// JSON for a <script> element: the same values, but no <, > or & (so no </script> and no <!--) and
// no line ends of JavaScript's that JSON does not know.
std::string script_safe(std::string_view json);

// Text between tags of HTML.
std::string html_text(std::string_view text);

// 'sha256-...' of a script or style, as a Content-Security-Policy names it.
std::string policy_hash(std::string_view text);

}  // namespace npu::reports
