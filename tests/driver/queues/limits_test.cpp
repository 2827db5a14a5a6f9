// SPDX-License-Identifier: Apache-2.0
// What can run out, and what is left afterwards.
#include <algorithm>

#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class LimitsTest : public QueueTest {
 protected:
  struct Inventory {
    std::size_t host, cards_queues, ids, pasids, pages, spaces_free;
    Bytes memory;

    bool operator==(const Inventory& o) const {
      return host == o.host && cards_queues == o.cards_queues && ids == o.ids &&
             pasids == o.pasids && pages == o.pages && memory == o.memory;
    }
  };
  Inventory inventory() {
    const auto now = statistics();
    return {fake.host_memory.live(),
            cp.queues(),
            now.queue_ids,
            now.pasids,
            now.doorbell_pages,
            0,
            device->memory_statistics().free};
  }
};

TEST_F(LimitsTest, DoorbellsOfAProcessRunOut) {
  std::vector<std::unique_ptr<Queue>> queues;
  for (unsigned i = 0; i < 511; ++i) queues.push_back(make(small()));
  const auto before = inventory();
  EXPECT_THAT(process->create_queue(small()),
              FailsWith(ErrorCode::kOutOfResources, "all 511 doorbells"));
  EXPECT_TRUE(inventory() == before);
  queues.erase(queues.begin() + 100);
  const auto again = make(small());
  EXPECT_EQ(again->doorbell(), 100U);
  EXPECT_THAT(run(*again), IsOk());
}

TEST_F(LimitsTest, AProcessKeepsToItsOwnLimit) {
  ProcessOptions options;
  options.max_queues = 2;
  const auto limited = open_process(options);
  const auto first = make(*limited), second = make(*limited);
  EXPECT_THAT(limited->create_queue(), FailsWith(ErrorCode::kOutOfResources, "all 2 doorbells"));
  EXPECT_THAT(run(*make()), IsOk()) << "others have theirs";
}

TEST_F(LimitsTest, AddressSpacesRunOutWithProcesses) {
  std::vector<std::unique_ptr<ProcessContext>> processes;
  const auto before = inventory();
  for (;;) {
    auto opened = ProcessContext::open(*device);
    if (!opened) {
      EXPECT_THAT(opened, FailsWith(ErrorCode::kOutOfResources, "address spaces"));
      break;
    }
    processes.push_back(std::move(*opened));
    ASSERT_LT(processes.size(), 20U);
  }
  EXPECT_EQ(processes.size(), 16U) << "18 VMIDs, the default space's, and the fixture's";
  processes.clear();
  EXPECT_TRUE(inventory() == before);
}

TEST_F(LimitsTest, DoorbellPagesRunOut) {
  test::FakeCardConfig config;
  config.bdf = {2, 0, 0};
  config.index = 1;
  config.doorbell_pages = 2;
  fake.add_card(config);
  auto other = must(Device::open(fake, config.bdf));
  auto first = ProcessContext::open(*other), second = ProcessContext::open(*other);
  ASSERT_TRUE(first && second);
  const auto live = fake.host_memory.live();
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(ProcessContext::open(*other),
                FailsWith(ErrorCode::kOutOfResources, "all 2 doorbell pages"));
  }
  EXPECT_EQ(fake.host_memory.live(), live);
  first->reset();
  EXPECT_THAT(ProcessContext::open(*other), IsOk());
}

// kfdtest: AllQueues, and one more.
TEST_F(LimitsTest, AllQueuesOfTheCardWorkAtOnceAndTheirIdsRunOut) {
  std::vector<std::unique_ptr<ProcessContext>> processes;
  std::vector<std::unique_ptr<Queue>> queues;
  for (int p = 0; p < 8; ++p) {
    processes.push_back(open_process());
    for (int i = 0; i < 511; ++i) queues.push_back(make(*processes.back(), small()));
  }
  for (int i = 8 * 511; i < 4096; ++i) queues.push_back(make(small()));
  const auto before = inventory();
  EXPECT_THAT(process->create_queue(small()),
              FailsWith(ErrorCode::kOutOfResources, "all 4096 queue ids"));
  EXPECT_TRUE(inventory() == before);
  std::vector<QueueTicket> tickets;
  tickets.reserve(queues.size());
  for (auto& queue : queues) tickets.push_back(*queue->submit(entries::nop(), in(1_ms)));
  for (std::size_t i = 0; i < queues.size(); ++i) {
    EXPECT_THAT(queues[i]->wait(tickets[i], WaitPolicy::kPolling, in(10_ms)), IsOk());
  }
  EXPECT_EQ(cp.executed().size(), 4096U);
  queues.clear();
}

TEST_F(LimitsTest, DeviceMemoryRunsOut) {
  while (process->space().allocate(1_GiB)) {
  }
  while (process->space().allocate(2_MiB)) {
  }
  QueueOptions options;
  options.ring.memory = QueueMemory::kDevice;
  const auto before = inventory();
  EXPECT_THAT(process->create_queue(options), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_TRUE(inventory() == before);
  EXPECT_THAT(run(*make()), IsOk()) << "host memory is left";
}

TEST_F(LimitsTest, ARingLargerThanAPageOfDeviceMemoryIsRefused) {
  QueueOptions options;
  options.ring = {QueueMemory::kDevice, 16};
  EXPECT_THAT(process->create_queue(options), FailsWith(ErrorCode::kOutOfMemory, "4194304"));
  options.ring.log2_entries = 15;
  EXPECT_THAT(run(*make(options)), IsOk());
}

// Whatever the card says no to, nothing is left.
TEST_F(LimitsTest, ARefusedCommandUnwindsEverything) {
  const auto before = inventory();
  for (const auto opcode : {abi::ManagementOpcode::kMapProcess, abi::ManagementOpcode::kAddQueue,
                            abi::ManagementOpcode::kSuspend}) {
    cp.refusals[static_cast<std::uint8_t>(opcode)] = abi::ManagementStatus::kInvalidCommand;
    QueueOptions options;
    options.percentage = 0;  // so that there is a SUSPEND, of a queue that is on the card by then
    EXPECT_THAT(process->create_queue(options), FailsWith(ErrorCode::kBadDevice, "refused"));
    cp.refusals.clear();
    EXPECT_TRUE(inventory() == before);
    EXPECT_EQ(cp.processes(), 0U);
  }
}

// kfdtest: CreateQueueStressSingleThreaded, all orders.
TEST_F(LimitsTest, TenThousandRoundsOfCreatingAndDestroyingLeaveNothing) {
  std::vector<int> order = {0, 1, 2, 3};
  const auto before = inventory();
  for (int round = 0; round < 10'000; ++round) {
    std::vector<std::unique_ptr<Queue>> queues(4);
    for (auto& queue : queues) {
      auto options = small();
      if (round % 16 == 0) options.ring.memory = QueueMemory::kDevice;
      queue = make(options);
    }
    for (const int i : order) queues[static_cast<std::size_t>(i)].reset();
    std::next_permutation(order.begin(), order.end());
  }
  auto after = inventory();
  after.memory += 2_MiB;  // the process' own page for rings, kept for the next one
  EXPECT_TRUE(after == before);
  EXPECT_EQ(cp.processes(), 0U);
}

TEST_F(LimitsTest, ProcessesComeAndGoWithoutALeak) {
  const auto before = inventory();
  for (int round = 0; round < 1000; ++round) {
    const auto other = open_process();
    QueueOptions options = small();
    options.ring.memory = QueueMemory::kDevice;
    const auto queue = make(*other, options);
    ASSERT_THAT(run(*queue), IsOk());
  }
  EXPECT_TRUE(inventory() == before);
}

}  // namespace
}  // namespace npu::driver
