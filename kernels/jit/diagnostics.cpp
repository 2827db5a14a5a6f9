// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "npu/base/shortened.hpp"

namespace npu::jit {
namespace {

constexpr std::size_t kLines = 6;
constexpr std::size_t kLongestLine = 240;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end != 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The number behind "PATH:" in a line; empty if there is none.
std::string_view line_number(std::string_view line, std::string_view path) {
  for (std::size_t at = line.find(path); at != std::string_view::npos;
       at = line.find(path, at + 1)) {
    std::string_view rest = line.substr(at + path.size());
    if (rest.empty() || rest[0] != ':') continue;
    rest.remove_prefix(1);
    std::size_t digits = 0;
    while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) {
      ++digits;
    }
    if (digits != 0) return rest.substr(0, digits);
  }
  return {};
}

std::string_view first_error(const std::vector<std::string_view>& lines) {
  for (const auto line : lines) {
    const std::size_t at = line.find("error: ");
    if (at != std::string_view::npos) return line.substr(at);
  }
  return lines.empty() ? std::string_view("the compiler failed and said nothing") : lines[0];
}

}  // namespace

std::string explain(std::string_view output, std::string_view template_path) {
  const auto lines = lines_of(output);
  std::string text = shortened(template_path, kShownPath);
  for (const auto line : lines) {
    const auto number = line_number(line, template_path);
    if (number.empty()) continue;
    text.append(":").append(number);
    break;
  }
  text += ": " + shortened(first_error(lines), kLongestLine) + "; compiler: ";
  for (std::size_t i = 0; i < std::min(lines.size(), kLines); ++i) {
    if (i != 0) text += " | ";
    text += shortened(lines[i], kLongestLine);
  }
  return text;
}

}  // namespace npu::jit
