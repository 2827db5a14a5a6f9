// SPDX-License-Identifier: Apache-2.0
// Managed memory's workloads: parts that add up, keys that move their parts, counts that are known.
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

constexpr const char* kParts[] = {"walk", "message", "interrupt", "driver", "allocation",
                                  "copy", "table",   "reply",     "replay"};

using Parts = std::array<std::int64_t, std::size(kParts)>;  // ps

std::int64_t value_of(const workloads::Report& report, const std::string& name) {
  const auto* const found = report.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? 0 : found->value.value();
}

Parts parts_of(const workloads::Report& report, const std::string& prefix) {
  Parts parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = value_of(report, prefix + ".breakdown." + kParts[i] + "_us");
  }
  return parts;
}

TEST(SvmFault, PartsAddUpToThePicosecond) {
  Machine machine;
  const auto report = machine.workload("svm_fault");
  for (const std::string prefix : {"svm_fault", "svm_fault.untouched"}) {
    std::int64_t sum = 0;
    for (const auto part : parts_of(report, prefix)) sum += part;
    EXPECT_EQ(sum, value_of(report, prefix + ".latency_us")) << prefix;
  }
  EXPECT_GT(value_of(report, "svm_fault.breakdown.copy_us"), 70'000'000);
  EXPECT_EQ(value_of(report, "svm_fault.untouched.breakdown.copy_us"), 0);
}

TEST(SvmTouch, PagesThatTheHostHasFilledComeOneByOne) {
  Machine machine;
  const auto report = machine.workload("svm_touch", {"pages=24"});
  for (const std::string order : {"sequential", "strided", "random"}) {
    const auto prefix = "svm_touch." + order;
    EXPECT_EQ(value_of(report, prefix + ".faults"), 24);
    EXPECT_EQ(value_of(report, prefix + ".migrated_to_card_bytes"), 24 * std::int64_t{2 << 20});
    EXPECT_EQ(value_of(report, prefix + ".migrated_to_host_bytes"), 0);
  }
}

TEST(SvmTouch, PagesThatTheCardHasComeBackToWhoTouchesThem) {
  Machine machine;
  const auto report = machine.workload("svm_touch", {"pages=5", "by=host", "orders=random"});
  EXPECT_EQ(value_of(report, "svm_touch.random.faults"), 5);
  EXPECT_EQ(value_of(report, "svm_touch.random.migrated_to_host_bytes"), 5 * std::int64_t{2 << 20});
}

// SystemC elaborates once in a process.
Parts parts_with(const std::string& setting) {
  Parts parts{};
  int ends[2];
  if (pipe(ends) != 0) return parts;
  const pid_t child = fork();
  if (child == 0) {
    Machine machine({setting});
    parts = parts_of(machine.workload("svm_fault", {"pages=untouched", "faults=1"}),
                     "svm_fault.untouched");
    const bool told = write(ends[1], parts.data(), sizeof parts) == ssize_t{sizeof parts};
    _exit(told && !testing::Test::HasFailure() ? 0 : 1);
  }
  close(ends[1]);
  EXPECT_EQ(read(ends[0], parts.data(), sizeof parts), ssize_t{sizeof parts});
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return parts;
}

// A key that moves one part by as much.
struct PartKey {
  const char* name;
  const char *less, *more;
  const char* part;
  std::int64_t by;  // ps

  friend std::ostream& operator<<(std::ostream& out, const PartKey& key) { return out << key.name; }
};

class SvmFaultKeys : public testing::TestWithParam<PartKey> {};

TEST_P(SvmFaultKeys, MoveTheirPartAlone) {
  const auto& key = GetParam();
  const auto less = parts_with(key.less), more = parts_with(key.more);
  for (std::size_t i = 0; i < less.size(); ++i) {
    // Elsewhere it is the memory's refresh that the fault meets at another time.
    const std::int64_t expected = std::string(key.part) == kParts[i] ? key.by : 0;
    EXPECT_NEAR(static_cast<double>(more[i] - less[i]), static_cast<double>(expected), 20'000)
        << kParts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, SvmFaultKeys,
                         testing::Values(PartKey{"fault", "cards.0.mmu.fault_ns=0",
                                                 "cards.0.mmu.fault_ns=1000", "message", 1'000'000},
                                         PartKey{"interrupt", "cpu.interrupt_ns=100",
                                                 "cpu.interrupt_ns=1100", "interrupt", 1'000'000},
                                         PartKey{"wake", "cpu.wake_ns=1000", "cpu.wake_ns=3000",
                                                 "driver", 2'000'000}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace npu::test
