// SPDX-License-Identifier: Apache-2.0
// The card's reads by themselves: egress 15 ns, ingress 20 ns, timeout 50 us.
#include "model/pcie/read_requester.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "npu/abi/pci.hpp"
#include "tests/bench/pcie/pcie_config.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;
using model::Completion;
using Payload = tlm::tlm_generic_payload;

class ReadRequester : public testing::Test, private model::ReadRequester::Owner {
 protected:
  struct Sent {
    model::SimTime when;
    Payload* wire;
  };
  struct Ended {
    model::SimTime when;
    unsigned port;
    Completion completion;
    std::uint64_t address;  // tells the reads apart
    unsigned char first;
  };

  void read(std::uint64_t address, unsigned port = 0, std::uint8_t function = 0) {
    requester.start(port, make(address, function));
  }
  Payload& make(std::uint64_t address, std::uint8_t function = 0) {
    auto& client = simulation.pool.allocate(tlm::TLM_READ_COMMAND, address, buffer.data(), kBytes);
    auto& info = model::Transaction::of(client);
    info.function = function;
    info.pasid = 7;
    return client;
  }
  void complete(const Sent& read, unsigned char first, Completion completion = {}) {
    read.wire->get_data_ptr()[0] = first;
    model::Transaction::of(*read.wire).completion = completion;
    requester.completion_arrived(*read.wire);
  }
  static void pass(Picoseconds time) {
    sc_core::sc_start(sc_core::sc_time::from_value(model::ticks(time)));
  }
  std::uint32_t status() { return set.first().read(pci::kStatus, 2); }

  model::Simulation simulation;
  const model::ChipConfig chip = chip_config();
  model::FunctionSet set{chip, 1};
  model::ReadRequester requester{simulation, chip.endpoint, set, *this};
  static constexpr unsigned kBytes = 64;
  std::array<unsigned char, kBytes> buffer{};
  std::vector<Sent> sent;
  std::vector<Ended> ended;

 private:
  void send_read(Payload& wire) override { sent.push_back({model::sim_now(), &wire}); }
  void read_ended(unsigned port, Payload& client) override {
    ended.push_back({model::sim_now(), port, model::Transaction::of(client).completion,
                     client.get_address(), client.get_data_ptr()[0]});
    client.release();
  }
};

TEST_F(ReadRequester, LeavesAfterEgressAndItsDataComeAfterIngress) {
  read(0x1000, 3);
  EXPECT_TRUE(requester.is_pending(0));
  EXPECT_FALSE(requester.is_pending(1));
  pass(100_ns);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].when, 15'000u);
  EXPECT_EQ(sent[0].wire->get_address(), 0x1000u);
  EXPECT_NE(sent[0].wire->get_data_ptr(), buffer.data()) << "late data would meet it";
  EXPECT_EQ(model::Transaction::of(*sent[0].wire).pasid, 0u) << "PASID Enable is off";
  complete(sent[0], 0x5A);
  pass(1_us);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].when, 100'000u + 20'000);
  EXPECT_EQ(ended[0].port, 3u);
  EXPECT_EQ(ended[0].completion, Completion::kSuccess);
  EXPECT_EQ(ended[0].first, 0x5A);
  EXPECT_EQ(requester.outstanding(), 0u);
  EXPECT_EQ(simulation.pool.in_use(), 0u);
}

TEST_F(ReadRequester, GivesNoTagOutWhileItsLateCompletionMayCome) {
  read(0x1000);
  pass(60_us);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].completion, Completion::kTimeout);
  EXPECT_EQ(ended[0].when, 50'000'000u);
  EXPECT_EQ(requester.outstanding(), 0u);
  read(0x2000);
  pass(1_us);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_NE(sent[0].wire->get_data_ptr(), sent[1].wire->get_data_ptr());
  complete(sent[0], 0xAA);
  pass(1_us);
  EXPECT_EQ(ended.size(), 1u) << "nobody waits for that any more";
  complete(sent[1], 0xBB);
  pass(1_us);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[1].completion, Completion::kSuccess);
  EXPECT_EQ(ended[1].address, 0x2000u);
  EXPECT_EQ(ended[1].first, 0xBB);
  EXPECT_EQ(simulation.pool.in_use(), 0u);
}

TEST_F(ReadRequester, AbortEndsTheReadsOfThatFunctionAtOnce) {
  read(0x1000, 0, 0);
  read(0x2000, 0, 1);
  pass(100_ns);
  requester.abort(0);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].address, 0x1000u);
  EXPECT_EQ(ended[0].completion, Completion::kCompleterAbort);
  EXPECT_EQ(ended[0].when, 100'000u);
  EXPECT_FALSE(requester.is_pending(0));
  EXPECT_TRUE(requester.is_pending(1));
  for (const auto& read : sent) complete(read, 1);
  pass(1_us);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[1].address, 0x2000u);
  EXPECT_EQ(ended[1].completion, Completion::kSuccess);
  EXPECT_EQ(simulation.pool.in_use(), 0u);
}

TEST_F(ReadRequester, SendsNothingInHotReset) {
  read(0x1000);
  for (const auto function : set.hot_reset()) requester.abort(function);
  pass(100_ns);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(ended.size(), 1u);
  EXPECT_EQ(simulation.pool.in_use(), 0u);
}

TEST_F(ReadRequester, RejectsAsLateAsItWouldSend) {
  requester.reject(2, make(0x1000));
  EXPECT_TRUE(ended.empty());
  pass(1_us);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].when, 15'000u);
  EXPECT_EQ(ended[0].port, 2u);
  EXPECT_EQ(ended[0].completion, Completion::kCompleterAbort);
  EXPECT_TRUE(sent.empty());
}

// Received Master Abort, Received Target Abort, Detected Parity Error (PCIe 7.5.1.1.4).
TEST_F(ReadRequester, TellsHowItEndedInTheStatusOfTheFunction) {
  struct {
    Completion completion;
    std::uint32_t bit;
  } const cases[] = {{Completion::kSuccess, 0},
                     {Completion::kUnsupportedRequest, 1 << 13},
                     {Completion::kCompleterAbort, 1 << 12},
                     {Completion::kPermission, 1 << 12},
                     {Completion::kPoisoned, 1 << 15}};
  for (const auto& [completion, bit] : cases) {
    set.first().write(pci::kStatus, 2, 0xF900);  // cleared by ones
    sent.clear();
    read(0x1000);
    pass(100_ns);
    ASSERT_EQ(sent.size(), 1u);
    complete(sent[0], 1, completion);
    pass(100_ns);
    ASSERT_FALSE(ended.empty());
    EXPECT_EQ(ended.back().completion, completion);
    EXPECT_EQ(status() & 0xB000, bit);
  }
}

TEST_F(ReadRequester, FailsTheNextCompletionAloneWhenAskedTo) {
  requester.fail_next_completion(model::CompletionFault::kPoison);
  read(0x1000);
  read(0x2000);
  pass(100_ns);
  ASSERT_EQ(sent.size(), 2u);
  complete(sent[0], 1);
  complete(sent[1], 1);
  pass(100_ns);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].completion, Completion::kPoisoned);
  EXPECT_EQ(ended[1].completion, Completion::kSuccess);
}

}  // namespace
}  // namespace npu::test
