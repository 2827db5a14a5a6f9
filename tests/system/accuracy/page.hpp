// SPDX-License-Identifier: Apache-2.0
// docs/accuracy.md, whose tables stand between "<!-- table NAME -->" and "<!-- end -->". Each is
// computed anew by a test and compared; with NPU_UPDATE_ACCURACY=1 in the environment it is
// written.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace npu::accuracy {

// What a test has computed for a table is what the page shows; else the test fails and says how to
// write it anew.
void expect_on_page(const std::string& name, const std::string& text);

// The text of a table; empty, and a failed test, if the page has none of this name.
std::string on_page(const std::string& name);

// The rows of the first table in a text, by the names of its columns.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& text);

}  // namespace npu::accuracy
