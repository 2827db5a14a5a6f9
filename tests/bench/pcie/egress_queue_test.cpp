// SPDX-License-Identifier: Apache-2.0
// The order in which an endpoint hands posted requests and completions to a link: egress 15 ns,
// propagation 50 ns, generation 4 x16.
#include "model/pcie/egress_queue.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/bench/pcie/pcie_config.hpp"

namespace npu::test {
namespace {

using Payload = tlm::tlm_generic_payload;

// Framing, header, DLLPs and data of one TLP: 65000 / 2048 ps per byte.
constexpr model::SimTime wire_of(Bytes header, Bytes data) {
  return ((8 + header + 4 + data) * 65'000 + 2047) / 2048;
}

class EgressQueue : public testing::Test, private model::PortOwner {
 protected:
  struct Arrived {
    model::SimTime when;
    bool completion;
  };

  EgressQueue() {
    above.connect_below(link);
    below.connect_above(link);
  }
  model::SimTime post() {
    auto& payload =
        simulation.pool.allocate(tlm::TLM_WRITE_COMMAND, 0x1'0000'0000, nullptr, kBytes);
    model::Transaction::of(payload).posted = true;
    return queue.post(payload);
  }
  // A read of the host that has come to the endpoint, and is answered.
  Payload& read() {
    auto& payload = simulation.pool.allocate(tlm::TLM_READ_COMMAND, 0, nullptr, 4);
    above.send_request(payload);
    return payload;
  }
  static void pass(Picoseconds time) {
    sc_core::sc_start(sc_core::sc_time::from_value(model::ticks(time)));
  }

  static constexpr unsigned kBytes = 64;
  static constexpr model::SimTime kPosted = wire_of(16, kBytes), kCompletion = wire_of(12, 4);
  model::Simulation simulation;
  const model::ChipConfig chip = chip_config();
  model::FunctionSet set{chip, 1};
  model::Link link{"link", simulation, link_config(), 64, {0_ns, 0_ns}};
  model::PciePort above{"above", *this, 0}, below{"below", *this, 1};
  model::EgressQueue queue{simulation, set, below, chip.endpoint.egress};
  std::vector<Arrived> arrived;  // at the upper end

 private:
  model::SimTime request_arrived(unsigned port, Payload& payload) override {
    if (port == 0) {
      arrived.push_back({model::sim_now(), false});
      payload.release();
    }
    return 0;
  }
  void completion_arrived(unsigned, Payload& payload) override {
    arrived.push_back({model::sim_now(), true});
    payload.release();
  }
};

TEST_F(EgressQueue, PostedRequestsLeaveAfterEgressOneBehindTheOther) {
  EXPECT_EQ(post(), 15'000 + kPosted);
  EXPECT_EQ(post(), 15'000 + 2 * kPosted);
  pass(1_us);
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived[0].when, 15'000 + kPosted + 50'000);
  EXPECT_EQ(simulation.pool.in_use(), 0u);
}

TEST_F(EgressQueue, ACompletionWithNothingBeforeItLeavesAtOnce) {
  auto& payload = read();
  pass(1_us);
  queue.complete(payload);
  pass(1_us);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(arrived[0].when, 1'000'000 + kCompletion + 50'000);
}

// PCIe 2.4.1, at every nanosecond of the write's egress and one after it.
TEST_F(EgressQueue, ACompletionPassesNoRequestThatWasPostedBefore) {
  for (unsigned later = 0; later <= 16; ++later) {
    arrived.clear();
    auto& payload = read();
    pass(1_us);
    post();
    if (later > 0) pass(Picoseconds(1000) * later);
    queue.complete(payload);
    pass(1_us);
    ASSERT_EQ(arrived.size(), 2u);
    EXPECT_FALSE(arrived[0].completion) << later;
    EXPECT_TRUE(arrived[1].completion) << later;
  }
}

TEST_F(EgressQueue, WhatIsDueInHotResetIsLost) {
  post();
  set.hot_reset();
  pass(1_us);
  EXPECT_TRUE(arrived.empty());
  EXPECT_EQ(simulation.pool.in_use(), 0u);
}

TEST_F(EgressQueue, PasidsGoWithRequestsOnlyWhereTheyAreEnabled) {
  auto& payload = simulation.pool.allocate(tlm::TLM_WRITE_COMMAND, 0x1000, nullptr, 4);
  auto& info = model::Transaction::of(payload);
  info.posted = true;
  info.pasid = 7;
  queue.post(payload);
  EXPECT_EQ(info.pasid, 0u);
  pass(1_us);
}

}  // namespace
}  // namespace npu::test
