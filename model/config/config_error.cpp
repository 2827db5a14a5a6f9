// SPDX-License-Identifier: Apache-2.0
#include "model/config/config_error.hpp"

#include <fmt/format.h>

namespace npu::model {
namespace {

// Text from outside must not break the line or flood it.
std::string one_line(const std::string& text, std::size_t limit) {
  std::string clean;
  for (const char c : text) {
    if (clean.size() >= limit) return clean + "...";
    const auto byte = static_cast<unsigned char>(c);
    clean += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return clean;
}

void append(std::string& text, const std::string& part) {
  if (part.empty()) return;
  if (!text.empty()) text += "; ";
  text += part;
}

}  // namespace

std::string ConfigError::message() const {
  constexpr std::size_t kLongestFound = 80;
  constexpr std::size_t kLongestPath = 1024;
  std::string text = one_line(problem, kLongestPath);
  if (!found.empty()) append(text, "found " + one_line(found, kLongestFound));
  if (!allowed.empty()) append(text, "allowed: " + allowed);
  if (!suggestion.empty()) append(text, "did you mean '" + suggestion + "'?");
  std::string place = one_line(file, kLongestPath);
  if (line > 0) place += fmt::format(":{}:{}", line, column);
  if (!key.empty()) place += ": " + one_line(key, kLongestFound);
  return place.empty() ? text : place + ": " + text;
}

}  // namespace npu::model
