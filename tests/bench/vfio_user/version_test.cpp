// SPDX-License-Identifier: Apache-2.0
// VERSION: first, once, and what follows from it.
#include <cerrno>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

std::string text_of(const Reply& reply) {
  if (reply.payload.size() < 5) return {};
  return {reinterpret_cast<const char*>(reply.payload.data()) + 4, reply.payload.size() - 4};
}

std::string with_nul(std::string text) {
  text += '\0';
  return text;
}

TEST_F(ServerTest, AnswersWhatQemuProposes) {
  Client client = connect();
  const Reply reply = client.version(0, 0, R"({"capabilities": {"max_msg_fds": 8,
    "max_data_xfer_size": 1048576, "pgsizes": 4096, "max_dma_maps": 65535,
    "write_multiple": true}})");
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.u32(0), 0U);
  EXPECT_EQ(text_of(reply),
            with_nul(R"({"capabilities":{"max_msg_fds":16,"max_data_xfer_size":1048576,)"
                     R"("max_dma_maps":65535,"pgsizes":4096,"write_multiple":true}})"));
  EXPECT_TRUE(server.has_client());
}

class MinorVersion : public ServerTest, public testing::WithParamInterface<std::uint16_t> {};

// "The minor version in the reply must be equal to or less than the minor version proposed."
TEST_P(MinorVersion, IsAnsweredWithAtMostTheSame) {
  Client client = connect();
  const Reply reply = client.version(0, GetParam(), "");
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.at<std::uint16_t>(0), 0);
  EXPECT_EQ(reply.at<std::uint16_t>(2), std::min<std::uint16_t>(GetParam(), 1));
}
INSTANTIATE_TEST_SUITE_P(Version, MinorVersion, testing::Values(0, 1, 2, 3, 65535));

// "The capability list must be a subset of those proposed."
TEST_F(ServerTest, NamesNoCapabilityThatTheClientHasNotNamed) {
  Client client = connect();
  EXPECT_EQ(text_of(client.version(0, 1, R"({"capabilities":{"pgsizes":4096,"other":[1]}})")),
            with_nul(R"({"capabilities":{"pgsizes":4096}})"));
}

TEST_F(ServerTest, NeedsNoTextInTheVersion) {
  Client client = connect();
  EXPECT_EQ(text_of(client.version(0, 1, "")), with_nul(R"({"capabilities":{}})"));
}

TEST_F(ServerTest, KeepsToTheSmallerTransferSize) {
  Client client = connect();
  const Reply reply = client.version(0, 1, R"({"capabilities":{"max_data_xfer_size":4096}})");
  EXPECT_EQ(text_of(reply), with_nul(R"({"capabilities":{"max_data_xfer_size":4096}})"));
  EXPECT_THAT(client.read(kBar2, 0, 4096), Succeeds());
  EXPECT_THAT(client.read(kBar2, 0, 4097), FailsWithErrno(EINVAL));
}

TEST_F(ServerTest, OffersNoMoreThanAMebibyteAtATime) {
  Client client = connect();
  const Reply reply =
      client.version(0, 1, R"({"capabilities":{"max_data_xfer_size":18446744073709551615}})");
  EXPECT_EQ(text_of(reply), with_nul(R"({"capabilities":{"max_data_xfer_size":1048576}})"));
}

TEST_F(ServerTest, KeepsToTheSmallerNumberOfMappings) {
  Client client = connect();
  client.version(0, 1, R"({"capabilities":{"max_dma_maps":2}})");
  EXPECT_THAT(client.map(0x1000, 0x1000, -1), Succeeds());
  EXPECT_THAT(client.map(0x2000, 0x1000, -1), Succeeds());
  EXPECT_THAT(client.map(0x3000, 0x1000, -1), FailsWithErrno(ENOSPC));
  EXPECT_THAT(client.unmap(0x1000, 0x1000), Succeeds());
  EXPECT_THAT(client.map(0x3000, 0x1000, -1), Succeeds());
}

TEST_F(ServerTest, SupportsThePageSizesOfTheClientFrom4Kib) {
  Client client = connect();
  EXPECT_EQ(text_of(client.version(0, 1, R"({"capabilities":{"pgsizes":2168832}})")),
            with_nul(R"({"capabilities":{"pgsizes":2166784}})"));  // 2 MiB, 64 KiB, 4 KiB, 2 KiB
}

TEST_F(ServerTest, TakesMultipleWritesOnlyIfAgreed) {
  for (const char* text : {"", R"({"capabilities":{"write_multiple":false}})"}) {
    Client client = connect();
    EXPECT_THAT(client.version(0, 1, text), Succeeds());
    const Blob payload = write_multi_payload({{0, kBar0, 4, 1}});
    EXPECT_THAT(client.call(kWriteMulti, payload), FailsWithErrno(EOPNOTSUPP));
    client.close();
    settle();
  }
}

TEST_F(ServerTest, SurvivesDeeplyNestedText) {
  Client client = connect();
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  EXPECT_THAT(client.version(0, 1, R"({"capabilities":{"x":)" + deep + "}}"), Succeeds());
}

TEST_F(ServerTest, NeedsNoReplyToTheVersion) {
  Client client = connect();
  client.send(kVersion, version_payload(0, 1, ""), {}, kWantsNoReply);
  EXPECT_THAT(client.read(kConfig, 0, 4), Succeeds());
}

TEST_F(SessionTest, RefusesASecondVersionAndGoesOn) {
  EXPECT_THAT(client.version(0, 0, ""), FailsWithErrno(EINVAL));
  EXPECT_THAT(client.read(kConfig, 0, 4), Succeeds());
}

using Proposal = std::pair<const char*, Blob>;
class BadProposal : public ServerTest, public testing::WithParamInterface<Proposal> {};

TEST_P(BadProposal, IsRefusedAndEndsTheConnection) {
  Client client = connect();
  EXPECT_THAT(client.call(kVersion, GetParam().second), FailsWithErrno(EINVAL));
  EXPECT_TRUE(client.is_closed());
  EXPECT_FALSE(server.has_client());
  EXPECT_THAT(device.calls, IsEmpty());
}

Blob text(std::string_view json) {
  return version_payload(0, 1, json);
}

INSTANTIATE_TEST_SUITE_P(
    Version, BadProposal,
    testing::Values(
        Proposal{"empty", {}}, Proposal{"three_bytes", Fields().u16(0).u8(0)},
        Proposal{"other_major", version_payload(1, 0, "")},
        Proposal{"largest_major", version_payload(65535, 65535, "")},
        Proposal{"no_terminator", Fields().u16(0).u16(0).text("{}")},
        Proposal{"only_terminator", Fields().u16(0).u16(0).u8(0)},
        Proposal{"terminator_inside", Fields().u16(0).u16(0).text("{}").u8(0).u8(0)},
        Proposal{"no_json", text("capabilities")}, Proposal{"cut_json", text("{\"capabilities\":")},
        Proposal{"trailing_text", text("{} {}")}, Proposal{"array", text("[]")},
        Proposal{"null", text("null")}, Proposal{"no_utf8", text("{\"\xff\xfe\":1}")},
        Proposal{"capabilities_is_a_number", text(R"({"capabilities":1})")},
        Proposal{"capabilities_is_null", text(R"({"capabilities":null})")},
        Proposal{"fds_is_text", text(R"({"capabilities":{"max_msg_fds":"8"}})")},
        Proposal{"fds_is_negative", text(R"({"capabilities":{"max_msg_fds":-8}})")},
        Proposal{"transfer_is_0", text(R"({"capabilities":{"max_data_xfer_size":0}})")},
        Proposal{"transfer_is_real", text(R"({"capabilities":{"max_data_xfer_size":4.5}})")},
        Proposal{"transfer_is_huge", text(R"({"capabilities":{"max_data_xfer_size":1e30}})")},
        Proposal{"maps_is_0", text(R"({"capabilities":{"max_dma_maps":0}})")},
        Proposal{"maps_is_true", text(R"({"capabilities":{"max_dma_maps":true}})")},
        Proposal{"pages_too_small", text(R"({"capabilities":{"pgsizes":2048}})")},
        Proposal{"pages_is_a_list", text(R"({"capabilities":{"pgsizes":[4096]}})")},
        Proposal{"multiple_is_1", text(R"({"capabilities":{"write_multiple":1}})")},
        Proposal{"long_text", text("{\"x\":\"" + std::string(64 << 10, 'x') + "\"}")},
        Proposal{"open_nesting", text(std::string(60'000, '['))}),
    [](const auto& test) { return std::string(test.param.first); });

class BeforeVersion : public ServerTest, public testing::WithParamInterface<std::uint16_t> {};

TEST_P(BeforeVersion, EveryOtherCommandIsRefusedAndEndsTheConnection) {
  Client client = connect();
  EXPECT_THAT(client.call(GetParam(), Blob(32)), FailsWithErrno(EINVAL));
  EXPECT_TRUE(client.is_closed());
  EXPECT_THAT(device.calls, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Version, BeforeVersion,
                         testing::Values(0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 15, 16, 99));

}  // namespace
}  // namespace npu::test::vfio_user
