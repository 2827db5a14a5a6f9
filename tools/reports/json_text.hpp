// SPDX-License-Identifier: Apache-2.0
// JSON written by hand: a floating point writer may print 150.0 where a report says 150.000, or,
// rarely, seventeen digits, and printed parts would no longer add up.
#pragma once

#include <string>
#include <vector>

namespace npu::reports {

// In quotes, ASCII; what is no UTF-8 is replaced.
std::string json_string(const std::string& text);

// One element per line, as a member of the document.
template <class T, class F>
std::string json_array(const std::vector<T>& elements, F element_text) {
  std::string text;
  for (const auto& element : elements) {
    text += (text.empty() ? "\n    " : ",\n    ") + element_text(element);
  }
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace npu::reports
