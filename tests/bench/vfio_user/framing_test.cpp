// SPDX-License-Identifier: Apache-2.0
// Messages in pieces, in a row, of no sense, and without replies.
#include <cerrno>

#include "tests/bench/vfio_user/server_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test::vfio_user {
namespace {

Blob message(std::uint16_t id, std::uint16_t command, const Blob& payload,
             std::uint32_t flags = 0) {
  return header(id, command, kHeaderBytes + payload.size(), flags).blob(payload);
}

Blob write_message(std::uint16_t id, std::uint64_t offset, std::uint32_t value) {
  return message(id, kRegionWrite, access_payload(kBar0, offset, 4, Fields().u32(value)));
}

Blob part(const Blob& bytes, std::size_t begin, std::size_t end) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(begin),
          bytes.begin() + static_cast<std::ptrdiff_t>(end)};
}

TEST_F(SessionTest, TakesAMessageInTwoPiecesCutAnywhere) {
  const Blob whole = write_message(7, 0, 0x12345678);
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    client.send_raw(part(whole, 0, cut));
    settle();
    EXPECT_THAT(device.take_calls(), IsEmpty());
    client.send_raw(part(whole, cut, whole.size()));
    const auto reply = client.receive();
    ASSERT_TRUE(reply && reply->ok()) << cut;
    EXPECT_THAT(device.take_calls(), ElementsAre("write 0 0 4"));
  }
}

TEST_F(SessionTest, TakesAMessageByteByByte) {
  for (const std::byte byte : write_message(7, 0, 1)) {
    client.send_raw({byte});
    settle();
  }
  EXPECT_TRUE(client.receive()->ok());
}

TEST_F(SessionTest, TakesManyMessagesInOnePieceInOrder) {
  Fields all;
  for (std::uint16_t i = 0; i < 100; ++i) all.blob(write_message(i, 4U * i, i));
  client.send_raw(all);
  for (std::uint16_t i = 0; i < 100; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply && reply->ok());
    EXPECT_EQ(reply->id, i);
  }
  EXPECT_EQ(client.read32(kBar0, 396), 99U);
}

TEST_F(SessionTest, IdsMayRepeat) {
  client.send_raw(Fields().blob(write_message(5, 0, 1)).blob(write_message(5, 4, 2)));
  EXPECT_EQ(client.receive()->id, 5);
  EXPECT_EQ(client.receive()->id, 5);
}

TEST_F(SessionTest, SendsNoReplyToWhoWantsNone) {
  client.send(kRegionWrite, access_payload(kBar0, 0, 4, Fields().u32(9)), {}, kWantsNoReply);
  client.send(kRegionRead, access_payload(1, 0, 4), {}, kWantsNoReply);  // an error
  client.send(kReset, {}, {}, kWantsNoReply);
  EXPECT_EQ(client.read32(kBar0, 0), 9U);  // the first reply
  EXPECT_THAT(device.take_calls(), ElementsAre("write 0 0 4", "reset", "read 0 0 4"));
}

TEST_F(SessionTest, DropsRepliesItHasNotAskedFor) {
  client.send_raw(message(1, kDmaRead, Blob(16), kIsReply));
  client.send_raw(message(2, kRegionWrite, Blob(20), kIsReply | kIsError));
  client.send_raw(message(3, 999, {}, kIsReply));
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("read 0 0 4"));
}

class MessageType : public SessionTest, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(MessageType, IsRefusedIfNeitherCommandNorReply) {
  client.send_raw(message(4, kRegionRead, access_payload(kBar0, 0, 4), GetParam()));
  const auto reply = must(client.receive());
  EXPECT_THAT(reply, FailsWithErrno(EINVAL));
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
}
INSTANTIATE_TEST_SUITE_P(Framing, MessageType, testing::Values(2, 3, 8, 15));

// "Error ... is reserved in a command message"; bits 6 to 31 are not defined.
TEST_F(SessionTest, PassesOverWhatIsReservedInACommand) {
  client.send_raw(header(4, kReset, 16, 0xffffffe0, 5));
  const auto reply = must(client.receive());
  EXPECT_EQ(reply.flags, kIsReply);
  EXPECT_EQ(reply.error, 0U);
}

using Expected = std::pair<std::uint16_t, int>;
using test::must;
class OtherCommand : public SessionTest, public testing::WithParamInterface<Expected> {};

TEST_P(OtherCommand, IsAnsweredWithAnError) {
  const auto& [command, error] = GetParam();
  EXPECT_THAT(client.call(command), FailsWithErrno(error));
  EXPECT_THAT(client.call(command, Blob(64)), FailsWithErrno(error));
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
}
INSTANTIATE_TEST_SUITE_P(
    Framing, OtherCommand,
    testing::Values(Expected{0, EOPNOTSUPP}, Expected{kDmaRead, EINVAL},
                    Expected{kDmaWrite, EINVAL}, Expected{kDirtyPages, EOPNOTSUPP},
                    Expected{kFeature, EOPNOTSUPP}, Expected{kMigRead, EOPNOTSUPP},
                    Expected{kMigWrite, EOPNOTSUPP}, Expected{19, EOPNOTSUPP},
                    Expected{256 + kRegionRead, EOPNOTSUPP}, Expected{65535, EOPNOTSUPP}));

class MessageSize : public SessionTest, public testing::WithParamInterface<std::uint32_t> {};

// Where the next message begins cannot be known: the connection ends.
TEST_P(MessageSize, ThatCannotBeEndsTheConnection) {
  client.send_raw(header(6, kReset, GetParam()));
  const auto reply = must(client.receive());
  EXPECT_EQ(reply.id, 6);
  EXPECT_THAT(reply, FailsWithErrno(EINVAL));
  EXPECT_TRUE(client.is_closed());
  EXPECT_THAT(device.take_calls(), ElementsAre("client gone"));
}
INSTANTIATE_TEST_SUITE_P(Framing, MessageSize,
                         testing::Values(0, 1, 15, (1 << 20) + 33, 0x80000000, UINT32_MAX));

TEST_F(SessionTest, TakesTheLongestMessageThereIs) {
  const Blob payload = access_payload(kBar2, 0, 1 << 20, Blob(1 << 20));
  EXPECT_THAT(client.call(kRegionWrite, payload), Succeeds());
}

TEST_F(SessionTest, CountsMessagesAndErrors) {
  const auto before = server.statistics();
  client.read(kBar0, 0, 4);
  client.call(99);
  client.send_raw(message(3, 1, {}, kIsReply));
  settle();
  EXPECT_EQ(server.statistics().messages, before.messages + 3);
  EXPECT_EQ(server.statistics().errors, before.errors + 2);
  EXPECT_EQ(server.statistics().clients, 1U);
}

}  // namespace
}  // namespace npu::test::vfio_user
