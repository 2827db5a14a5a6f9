// SPDX-License-Identifier: Apache-2.0
// Managed memory's workloads: parts that add up, keys that move their parts, counts that are known.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <sstream>

#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using Parts = std::map<std::string, std::int64_t>;  // ps

std::int64_t value_of(const workloads::Report& report, const std::string& name) {
  const auto* const found = report.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? 0 : found->value.value();
}

Parts parts_of(const workloads::Report& report, const std::string& prefix) {
  const std::string before = prefix + ".breakdown.";
  Parts parts;
  for (const auto& metric : report.metrics()) {
    if (metric.name.rfind(before, 0) == 0) {
      parts[metric.name.substr(before.size())] = metric.value.value();
    }
  }
  return parts;
}

class SvmFault : public testing::TestWithParam<const char*> {};

TEST_P(SvmFault, PartsAddUpToThePicosecond) {
  Machine machine;
  const auto report = machine.workload("svm_fault", {std::string("policy=") + GetParam()});
  for (const std::string prefix : {"svm_fault", "svm_fault.untouched"}) {
    const auto parts = parts_of(report, prefix);
    EXPECT_GE(parts.size(), 9U);
    std::int64_t sum = 0;
    for (const auto& [name, time] : parts) sum += time;
    EXPECT_EQ(sum, value_of(report, prefix + ".latency_us")) << prefix;
  }
  // A page of 2 MiB, or a part of 64 KiB.
  const bool whole = GetParam() == std::string("message");
  EXPECT_GT(value_of(report, "svm_fault.breakdown.copy_us"), whole ? 70'000'000 : 2'500'000);
  EXPECT_EQ(value_of(report, "svm_fault.untouched.breakdown.copy_us"), 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, SvmFault, testing::Values("message", "batch"),
                         [](const auto& instance) { return std::string(instance.param); });

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

TEST(SvmTouch, DensityCutsTheBatchesOfASequentialPassMost) {
  Machine machine;
  std::int64_t batches[2][2] = {};
  for (const bool with : {false, true}) {
    const auto report = machine.workload(
        "svm_touch", {"pages=2", "step=4KiB", "orders=sequential,random", "policy=batch",
                      std::string("density=") + (with ? "51" : "0")});
    batches[0][with ? 1 : 0] = value_of(report, "svm_touch.sequential.batches");
    batches[1][with ? 1 : 0] = value_of(report, "svm_touch.random.batches");
    EXPECT_LE(value_of(report, "svm_touch.sequential.largest_batch"), 256);
    EXPECT_EQ(value_of(report, "svm_touch.sequential.migrated_to_card_bytes"), 2 * 2 << 20);
  }
  EXPECT_EQ(batches[0][0], 2 * 512);
  EXPECT_EQ(batches[0][1], 2 * 6);
  EXPECT_GT(batches[1][1], 2 * batches[0][1]) << "random access is helped far less";
}

// SystemC elaborates once in a process.
Parts parts_with(const std::string& setting, const std::string& policy) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    Machine machine({setting});
    const auto report =
        machine.workload("svm_fault", {"pages=untouched", "faults=1", "policy=" + policy});
    std::string text;
    for (const auto& [name, time] : parts_of(report, "svm_fault.untouched")) {
      text += name + " " + std::to_string(time) + "\n";
    }
    const bool told = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(told && !testing::Test::HasFailure() ? 0 : 1);
  }
  close(ends[1]);
  std::array<char, 4096> text{};
  ssize_t length = 0;
  while (const auto more = read(ends[0], text.data() + length, text.size() - length)) {
    if (more < 0) break;
    length += more;
  }
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::istringstream lines(std::string(text.data(), static_cast<std::size_t>(length)));
  Parts parts;
  std::string name;
  for (std::int64_t time = 0; lines >> name >> time;) parts[name] = time;
  return parts;
}

// A key that moves one part by as much.
struct PartKey {
  const char* name;
  const char* policy;
  const char *less, *more;
  const char* part;
  std::int64_t by;  // ps

  friend std::ostream& operator<<(std::ostream& out, const PartKey& key) { return out << key.name; }
};

class SvmFaultKeys : public testing::TestWithParam<PartKey> {};

TEST_P(SvmFaultKeys, MoveTheirPartAlone) {
  const auto& key = GetParam();
  const auto less = parts_with(key.less, key.policy);
  const auto more = parts_with(key.more, key.policy);
  EXPECT_GE(less.size(), 9U);
  for (const auto& [name, time] : less) {
    // Elsewhere it is a refresh of the memory, or a round of the pager's polling, at another time.
    const std::int64_t expected = key.part + std::string("_us") == name ? key.by : 0;
    EXPECT_NEAR(static_cast<double>(more.at(name) - time), static_cast<double>(expected), 200'000)
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Keys, SvmFaultKeys,
    testing::Values(PartKey{"fault_batch", "batch", "cards.0.mmu.fault_ns=0",
                            "cards.0.mmu.fault_ns=1000", "message", 1'000'000},
                    PartKey{"interrupt_batch", "batch", "cpu.interrupt_ns=100",
                            "cpu.interrupt_ns=1100", "interrupt", 1'000'000},
                    PartKey{"wake_batch", "batch", "cpu.wake_ns=1000", "cpu.wake_ns=3000", "driver",
                            2'000'000},
                    PartKey{"fault_message", "message", "cards.0.mmu.fault_ns=0",
                            "cards.0.mmu.fault_ns=1000", "signal", 1'000'000},
                    PartKey{"interrupt_message", "message", "cpu.interrupt_ns=100",
                            "cpu.interrupt_ns=1100", "interrupt", 1'000'000},
                    PartKey{"wake_message", "message", "cpu.wake_ns=1000", "cpu.wake_ns=3000",
                            "driver", 2'000'000},
                    PartKey{"store_message", "message", "cards.0.aicpu_core.store_done_ns=40",
                            "cards.0.aicpu_core.store_done_ns=1040", "table", 1'000'000}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace npu::test
