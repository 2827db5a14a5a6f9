// SPDX-License-Identifier: Apache-2.0
// Compute groups by DSMI: on whose cores kernels run.
#include <algorithm>
#include <array>

#include "npu/driver/compute_groups.hpp"
#include "tests/system/management/managed_card.hpp"

namespace npu::test {
namespace {

using Info = dsmi_capability_group_info;

Info wanted(unsigned id, unsigned cores) {
  Info info{};
  info.group_id = id;
  info.aicore_number = cores;
  return info;
}

std::vector<Info> groups() {
  std::vector<Info> all(32);
  EXPECT_EQ(dsmi_get_capability_group_info(0, 0, -1, all.data(), 32), DSMI_OK);
  all.erase(std::find_if(all.begin(), all.end(), [](const Info& one) { return one.state == 0; }),
            all.end());
  return all;
}

// Cores that were busy while a kernel of a block for each of the card's cores ran.
std::vector<unsigned> busy_cores(WatchedCard& managed, std::uint32_t group,
                                 const driver::QueueOptions& queue_options = {}) {
  driver::ProcessOptions options;
  options.group = group;
  QueueProcess process(managed.card, options);
  auto& queue = process.add(queue_options);
  const auto kernel = process.launch(queue, "spin", 64, std::array{std::uint64_t{185'000}});
  managed.core_uses();
  EXPECT_TRUE(managed.card.run(queue, kernel));
  const auto uses = managed.core_uses();
  std::vector<unsigned> busy;
  for (unsigned core = 0; core < static_cast<unsigned>(uses.size()); ++core) {
    if (uses[core] > 0) busy.push_back(core);
  }
  return busy;
}

std::vector<unsigned> range(unsigned first, unsigned end) {
  std::vector<unsigned> cores;
  for (unsigned core = first; core < end; ++core) cores.push_back(core);
  return cores;
}

TEST(DsmiGroups, KernelsRunOnTheCoresOfTheirGroupAlone) {
  Machine().on<WatchedCard>([](WatchedCard& managed) {
    Info four = wanted(1, 4);
    ASSERT_EQ(dsmi_create_capability_group(0, 0, &four), DSMI_OK);
    EXPECT_EQ(four.aicore_mask[0], 0xFU);
    Info high{};
    high.group_id = 9;
    high.aicore_mask[1] = 0xFF00'0000;
    ASSERT_EQ(dsmi_create_capability_group(0, 0, &high), DSMI_OK);
    EXPECT_EQ(high.aicore_number, 8U);
    EXPECT_EQ(busy_cores(managed, 1), range(0, 4));
    EXPECT_EQ(busy_cores(managed, 9), range(56, 64));
    EXPECT_EQ(busy_cores(managed, 0), range(4, 56));
    driver::QueueOptions two;
    two.core_mask = driver::first_cores(2);
    EXPECT_EQ(busy_cores(managed, 1, two), range(0, 2)) << "what the queue asks for counts, too";
    ASSERT_EQ(dsmi_delete_capability_group(0, 0, 1), DSMI_OK);
    ASSERT_EQ(dsmi_delete_capability_group(0, 0, 9), DSMI_OK);
    EXPECT_EQ(busy_cores(managed, 0), range(0, 64));
  });
}

TEST(DsmiGroups, AreToldOfAsTheyAre) {
  Machine({}, "910b2.yaml").on<WatchedCard>([](const WatchedCard&) {
    auto all = groups();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].extend_attribute, DSMI_CAPABILITY_GROUP_DEFAULT);
    EXPECT_EQ(all[0].aicore_number, 24U);
    EXPECT_EQ(all[0].aivector_number, 48U);
    Info info = wanted(3, 6);
    ASSERT_EQ(dsmi_create_capability_group(0, 0, &info), DSMI_OK);
    all = groups();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].aicore_mask[0], 0xFF'FFC0U);
    EXPECT_EQ(all[1].group_id, 3U);
    EXPECT_EQ(all[1].aivector_number, 12U);
    EXPECT_EQ(all[1].aicore_mask[0], 0x3FU);
    Info one{};
    EXPECT_EQ(dsmi_get_capability_group_info(0, 0, 3, &one, 1), DSMI_OK);
    EXPECT_EQ(one.aicore_number, 6U);
    EXPECT_EQ(dsmi_get_capability_group_info(0, 0, 4, &one, 1), DSMI_ERROR_NOT_EXIST);
    EXPECT_EQ(dsmi_get_capability_group_info(0, 0, -1, &one, 1), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(dsmi_get_capability_group_info(0, 1, 3, &one, 1), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(one.aicore_number, 6U);
  });
}

TEST(DsmiGroups, ARefusedOneChangesNothing) {
  Machine({}, "910b2.yaml").on<WatchedCard>([](WatchedCard& managed) {
    const auto code = [](Info info) { return dsmi_create_capability_group(0, 0, &info); };
    EXPECT_EQ(code(wanted(0, 1)), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(code(wanted(32, 1)), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(code(wanted(1, 0)), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(code(wanted(1, 25)), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(code(wanted(1, 24)), DSMI_ERROR_NO_RESOURCES);
    Info info = wanted(1, 2);
    info.aicpu_number = 1;
    EXPECT_EQ(code(info), DSMI_ERROR_NOT_SUPPORT);
    EXPECT_EQ(dsmi_delete_capability_group(0, 0, 1), DSMI_ERROR_NOT_EXIST);
    EXPECT_EQ(dsmi_delete_capability_group(0, 0, 0), DSMI_ERROR_PARAMETER);
    {
      const QueueProcess process(managed.card);
      EXPECT_EQ(code(wanted(1, 2)), DSMI_ERROR_BUSY);
    }
    EXPECT_EQ(groups().size(), 1U);
    EXPECT_EQ(code(wanted(1, 2)), DSMI_OK);
    driver::ProcessOptions options;
    options.group = 2;
    EXPECT_EQ(driver::ProcessContext::open(*managed.card.device, options).error().code,
              ErrorCode::kNotFound);
    options.group = 1;
    QueueProcess process(managed.card, options);
    driver::QueueOptions foreign;
    foreign.core_mask = {0b100, 0, 0, 0};
    EXPECT_EQ(process.process->create_queue(foreign).error().code, ErrorCode::kInvalidArgument);
    driver::QueueChange change;
    change.core_mask = foreign.core_mask;
    const auto& queue = process.add();
    EXPECT_EQ(process.process->update(queue.id(), change).error().code,
              ErrorCode::kInvalidArgument);
  });
}

TEST(DsmiGroups, ACgroupIsTheClientsQuota) {
  Machine().run([](platform::Platform& host) {
    const QueueCard card(host);
    const auto quota = std::make_shared<driver::MemoryQuota>(1_GiB);
    dsmi::Machine attached;
    attached.cards.push_back(driver::manage(*card.device, quota));
    attached.clock = &host.clock();
    attached.tasks = &host.tasks();
    ASSERT_TRUE(dsmi::attach(std::move(attached)));
    tag_cgroup_info info{};
    {
      const auto space = *card.device->create_address_space({}, quota);
      const auto first = *space->allocate(300_MiB);
      ASSERT_TRUE(space->allocate(100_MiB));
      ASSERT_TRUE(space->free(first.address));
      ASSERT_EQ(dsmi_get_device_cgroup_info(0, &info), DSMI_OK);
      EXPECT_EQ(info.limit_in_bytes, 1_GiB);
      EXPECT_EQ(info.max_usage_in_bytes, 400_MiB);
      EXPECT_EQ(info.usage_in_bytes, 100_MiB);
    }
    ASSERT_TRUE(dsmi::attach(host, {card.device.get()}));
    EXPECT_EQ(dsmi_get_device_cgroup_info(0, &info), DSMI_ERROR_NOT_SUPPORT) << "without a quota";
    dsmi::detach();
  });
}

}  // namespace
}  // namespace npu::test
