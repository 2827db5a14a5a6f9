// SPDX-License-Identifier: Apache-2.0
// DEVICE_SET_IRQS: all forms of data and action.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "model/host/vfio_user/eventfd.hpp"
#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

Blob bools(std::initializer_list<int> values) {
  Blob bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

class IrqTest : public SessionTest {
 protected:
  // Gives the vectors [first, first + count) an eventfd each.
  std::vector<EventFd> give(std::uint32_t first, std::uint32_t count,
                            std::uint32_t action = kTrigger) {
    std::vector<EventFd> events(count);
    std::vector<int> fds(count);
    std::transform(events.begin(), events.end(), fds.begin(), [](auto& e) { return e.fd(); });
    EXPECT_THAT(client.set_irqs(kEventfd | action, kMsix, first, count, fds), Succeeds());
    device.take_calls();
    return events;
  }
};

TEST_F(IrqTest, TheDeviceSignalsTheEventfdOfAVector) {
  auto events = give(4, 2);
  ASSERT_EQ(device.triggers.size(), 2U);
  model::vfio_user::signal_eventfd(device.triggers.at({kMsix, 5}));
  EXPECT_EQ(events[0].take(), 0U);
  EXPECT_EQ(events[1].take(), 1U);
}

TEST_F(IrqTest, EventfdsAreSetInOrder) {
  const EventFd a;
  const EventFd b;
  client.set_irqs(kEventfd | kTrigger, kMsix, 30, 2, {a.fd(), b.fd()});
  EXPECT_THAT(device.take_calls(), ElementsAre("trigger 2 1e", "trigger 2 1f"));
}

TEST_F(IrqTest, AllVectorsAreSetInTwoMessagesOf16) {
  auto low = give(0, 16);
  auto high = give(16, 16);
  EXPECT_EQ(device.triggers.size(), 32U);
}

TEST_F(IrqTest, AnEventfdIsReplacedByTheNextOne) {
  auto first = give(3, 1);
  auto second = give(3, 1);
  model::vfio_user::signal_eventfd(device.triggers.at({kMsix, 3}));
  EXPECT_EQ(first[0].take(), 0U);
  EXPECT_EQ(second[0].take(), 1U);
}

TEST_F(IrqTest, ARangeWithoutDescriptorsIsTakenBack) {
  auto events = give(0, 4);
  EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 1, 2), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("no trigger 2 1", "no trigger 2 2"));
  EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 1, 2), Succeeds());
  EXPECT_THAT(device.take_calls(), IsEmpty());
}

TEST_F(IrqTest, ACountOf0DisablesTheWholeIndex) {
  auto events = give(7, 2);
  const EventFd error;
  client.set_irqs(kEventfd | kTrigger, kErr, 0, 1, {error.fd()});
  device.take_calls();
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 0, 0), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("no trigger 2 7", "no trigger 2 8"));
  EXPECT_EQ(device.triggers.count({kErr, 0}), 1U);
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 0, 0), Succeeds());
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsi, 0, 0), Succeeds());
}

TEST_F(IrqTest, TheClientCanTriggerVectorsItself) {
  auto events = give(0, 4);
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 1, 3), Succeeds());
  EXPECT_THAT(client.set_irqs(kBool | kTrigger, kMsix, 0, 4, {}, bools({1, 0, 0, 2})), Succeeds());
  EXPECT_EQ(events[0].take(), 1U);
  EXPECT_EQ(events[1].take(), 1U);
  EXPECT_EQ(events[2].take(), 1U);
  EXPECT_EQ(events[3].take(), 2U);
  EXPECT_THAT(device.take_calls(), IsEmpty());
}

TEST_F(IrqTest, TriggeringAVectorWithoutEventfdDoesNothing) {
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 0, 32), Succeeds());
  EXPECT_THAT(device.take_calls(), IsEmpty());
}

TEST_F(IrqTest, MasksAndUnmasksVectors) {
  EXPECT_THAT(client.set_irqs(kNone | kMask, kMsix, 30, 2), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("mask 2 1e", "mask 2 1f"));
  EXPECT_THAT(client.set_irqs(kBool | kUnmask, kMsix, 0, 3, {}, bools({1, 0, 1})), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("unmask 2 0", "unmask 2 2"));
  EXPECT_THAT(client.set_irqs(kNone | kUnmask, kIntx, 0, 1), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("unmask 0 0"));
}

TEST_F(IrqTest, MaskingSignalsTheEventfdsForThat) {
  auto masked = give(2, 1, kMask);
  auto unmasked = give(2, 1, kUnmask);
  client.set_irqs(kNone | kMask, kMsix, 0, 4);
  EXPECT_EQ(masked[0].take(), 1U);
  EXPECT_EQ(unmasked[0].take(), 0U);
  client.set_irqs(kNone | kUnmask, kMsix, 0, 4);
  EXPECT_EQ(unmasked[0].take(), 1U);
  client.set_irqs(kEventfd | kMask, kMsix, 2, 1);
  client.set_irqs(kNone | kMask, kMsix, 0, 4);
  EXPECT_EQ(masked[0].take(), 0U);
  EXPECT_TRUE(device.triggers.empty());
}

TEST_F(IrqTest, AFullCounterDoesNotHoldTheServerUp) {
  EventFd event(UINT64_MAX - 1);
  ASSERT_EQ(::fcntl(event.fd(), F_SETFL, 0), 0);  // blocking
  EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 0, 1, {event.fd()}), Succeeds());
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 0, 1), Succeeds());
  EXPECT_EQ(event.take(), UINT64_MAX - 1);
}

TEST_F(IrqTest, OneEventfdMayServeAllVectors) {
  EventFd event;
  const std::vector<int> fds(16, event.fd());
  EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 0, 16, fds), Succeeds());
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 0, 16), Succeeds());
  EXPECT_EQ(event.take(), 16U);
}

TEST_F(IrqTest, OnlyEventfdsAreTakenAndOtherwiseNothingChanges) {
  auto before = give(0, 2);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const SharedMemory memory(4096);
  for (const int wrong : {ends[0], ends[1], memory.fd(), client.socket()}) {
    const EventFd right;
    EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 0, 2, {right.fd(), wrong}),
                FailsWithErrno(EINVAL));
  }
  EXPECT_THAT(device.take_calls(), IsEmpty());
  client.set_irqs(kNone | kTrigger, kMsix, 0, 1);
  EXPECT_EQ(before[0].take(), 1U);
  ::close(ends[0]);
  ::close(ends[1]);
}

class DescriptorCount : public IrqTest, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(DescriptorCount, MustBeThatOfTheVectors) {
  const EventFd event;
  const std::vector<int> fds(GetParam(), event.fd());
  EXPECT_THAT(client.set_irqs(kEventfd | kTrigger, kMsix, 0, 4, fds), FailsWithErrno(EINVAL));
  EXPECT_THAT(device.take_calls(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Irqs, DescriptorCount, testing::Values(1, 3, 5, 16));

class BadIrqs : public IrqTest, public testing::WithParamInterface<BadRequest> {};

TEST_P(BadIrqs, IsRefusedWithoutTellingTheDevice) {
  EXPECT_THAT(client.call(kSetIrqs, GetParam().payload), FailsWithErrno(GetParam().error));
  EXPECT_THAT(device.take_calls(), IsEmpty());
  EXPECT_THAT(client.set_irqs(kNone | kTrigger, kMsix, 0, 0), Succeeds());
}

BadRequest bad(const char* name, std::uint32_t flags, std::uint32_t index, std::uint32_t start,
               std::uint32_t count, const Blob& data = {}) {
  return {name, kSetIrqs, irqs_payload(flags, index, start, count, data)};
}

INSTANTIATE_TEST_SUITE_P(
    Irqs, BadIrqs,
    testing::Values(BadRequest{"empty", kSetIrqs, {}}, BadRequest{"short", kSetIrqs, Blob(19)},
                    BadRequest{"small_argsz", kSetIrqs,
                               Fields().u32(19).u32(kNone | kTrigger).u32(kMsix).u32(0).u32(1)},
                    bad("no_flags", 0, kMsix, 0, 1), bad("no_action", kNone, kMsix, 0, 1),
                    bad("no_data", kTrigger, kMsix, 0, 1),
                    bad("two_actions", kNone | kTrigger | kMask, kMsix, 0, 1),
                    bad("mask_and_unmask", kNone | kMask | kUnmask, kMsix, 0, 1),
                    bad("two_data", kNone | kBool | kTrigger, kMsix, 0, 1, Blob(1)),
                    bad("bool_and_eventfd", kBool | kEventfd | kTrigger, kMsix, 0, 1, Blob(1)),
                    bad("unknown_flag", kNone | kTrigger | 0x40, kMsix, 0, 1),
                    bad("high_flag", kNone | kTrigger | 0x80000000, kMsix, 0, 1),
                    bad("index_5", kNone | kTrigger, 5, 0, 0),
                    bad("last_index", kNone | kTrigger, UINT32_MAX, 0, 1),
                    bad("past_the_end", kNone | kTrigger, kMsix, 31, 2),
                    bad("behind_the_end", kNone | kTrigger, kMsix, 32, 1),
                    bad("overflow", kNone | kTrigger, kMsix, UINT32_MAX, 2),
                    bad("largest_count", kNone | kTrigger, kMsix, 0, UINT32_MAX),
                    bad("absent_vector", kNone | kTrigger, kMsi, 0, 1),
                    bad("nothing_from_1", kNone | kTrigger, kMsix, 1, 0),
                    bad("nothing_bool", kBool | kTrigger, kMsix, 0, 0),
                    bad("nothing_eventfd", kEventfd | kTrigger, kMsix, 0, 0),
                    bad("nothing_masked", kNone | kMask, kMsix, 0, 0),
                    bad("bools_missing", kBool | kTrigger, kMsix, 0, 2, Blob(1)),
                    bad("bools_absent", kBool | kMask, kMsix, 0, 1),
                    bad("error_masked", kNone | kMask, kErr, 0, 1),
                    bad("error_unmask_eventfd", kEventfd | kUnmask, kErr, 0, 1)),
    name_of);

}  // namespace
}  // namespace npu::test::vfio_user
