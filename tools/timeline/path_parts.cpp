// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "tools/timeline/critical_path.hpp"

namespace npu::timeline {
namespace {

// "card0.aicore12.cube" -> "card0.aicore*.cube": the card's number stays.
std::string general(const std::string& unit) {
  std::string result;
  const auto dot = unit.find('.');
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const bool digit = dot != std::string::npos && i > dot && unit[i] >= '0' && unit[i] <= '9';
    if (!digit) {
      result += unit[i];
    } else if (result.back() != '*') {
      result += '*';
    }
  }
  return result;
}

}  // namespace

std::vector<PathSegment> clipped(const std::vector<PathSegment>& segments, Instant begin,
                                 Instant end) {
  std::vector<PathSegment> result;
  for (auto segment : segments) {
    segment.begin = std::max(segment.begin, begin);
    segment.end = std::min(segment.end, end);
    if (segment.begin < segment.end) result.push_back(std::move(segment));
  }
  return result;
}

std::vector<PathPart> path_parts(const std::vector<PathSegment>& segments) {
  std::map<std::pair<std::string, std::string>, PathPart> sums;
  for (const auto& segment : segments) {
    auto& part = sums[{segment.name, general(segment.unit)}];
    part.time += segment.end - segment.begin;
    ++part.segments;
  }
  std::vector<PathPart> result;
  for (auto& [key, part] : sums) {
    result.push_back({key.first, key.second, part.time, part.segments});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  return result;
}

}  // namespace npu::timeline
