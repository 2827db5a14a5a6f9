// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/sharing_keys.hpp"

namespace npu::workloads {

std::vector<ParameterSpec> sharing_parameters() {
  using Type = ParameterType;
  return {
      {"policy",
       Type::kChoice,
       "",
       "fixed_share",
       "no more than the share; also what others leave; cores for everybody at any time",
       0,
       0,
       {"fixed_share", "elastic", "best_effort"}},
      {"window_us", Type::kInteger, "us", "2000", "that shares are of", 10, 1'000'000'000},
      {"sample_us", Type::kInteger, "us", "50", "how often a turn is looked at", 1, 1'000'000'000},
      {"carry_percent", Type::kInteger, "%", "25",
       "of the window: as much of what a client was over or under goes on to the next", 0, 100},
      {"tail_percent", Type::kInteger, "%", "70", "of the time between DROP and RELEASE is billed",
       0, 100},
      {"timeout_us", Type::kInteger, "us", "1000", "for an answer; three, and the turn is lost", 1,
       1'000'000'000},
      {"launches_start", Type::kInteger, "", "64", "launches in flight at first", 1, 65'536},
      {"launches_floor", Type::kInteger, "", "1", "at least", 1, 65'536},
      {"launches_most", Type::kInteger, "", "2048", "at most", 1, 65'536},
      {"launches_grow", Type::kInteger, "", "1", "more after a window of them in time", 0, 65'536},
      {"launches_shrink", Type::kInteger, "%", "50", "of them after one that was late", 1, 100},
      {"target_us", Type::kInteger, "us", "1000", "from a launch to its end: in time", 1,
       1'000'000'000}};
}

driver::TimeSliceOptions time_slice_options(const ParameterSet& parameters) {
  const auto time = [&](const char* name) {
    return static_cast<std::int64_t>(parameters.integer(name)) * 1_us;
  };
  const auto number = [&](const char* name) {
    return static_cast<unsigned>(parameters.integer(name));
  };
  driver::TimeSliceOptions options;
  const auto& policy = parameters.choice("policy");
  options.policy = policy == "elastic"       ? driver::SharingPolicy::kElastic
                   : policy == "best_effort" ? driver::SharingPolicy::kBestEffort
                                             : driver::SharingPolicy::kFixedQuota;
  options.window = time("window_us");
  options.sample = time("sample_us");
  options.carry_percent = number("carry_percent");
  options.tail_percent = number("tail_percent");
  options.timeout = time("timeout_us");
  options.launches.start = number("launches_start");
  options.launches.floor = number("launches_floor");
  options.launches.most = number("launches_most");
  options.launches.grow = number("launches_grow");
  options.launches.shrink_percent = number("launches_shrink");
  options.launches.target = time("target_us");
  return options;
}

}  // namespace npu::workloads
