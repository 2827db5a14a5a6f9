// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/filter.hpp"

#include <algorithm>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/timeline/time_text.hpp"

namespace npu::timeline {
namespace {

bool is_like(const std::string& pattern, const platform::ActivityRow& row) {
  return matches(pattern, row.name) || matches(pattern, platform::to_string(row.category));
}

}  // namespace

Status Filter::set_window(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kInvalidArgument,
                "found '" + shortened(text) +
                    "'; allowed: FROM..TO, FROM.. or ..TO with FROM before TO, such as "
                    "10us..2.5ms; units ps, ns, us, ms, s");
  };
  const auto dots = text.find("..");
  if (dots == std::string::npos || text.size() == 2) return wrong();
  if (dots != 0) {
    const auto from = parse_time(std::string_view(text).substr(0, dots));
    if (!from) return wrong();
    begin = Instant(*from);
  }
  if (dots + 2 != text.size()) {
    const auto to = parse_time(std::string_view(text).substr(dots + 2));
    if (!to) return wrong();
    end = Instant(*to);
  }
  if (begin >= end) return wrong();
  return {};
}

bool Filter::covers(std::string_view track, platform::Activity activity) const {
  return units.empty() || std::any_of(units.begin(), units.end(), [&](const std::string& pattern) {
           return matches(pattern, track) || is_like(pattern, platform::row_of(activity));
         });
}

std::string Filter::unknown_unit(const std::vector<std::string>& tracks) const {
  const auto unknown = std::find_if(units.begin(), units.end(), [&](const std::string& pattern) {
    return std::none_of(tracks.begin(), tracks.end(),
                        [&](const std::string& track) { return matches(pattern, track); }) &&
           std::none_of(platform::kActivityTable.begin(), platform::kActivityTable.end(),
                        [&](const auto& row) { return is_like(pattern, row); });
  });
  return unknown == units.end() ? std::string() : *unknown;
}

bool Filter::has_cause(std::uint64_t cause) const {
  return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

}  // namespace npu::timeline
