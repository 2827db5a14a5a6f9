// SPDX-License-Identifier: Apache-2.0
// The parts of a page fault that a run of svm_fault reports, and keys that move them.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "tests/system/support/child_process.hpp"

namespace npu::test {

using Parts = std::map<std::string, std::int64_t>;  // ps

inline std::int64_t value_of(const workloads::Report& report, const std::string& name) {
  const auto* const found = report.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? 0 : found->value.value();
}

inline Parts parts_of(const workloads::Report& report, const std::string& prefix) {
  const std::string before = prefix + ".breakdown.";
  Parts parts;
  for (const auto& metric : report.metrics()) {
    if (metric.name.rfind(before, 0) == 0) {
      parts[metric.name.substr(before.size())] = metric.value.value();
    }
  }
  return parts;
}

inline Parts parts_with(const std::string& setting, const std::string& policy,
                        const std::string& page) {
  std::istringstream lines(text_of_process([&] {
    Machine machine({setting, policy == "ats" ? "mmu.fault_policy=ats" : "mmu.fault_policy=batch"});
    const auto report =
        machine.workload("svm_fault", {"pages=" + page, "faults=1", "policy=" + policy});
    std::string text;
    const auto prefix = page == "filled" ? "svm_fault" : "svm_fault." + page;
    for (const auto& [name, time] : parts_of(report, prefix)) {
      text += name + " " + std::to_string(time) + "\n";
    }
    return text;
  }));
  Parts parts;
  std::string name;
  for (std::int64_t time = 0; lines >> name >> time;) parts[name] = time;
  return parts;
}

// A key that moves parts by as much.
struct PartKey {
  const char* name;
  const char* policy;
  const char* page;
  const char *less, *more;
  std::map<std::string, std::int64_t> by;  // ps, by part

  friend std::ostream& operator<<(std::ostream& out, const PartKey& key) { return out << key.name; }
};

// The parts that the key names move by as much, and no others.
inline void expect_to_move(const PartKey& key) {
  const auto less = parts_with(key.less, key.policy, key.page);
  const auto more = parts_with(key.more, key.policy, key.page);
  EXPECT_GE(less.size(), 9U);
  for (const auto& [name, time] : less) {
    const auto moved = key.by.find(name.substr(0, name.size() - 3));  // without _us
    const auto expected = static_cast<double>(moved == key.by.end() ? 0 : moved->second);
    // Elsewhere it is a refresh of the memory, or a round of the pager's polling, at another time.
    EXPECT_NEAR(static_cast<double>(more.at(name) - time), expected, 200'000) << name;
  }
}

constexpr std::int64_t kMicrosecond = 1'000'000;

}  // namespace npu::test
