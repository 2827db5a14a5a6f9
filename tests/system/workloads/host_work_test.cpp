// SPDX-License-Identifier: Apache-2.0
// The host's own work on memory: parts that add up and move with their keys, and a node that who
// copies at once must share.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using Parameters = std::vector<std::string>;

std::int64_t of(const reports::Report& report, const std::string& name) {
  const auto* const found = report.find("host_memory." + name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? 0 : found->value.value();
}

const Parameters kSmall{"sizes=64KiB,2MiB", "copiers=1", "cards=1", "bytes=64KiB"};

TEST(HostWork, PartsAddUpToTheCall) {
  Machine machine;
  const auto report = machine.workload("host_memory", kSmall);
  for (const std::string size : {"64KiB", "2MiB"}) {
    const auto sum = [&](const std::string& call, const Parameters& parts) {
      std::int64_t all = 0;
      for (const auto& part : parts) {
        const auto time = of(report, size + "." + call + "." + part + "_us");
        EXPECT_GT(time, 0) << part;
        all += time;
      }
      EXPECT_EQ(all, of(report, size + "." + call + ".total_us"));
    };
    sum("allocate", {"call", "clear", "pin", "iommu_map"});
    sum("free", {"call", "ats_invalidation", "iommu_unmap", "unpin"});
  }
}

// 16 pages of 4 KiB or one of 2 MiB; a picosecond is 1 in the report's number.
struct Key {
  const char* setting;
  const char* part;
  std::int64_t small, large;
};
class HostWorkKeys : public testing::TestWithParam<Key> {};

TEST_P(HostWorkKeys, ArePartsOfTheirOwn) {
  const auto& key = GetParam();
  Machine machine({key.setting});
  const auto report = machine.workload("host_memory", kSmall);
  EXPECT_EQ(of(report, std::string("64KiB.") + key.part), key.small);
  EXPECT_EQ(of(report, std::string("2MiB.") + key.part), key.large);
}
INSTANTIATE_TEST_SUITE_P(
    Keys, HostWorkKeys,
    testing::Values(
        Key{"memory.pin_page_ns=1000", "allocate.pin_us", 16'000'000, 1'000'000},
        Key{"memory.pin_page_ns=0", "allocate.pin_us", 0, 0},
        Key{"memory.iommu_map_ns=1000", "allocate.iommu_map_us", 16'000'000, 1'000'000},
        Key{"memory.huge_page_kib=4", "allocate.pin_us", 16 * 137'000, 512 * 137'000},
        Key{"memory.clear_gb_per_s=1", "allocate.clear_us", 65'536'000, 2'097'152'000},
        Key{"cpu.copy_gb_per_s=1", "copy_in_us", 65'536'000, 2'097'152'000},
        Key{"memory.unpin_page_ns=1000000", "free.unpin_us", 16'000'000'000, 1'000'000'000},
        Key{"memory.iommu_unmap_ns=0", "free.iommu_unmap_us", 686'000, 686'000},
        Key{"memory.iommu_invalidation_ns=0", "free.iommu_unmap_us", 16 * 141'000, 141'000}),
    [](const auto& key) {
      std::string name = key.param.setting;
      for (auto& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

TEST(HostWork, EightCardsAtOnceMeetTheNodesBandwidth) {
  Machine machine({"memory.bandwidth_gb_per_s=20"}, "system-8x910b.yaml");
  const auto report =
      machine.workload("host_memory", {"sizes=4KiB", "copiers=4", "cards=1,8", "bytes=1MiB"});
  // All of them together, but for the first walks and the way there. A copy moves bytes twice.
  for (const char* cards : {"host_memory.cards1", "host_memory.cards8"}) {
    const auto rate = metric(report, std::string(cards) + ".bandwidth_gb_per_s");
    EXPECT_GT(rate, 18) << cards;
    EXPECT_LT(rate, 20) << cards;
  }
  EXPECT_NEAR(metric(report, "host_memory.copiers4.bandwidth_gb_per_s"), 10, 0.1);
}

TEST(HostWork, EightCardsAtOnceAreTwoUplinksWhereMemoryIsFastEnough) {
  Machine machine({}, "system-8x910b.yaml");
  const auto report =
      machine.workload("host_memory", {"sizes=4KiB", "copiers=1", "cards=1,8", "bytes=1MiB"});
  const auto one = metric(report, "host_memory.cards1.bandwidth_gb_per_s");
  EXPECT_NEAR(metric(report, "host_memory.cards8.bandwidth_gb_per_s"), 2 * one, one / 5);
}

TEST(HostWork, PagesThatTheIotlbDoesNotHoldAreWalkedFor) {
  const Parameters copies{"sizes=4KiB", "copiers=1", "cards=1", "bytes=1MiB"};
  Machine machine({"memory.huge_page_kib=4", "memory.iotlb_entries=1"});
  const auto report = machine.workload("host_memory", copies);
  std::int64_t misses = 0;
  for (const auto& counter : report.counters()) {
    if (counter.name == "host.iotlb_misses") misses = counter.value.value();
  }
  EXPECT_GE(misses, 256);
}

TEST(HostWork, MoreCopiersThanCoresTakeTurns) {
  Machine machine({"cpu.cores=2"});
  const auto report =
      machine.workload("host_memory", {"sizes=4KiB", "copiers=2,8", "cards=1", "bytes=1MiB"});
  EXPECT_NEAR(metric(report, "host_memory.copiers8.bandwidth_gb_per_s"), 20, 1);
}

}  // namespace
}  // namespace npu::test
