// SPDX-License-Identifier: Apache-2.0
// Clients that take mapped memory away.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

class HostileMapping : public SessionTest {
 protected:
  HostileMapping() {
    std::fill_n(memory.data(), memory.size(), std::byte{0x77});
    EXPECT_THAT(client.map(0, 16 * kPage, memory.fd()), Succeeds());
    data = device.mappings.at(0).data;
  }
  void truncate_to(std::uint64_t pages) {
    ASSERT_EQ(::ftruncate(memory.fd(), static_cast<off_t>(pages * kPage)), 0);
  }

  std::byte at(std::uint64_t offset) const { return data[offset]; }

  SharedMemory memory{16 * kPage};
  volatile std::byte* data = nullptr;
};

TEST_F(HostileMapping, TruncatedMemoryReadsAsZero) {
  truncate_to(4);
  EXPECT_EQ(at(4 * kPage), std::byte{0});
  EXPECT_EQ(at(16 * kPage - 1), std::byte{0});
  EXPECT_EQ(at(4 * kPage - 1), std::byte{0x77});
}

TEST_F(HostileMapping, TruncatedMemoryCanBeWritten) {
  truncate_to(0);
  data[9 * kPage] = std::byte{5};
  EXPECT_EQ(at(9 * kPage), std::byte{5});
}

TEST_F(HostileMapping, PagesAreLostFromTheEndInAnyOrder) {
  truncate_to(2);
  data[12 * kPage] = std::byte{12};
  data[8 * kPage] = std::byte{8};
  data[15 * kPage] = std::byte{15};
  data[2 * kPage] = std::byte{2};
  EXPECT_EQ(at(12 * kPage), std::byte{12});
  EXPECT_EQ(at(8 * kPage), std::byte{8});
  EXPECT_EQ(at(15 * kPage), std::byte{15});
  EXPECT_EQ(at(kPage), std::byte{0x77});
}

TEST_F(HostileMapping, ACommandThatMeetsLostMemoryIsAnsweredBeforeTheConnectionEnds) {
  truncate_to(0);
  device.on_read = [this] { EXPECT_EQ(at(0), std::byte{0}); };
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(device.take_calls().back(), "client gone");
  EXPECT_TRUE(device.mappings.empty());
}

TEST_F(HostileMapping, TheConnectionEndsWithoutAnotherMessage) {
  truncate_to(0);
  EXPECT_EQ(at(0), std::byte{0});
  EXPECT_TRUE(server.serve(0));
  EXPECT_FALSE(server.has_client());
}

TEST_F(HostileMapping, MemoryThatWasGivenBackUnharmedIsNoOffence) {
  truncate_to(4);
  truncate_to(16);
  EXPECT_EQ(at(8 * kPage), std::byte{0});
  settle();
  EXPECT_TRUE(server.has_client());
}

TEST_F(HostileMapping, OtherClientsAreNotConcerned) {
  ASSERT_THAT(server.listen(folder / "other", other), IsOk());
  auto second = Client::connect(folder / "other", [this] { server.serve(0); });
  ASSERT_TRUE(second && second->negotiate());
  const SharedMemory good(kPage);
  ASSERT_THAT(second->map(0, kPage, good.fd()), Succeeds());
  truncate_to(0);
  EXPECT_EQ(at(0), std::byte{0});
  settle();
  EXPECT_THAT(second->read(kBar0, 0, 4), Succeeds());
  EXPECT_EQ(other.mappings.size(), 1U);
}

TEST_F(HostileMapping, CanBeRepeatedByTheNextClient) {
  client.close();
  for (int round = 0; round < 10; ++round) {
    truncate_to(16);
    Client next = session();
    ASSERT_THAT(next.map(0, 16 * kPage, memory.fd()), Succeeds());
    data = device.mappings.at(0).data;
    truncate_to(0);
    EXPECT_EQ(at(static_cast<std::uint64_t>(round) * kPage), std::byte{0});
    settle();
    EXPECT_FALSE(server.has_client());
  }
}

using HostileMappingDeathTest = HostileMapping;

TEST_F(HostileMappingDeathTest, ABusErrorElsewhereEndsTheProcessAsEver) {
  const auto touch_lost_memory = [] {
    const SharedMemory own(kPage);
    if (::ftruncate(own.fd(), 0) != 0) return;
    *static_cast<volatile std::byte*>(own.data()) = std::byte{1};
  };
  // The sanitizers have a handler of their own, which reports and exits.
  EXPECT_DEATH(touch_lost_memory(), "");
}

}  // namespace
}  // namespace npu::test::vfio_user
