// SPDX-License-Identifier: Apache-2.0
#include "model/config/config_error.hpp"

#include <fmt/format.h>

#include "npu/base/shortened.hpp"

namespace npu::model {
namespace {

void append(std::string& text, const std::string& part) {
  if (part.empty()) return;
  if (!text.empty()) text += "; ";
  text += part;
}

}  // namespace

std::string ConfigError::message() const {
  // A problem quotes at most a name or two beside its own words.
  constexpr std::size_t kLongestProblem = 400;
  constexpr std::size_t kLongestPath = 1024;
  std::string text = shortened(problem, kLongestProblem);
  if (!found.empty()) append(text, "found " + shortened(found));
  if (!allowed.empty()) append(text, "allowed: " + allowed);
  if (!suggestion.empty()) append(text, "did you mean '" + suggestion + "'?");
  std::string place = shortened(file, kLongestPath);
  if (line > 0) place += fmt::format(":{}:{}", line, column);
  if (!key.empty()) place += ": " + shortened(key);
  return place.empty() ? text : place + ": " + text;
}

}  // namespace npu::model
