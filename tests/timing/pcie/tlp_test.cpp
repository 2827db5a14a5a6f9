// SPDX-License-Identifier: Apache-2.0
// How many TLPs a transaction is. MPS 256, MRRS 512, RCB 64 unless a test says otherwise.
#include "model/pcie/tlp.hpp"

#include <gtest/gtest.h>

#include "tests/bench/pcie/pcie_config.hpp"

namespace npu::test {
namespace {

using model::Transaction;
using model::TransactionKind;

struct Tlp : testing::Test {
  tlm::tlm_generic_payload payload;
  Transaction info;
  model::LinkConfig link = link_config();

  void use(tlm::tlm_command command, std::uint64_t address, unsigned length) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_length(length);
    info.posted = command == tlm::TLM_WRITE_COMMAND;
  }
  model::TlpTrain request() { return model::request_train(payload, info, link); }
  model::TlpTrain completion() { return model::completion_train(payload, info, link, 64); }
};

TEST_F(Tlp, AddressAbove4GibTakesALongerHeader) {
  use(tlm::TLM_WRITE_COMMAND, 0xFFFF'FFF0, 4);
  EXPECT_EQ(request().header, 12U);
  use(tlm::TLM_WRITE_COMMAND, 0x1'0000'0000, 4);
  EXPECT_EQ(request().header, 16U);
}

TEST_F(Tlp, WritesAreCutAtTheMaximumPayload) {
  for (const auto& [length, count] : {std::pair{256U, 1U}, {257U, 2U}, {512U, 2U}, {4096U, 16U}}) {
    use(tlm::TLM_WRITE_COMMAND, 0x1000, length);
    EXPECT_EQ(request().count, count) << length;
    EXPECT_TRUE(request().uses_credits);
  }
}

TEST_F(Tlp, PayloadIsWholeDoubleWords) {
  use(tlm::TLM_WRITE_COMMAND, 0x1003, 2);
  EXPECT_EQ(request().payload, 8U);
  use(tlm::TLM_WRITE_COMMAND, 0x1001, 1);
  EXPECT_EQ(request().payload, 4U);
}

TEST_F(Tlp, ReadRequestsAreHeadersCutAtTheReadRequestSize) {
  for (const auto& [length, count] : {std::pair{512U, 1U}, {513U, 2U}, {4096U, 8U}}) {
    use(tlm::TLM_READ_COMMAND, 0x1000, length);
    EXPECT_EQ(request().count, count) << length;
    EXPECT_EQ(request().payload, 0U);
    EXPECT_FALSE(request().uses_credits);
  }
}

TEST_F(Tlp, AlignedReadsComeBackInMaximumPayloads) {
  use(tlm::TLM_READ_COMMAND, 0x1000, 4096);
  EXPECT_EQ(completion().count, 16U);
  EXPECT_EQ(completion().payload, 4096U);
  EXPECT_EQ(completion().header, 12U);
}

TEST_F(Tlp, UnalignedReadNeedsOneMoreCompletionToReachABoundary) {
  use(tlm::TLM_READ_COMMAND, 0x1020, 512);  // 224 up to a boundary, 256, 32
  EXPECT_EQ(completion().count, 3U);
  use(tlm::TLM_READ_COMMAND, 0x1020, 224);
  EXPECT_EQ(completion().count, 1U);
  use(tlm::TLM_READ_COMMAND, 0x1020, 225);
  EXPECT_EQ(completion().count, 2U);
}

TEST_F(Tlp, FailedReadIsAnsweredByAHeader) {
  use(tlm::TLM_READ_COMMAND, 0x1000, 4096);
  info.completion = model::Completion::kUnsupportedRequest;
  EXPECT_EQ(completion().count, 1U);
  EXPECT_EQ(completion().payload, 0U);
}

TEST_F(Tlp, ConfigurationAccessesCarryOneDoubleWord) {
  info.kind = TransactionKind::kConfig;
  use(tlm::TLM_WRITE_COMMAND, 0x0100'004, 2);
  info.posted = false;
  EXPECT_EQ(request().payload, 4U);
  EXPECT_EQ(completion().payload, 0U);
  use(tlm::TLM_READ_COMMAND, 0x0100'004, 1);
  EXPECT_EQ(request().payload, 0U);
  EXPECT_EQ(completion().payload, 4U);
}

TEST_F(Tlp, TranslationIsAHeaderAnsweredByEightBytes) {
  info.kind = TransactionKind::kTranslation;
  use(tlm::TLM_READ_COMMAND, 0x1'0000'0000, 8);
  EXPECT_EQ(request().payload, 0U);
  EXPECT_EQ(request().header, 16U);
  EXPECT_EQ(completion().payload, 8U);
}

}  // namespace
}  // namespace npu::test
