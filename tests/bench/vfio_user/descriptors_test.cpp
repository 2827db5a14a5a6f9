// SPDX-License-Identifier: Apache-2.0
// Descriptors: kept where they belong, closed everywhere else.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

class DescriptorTest : public SessionTest {
 protected:
  // Descriptors that the server has come to hold since the test began.
  std::ptrdiff_t held() {
    settle();
    return static_cast<std::ptrdiff_t>(open_descriptors()) - before_;
  }

  SharedMemory memory{16 * kPage};
  EventFd event;
  std::ptrdiff_t before_ = static_cast<std::ptrdiff_t>(open_descriptors());
};

TEST_F(DescriptorTest, AMappingHoldsNone) {
  client.map(0, kPage, memory.fd());
  EXPECT_EQ(held(), 0);
}

TEST_F(DescriptorTest, AVectorHoldsOneUntilItIsTakenBack) {
  for (int i = 0; i < 3; ++i) {
    client.set_irqs(kEventfd | kTrigger, kMsix, 0, 2, {event.fd(), event.fd()});
    EXPECT_EQ(held(), 2);
  }
  client.set_irqs(kEventfd | kTrigger, kMsix, 0, 1);
  EXPECT_EQ(held(), 1);
  client.set_irqs(kNone | kTrigger, kMsix, 0, 0);
  EXPECT_EQ(held(), 0);
}

class UnwantedDescriptors : public DescriptorTest,
                            public testing::WithParamInterface<std::uint16_t> {};

TEST_P(UnwantedDescriptors, AreClosedWhateverTheMessage) {
  const std::vector<int> fds{event.fd(), memory.fd(), client.socket(), 0};
  for (const Blob& payload : {Blob(), Blob(16), Blob(20), Blob(24), Blob(32), Blob(100)}) {
    for (const std::uint32_t flags : {0U, kWantsNoReply, kIsReply}) {
      client.send(GetParam(), payload, fds, flags);
      settle();
    }
  }
  EXPECT_EQ(held(), 0);
}
INSTANTIATE_TEST_SUITE_P(Descriptors, UnwantedDescriptors,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                                         99));

TEST_F(DescriptorTest, AsManyAsAnnouncedAreTakenAndMoreAreRefused) {
  const std::vector<int> most(16, event.fd());
  EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 0, 16, most), Succeeds());
  EXPECT_EQ(held(), 16);
  client.set_irqs(kNone | kTrigger, kMsix, 0, 0);
  for (const std::size_t count : {17, 32, 253}) {
    const std::vector<int> more(count, event.fd());
    EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 0, 16, more), FailsWithErrno(E2BIG));
    EXPECT_EQ(held(), 0);
  }
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
}

TEST_F(DescriptorTest, BelongToTheMessageWhoseBytesTheyCameWith) {
  const Blob plain = header(1, kReset, 16);
  const Blob map = header(2, kDmaMap, 48).blob(map_payload(0, kPage, 0));
  const Blob next = header(3, kDmaMap, 48).blob(map_payload(kPage, kPage, 0));
  client.send_raw(plain);
  client.send_raw(map, {memory.fd()});
  client.send_raw(next);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.receive()->ok());
  EXPECT_EQ(device.mappings.size(), 1U);
  EXPECT_EQ(device.mappings.count(0), 1U);
}

TEST_F(DescriptorTest, MayComeWithAnyPieceOfAMessage) {
  const Blob map = header(2, kDmaMap, 48).blob(map_payload(0, kPage, 0));
  for (const std::ptrdiff_t cut : {1, 8, 16, 17, 40, 47}) {
    client.send_raw(Blob(map.begin(), map.begin() + cut));
    settle();
    client.send_raw(Blob(map.begin() + cut, map.end()), {memory.fd()});
    EXPECT_TRUE(client.receive()->ok());
    EXPECT_EQ(device.mappings.size(), 1U) << cut;
    client.unmap(0, kPage);
  }
  EXPECT_EQ(held(), 0);
}

TEST_F(DescriptorTest, PiecesOfThemArePutTogether) {
  const EventFd second;
  const Blob set = header(2, kSetIrqs, 36).blob(irqs_payload(kEventfd | kTrigger, kMsix, 0, 2));
  client.send_raw(Blob(set.begin(), set.begin() + 10), {event.fd()});
  client.send_raw(Blob(set.begin() + 10, set.end()), {second.fd()});
  EXPECT_TRUE(client.receive()->ok());
  EXPECT_EQ(device.triggers.size(), 2U);
}

TEST_F(DescriptorTest, OfAMessageThatIsCutOffAreClosed) {
  const Blob map = header(2, kDmaMap, 48).blob(map_payload(0, kPage, 0));
  client.send_raw(Blob(map.begin(), map.begin() + 20), {memory.fd(), event.fd()});
  EXPECT_EQ(held(), 2);
  client.close();  // closes one here too, and the server its end of the connection
  EXPECT_EQ(held(), -2);
}

TEST_F(DescriptorTest, OfAClientThatGoesAreClosed) {
  client.map(0, kPage, memory.fd());
  client.set_irqs(kEventfd | kTrigger, kMsix, 0, 2, {event.fd(), event.fd()});
  client.set_irqs(kEventfd | kMask, kMsix, 0, 2, {event.fd(), event.fd()});
  EXPECT_EQ(held(), 4);
  client.close();
  EXPECT_EQ(held(), -2);
}

// No descriptor can be opened while it exists.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    const int lowest = ::dup(0);
    ::close(lowest);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_F(DescriptorTest, ThatCannotBeOpenedAreAnErrorNotARangeWithoutAFile) {
  // Looked at outside: UBSan needs descriptors, too, when it first meets a matcher.
  const auto refused = [&] {
    const NoMoreDescriptors limit;
    return client.map(0, kPage, memory.fd());
  }();
  EXPECT_THAT(refused, FailsWithErrno(EMFILE));
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
  EXPECT_EQ(device.mappings.size(), 1U);
}

TEST_F(DescriptorTest, ClientsAreTurnedAwayWhenThereAreNoneLeft) {
  Server busy;
  ASSERT_THAT(busy.listen(folder / "other", other), IsOk());
  auto late = Client::connect(folder / "other");
  ASSERT_TRUE(late);
  {
    const NoMoreDescriptors limit;
    busy.serve(0);
    EXPECT_FALSE(busy.serve(0));  // it does not stay in the queue
  }
  EXPECT_TRUE(late->is_closed());
  EXPECT_EQ(busy.statistics().refused, 1U);
  auto next = Client::connect(folder / "other", [&] { busy.serve(0); });
  EXPECT_TRUE(next && next->negotiate());
}

}  // namespace
}  // namespace npu::test::vfio_user
