// SPDX-License-Identifier: Apache-2.0
#include "tests/system/management/managed_card.hpp"
#include "tools/cli/management/probed_card.hpp"

namespace npu::test {
namespace {

TEST(DsmiMemory, ThreeGibAllocatedAre3145728KbMoreInUse) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    const auto before = managed.memory();
    const auto block = must(managed.card.device->allocate(3_GiB));
    EXPECT_EQ(managed.memory().memory_usage - before.memory_usage, 3'145'728U);
    EXPECT_EQ(managed.memory().memory_size, before.memory_size);
    ASSERT_TRUE(managed.card.device->free(block.address));
    EXPECT_EQ(managed.memory().memory_usage, before.memory_usage);
  });
}

TEST(DsmiMemory, ThePageTablesOfTheCardTellTheSame) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    SupervisedCard managed(host);
    cli::ProbedCard probe(machine.system, 0);
    managed.card.pass(1_ms);
    const auto before = must(probe.memory_use());
    const auto block = must(managed.card.device->allocate(3_GiB));
    managed.card.pass(1_ms);  // the last entries are posted writes
    EXPECT_EQ(must(probe.memory_use()).used - before.used, 3_GiB);
    EXPECT_EQ(must(probe.memory_use()).used / 1024, managed.memory().memory_usage);
    ASSERT_TRUE(managed.card.device->free(block.address));
    EXPECT_EQ(must(probe.memory_use()).used, before.used);
  });
}

TEST(DsmiMemory, WhoWatchesBesideTheDriverReadsTheSameOverTheLink) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    must(managed.card.device->allocate(64_MiB));
    const auto began = host.clock().now();
    const auto beside = must(driver::observe(host, managed.card.device->info().bdf()));
    EXPECT_EQ(must(beside->memory_use()).used / 1024, managed.memory().memory_usage);
    EXPECT_GT(host.clock().now() - began, 100_us) << "reads over the link take their time";
  });
}

TEST(DsmiMemory, BandwidthIsOfTheInterval) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    auto& queue = managed.process.add();
    const auto at = managed.process.memory;
    managed.use(DSMI_UTILIZATION_HBM_BANDWIDTH);
    ASSERT_TRUE(managed.card.run(queue, entries::fill(at + 1_MiB, 1_MiB, 7)));
    EXPECT_GT(managed.use(DSMI_UTILIZATION_HBM_BANDWIDTH), 0U);
    managed.card.pass(10_ms);
    EXPECT_EQ(managed.use(DSMI_UTILIZATION_HBM_BANDWIDTH), 0U);
  });
}

std::vector<int> pids() {
  std::vector<int> all(16);
  dsmi_resource_para para{};
  para.resource_type = DSMI_DEV_PROCESS_PID;
  dsmi_resource_info info{};
  info.buf_len = static_cast<unsigned>(all.size() * sizeof(int));
  info.buf = all.data();
  EXPECT_EQ(dsmi_get_resource_info(0, &para, &info), DSMI_OK);
  all.resize(info.buf_len / sizeof(int));
  return all;
}

TEST(DsmiMemory, ProcessesAreListedWithWhatTheyHoldUntilTheyGo) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    driver::ProcessOptions options;
    options.process = driver::ProcessId{4711};
    {
      QueueProcess other(managed.card, options);
      must(other.process->space().allocate(32_MiB));
      EXPECT_EQ(pids(), (std::vector<int>{0, 4711}));
      unsigned long long bytes = 0;
      dsmi_resource_para para{DSMI_PROCESS_RESOURCE, 4711, DSMI_DEV_PROCESS_MEM, 0, {}};
      dsmi_resource_info info{sizeof bytes, &bytes, {}};
      ASSERT_EQ(dsmi_get_resource_info(0, &para, &info), DSMI_OK);
      EXPECT_EQ(bytes, 32_MiB + QueueProcess::kMemory);
    }
    EXPECT_EQ(pids(), std::vector<int>{0});
  });
}

}  // namespace
}  // namespace npu::test
