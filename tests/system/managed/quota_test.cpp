// SPDX-License-Identifier: Apache-2.0
// Managed pages on a card count for their client's quota, and its oldest make room for new ones.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

// A process of a client, with managed memory.
struct Client {
  Client(platform::Platform& host, std::shared_ptr<driver::Device> opened,
         const driver::ManagedOptions& options, Bytes limit)
      : quota(std::make_shared<driver::MemoryQuota>(limit)),
        clock(host.clock()),
        device(std::move(opened)) {
    driver::ProcessOptions wanted;
    wanted.quota = quota;
    process = must(driver::ProcessContext::open(*device, wanted));
    queue = must(process->create_queue());
    managed = must(ManagedMemory::open(*device, process->space(), options));
  }
  ~Client() { queue.reset(); }

  Status touch(DeviceAddress at) {
    const auto deadline = clock.now() + 1_s;
    auto ticket = queue->submit(driver::entries::fill(at, 64, 7), deadline);
    if (!ticket) return forward_error(ticket);
    return queue->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline);
  }

  std::shared_ptr<driver::MemoryQuota> quota;
  platform::Clock& clock;
  std::shared_ptr<driver::Device> device;
  std::unique_ptr<driver::ProcessContext> process;
  std::unique_ptr<driver::Queue> queue;
  std::unique_ptr<ManagedMemory> managed;
};

class ManagedQuota : public ManagedTest {};
NPU_BOTH_POLICIES(ManagedQuota);

TEST_P(ManagedQuota, TheOldestPageOfTheClientMakesRoom) {
  Machine().run([](platform::Platform& host) {
    const std::shared_ptr<driver::Device> device = must(driver::Device::open_index(host, 0));
    Client small(host, device, options(), 4 * kPageSize);
    Client other(host, device, options(), driver::MemoryQuota::kUnlimited);
    const auto at = must(small.managed->allocate(8 * kPageSize));
    const auto there = must(other.managed->allocate(8 * kPageSize));
    for (unsigned i = 0; i < 8; ++i) {
      ASSERT_THAT(other.touch(there + i * kPageSize), IsOk());
      ASSERT_THAT(small.touch(at + i * kPageSize), IsOk());
      EXPECT_LE(small.quota->use().managed, 4 * kPageSize);
    }
    EXPECT_EQ(small.managed->statistics().evictions, 4U);
    EXPECT_EQ(other.managed->statistics().evictions, 0U);
    EXPECT_EQ(other.quota->use().managed, 8 * kPageSize);
    EXPECT_EQ(small.process->space().memory_statistics().free, 0U);
    ASSERT_THAT(small.managed->free(at), IsOk());
    EXPECT_EQ(small.quota->use().used(), 0U);
  });
}

TEST_P(ManagedQuota, MemoryThatCannotLeaveMakesTheOldestPageLeave) {
  Machine().run([](platform::Platform& host) {
    const std::shared_ptr<driver::Device> device = must(driver::Device::open_index(host, 0));
    Client small(host, device, options(), 4 * kPageSize);
    Client other(host, device, options(), driver::MemoryQuota::kUnlimited);
    auto& space = small.process->space();
    const auto at = must(small.managed->allocate(4 * kPageSize));
    const auto there = must(other.managed->allocate(kPageSize));
    ASSERT_THAT(other.touch(there), IsOk());  // the oldest of all
    for (unsigned i = 0; i < 4; ++i) ASSERT_THAT(small.touch(at + i * kPageSize), IsOk());
    const auto memory = must(space.allocate(1));
    const auto handle = must(space.create_memory(kPageSize));
    const auto use = small.quota->use();
    EXPECT_EQ(use.allocated, 2 * kPageSize);
    EXPECT_EQ(use.managed, 2 * kPageSize);
    EXPECT_EQ(use.most, 4 * kPageSize);
    EXPECT_EQ(use.refused, 0U);
    EXPECT_EQ(small.managed->statistics().evictions, 2U);
    ASSERT_THAT(small.touch(at + 3 * kPageSize), IsOk());  // has stayed
    EXPECT_EQ(small.managed->statistics().evictions, 2U);
    // More than there would be without any page: none leaves for it.
    EXPECT_THAT(space.allocate(2 * kPageSize + 1), FailsWith(ErrorCode::kOutOfMemory));
    EXPECT_THAT(space.allocate(4 * kPageSize + 1), FailsWith(ErrorCode::kOutOfMemory));
    EXPECT_EQ(small.quota->use().refused, 2U);
    EXPECT_EQ(small.quota->use().managed, 2 * kPageSize);
    EXPECT_EQ(other.managed->statistics().evictions, 0U);
    ASSERT_THAT(small.managed->free(at), IsOk());
    EXPECT_EQ(small.quota->use().used(), 2 * kPageSize);
    ASSERT_THAT(space.free(memory.address), IsOk());
    ASSERT_THAT(space.release_memory(handle), IsOk());
    EXPECT_EQ(small.quota->use().used(), 0U);
  });
}

TEST_P(ManagedQuota, ALimitBelowWhatThereIsRevokesNoPage) {
  Machine().run([](platform::Platform& host) {
    Client client(host, must(driver::Device::open_index(host, 0)), options(), 4 * kPageSize);
    const auto at = must(client.managed->allocate(6 * kPageSize));
    for (unsigned i = 0; i < 4; ++i) ASSERT_THAT(client.touch(at + i * kPageSize), IsOk());
    client.quota->set_limit(2 * kPageSize);
    EXPECT_EQ(client.quota->use().managed, 4 * kPageSize);
    ASSERT_THAT(client.touch(at), IsOk());  // is there
    EXPECT_EQ(client.quota->use().managed, 4 * kPageSize);
    ASSERT_THAT(client.touch(at + 5 * kPageSize), IsOk());
    EXPECT_EQ(client.quota->use().managed, 2 * kPageSize);
  });
}

TEST_P(ManagedQuota, WithoutAPageToGiveTheAccessFails) {
  Machine().run([](platform::Platform& host) {
    Client client(host, must(driver::Device::open_index(host, 0)), options(), kPageSize);
    const auto at = must(client.managed->allocate(kPageSize));
    ASSERT_THAT(client.process->space().allocate(kPageSize), IsOk());
    EXPECT_THAT(client.touch(at), FailsWith(ErrorCode::kDeviceFault));
    EXPECT_GE(client.quota->use().refused, 1U);
    client.quota.reset();
  });
}

TEST_P(ManagedQuota, PrefetchesStayWithinIt) {
  Machine().run([](platform::Platform& host) {
    Client client(host, must(driver::Device::open_index(host, 0)), options(), 4 * kPageSize);
    const auto at = must(client.managed->allocate(12 * kPageSize));
    write(*client.managed, at, 12 * kPageSize, 3);
    const auto ticket =
        must(client.managed->prefetch(at, 12 * kPageSize, driver::MemoryLocation::card(0)));
    static_cast<void>(client.managed->wait(ticket, host.clock().now() + 1_s));
    EXPECT_LE(client.quota->use().managed, 4 * kPageSize);
    EXPECT_EQ(client.quota->use().most, 4 * kPageSize);
    expect(*client.managed, at, 12 * kPageSize, 3);
  });
}

}  // namespace
}  // namespace npu::test
