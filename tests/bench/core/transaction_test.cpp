// SPDX-License-Identifier: Apache-2.0
#include "model/core/transaction.hpp"

#include <gtest/gtest.h>

namespace npu::model {
namespace {

TEST(SenderStates, EachComponentFindsWhatItPushedBehindThoseThatCameLater) {
  SenderStates states;
  states.push(1);
  states.push(2);
  states.replace(22);
  states.push(3);
  EXPECT_EQ(states.pop(), 3U);
  EXPECT_EQ(states.top(), 22U);
  EXPECT_EQ(states.pop(), 22U);
  EXPECT_EQ(states.pop(), 1U);
  EXPECT_EQ(states.count(), 0U);
}

// A posted request is released with what was pushed.
TEST(SenderStates, OfAPayloadThatIsUsedAgainAreNone) {
  TransactionPool pool;
  auto& posted = pool.allocate(tlm::TLM_WRITE_COMMAND, 0, nullptr, 4);
  Transaction::of(posted).sender_states.push(1);
  posted.release();
  auto& next = pool.allocate(tlm::TLM_READ_COMMAND, 0, nullptr, 4);
  EXPECT_EQ(&next, &posted);
  EXPECT_EQ(Transaction::of(next).sender_states.count(), 0U);
  next.release();
}

}  // namespace
}  // namespace npu::model
