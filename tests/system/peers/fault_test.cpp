// SPDX-License-Identifier: Apache-2.0
// What goes wrong between cards is a fault of the command that did it, and of nothing else.
#include "tests/system/peers/peer_bench.hpp"

namespace npu::test {
namespace {

using abi::FaultCode;

DmaCommand whole(const PeerBenchCard& card, unsigned peer) {
  return DmaCommand::device_to_peer(card.block, ImportedAddress(card.peers[peer]),
                                    PeerBench::kSize);
}

void expect_fault(PeerBench& bench, const Status& status, FaultCode code, bool write) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kDeviceFault) << status.error().message();
  const auto fault = must(bench.cards[0].device->take_fault());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, code) << driver::describe(*fault);
  EXPECT_EQ(fault->write, write);
  EXPECT_EQ(fault->opcode, 0x04);
}

// A fault stays with a stream's event: others are used afterwards.
void expect_works(PeerBench& bench) {
  auto& card = bench.cards[0];
  card.stream = must(card.device->create_stream());
  bench.fill(0, PeerBench::kSize, 0x77);
  const Status done = bench.copy(0, whole(card, 1));
  ASSERT_TRUE(done) << done.error().message();
  bench.look(1);
  EXPECT_TRUE(bench.holds(1, 0, PeerBench::kSize, 0x77));
}

TEST(PeerFault, ALinkThatGoesDownEndsTheCopyAndWorksAgainLater) {
  Machine machine({}, kTwoCards);
  machine.run([&](platform::Platform& host) {
    PeerBench bench(host);
    auto& card = bench.cards[0];
    const auto ticket = must(card.device->submit(card.stream, whole(card, 1)));
    host.clock().sleep_until(host.clock().now() + 50_us);
    machine.system.hccs().set_up(0, false);
    const auto went_down = host.clock().now();
    const Status done = card.device->wait(ticket, WaitPolicy::kPolling, bench.deadline());
    expect_fault(bench, done, FaultCode::kPeerLinkDown, true);
    EXPECT_LE(host.clock().now() - went_down,
              machine.chip().hccs.response_timeout + Picoseconds(100_us));
    machine.system.hccs().set_up(0, true);
    expect_works(bench);
  });
}

TEST(PeerFault, WithTheLinkDownACopyFailsAtOnce) {
  Machine machine({}, kTwoCards);
  machine.run([&](platform::Platform& host) {
    PeerBench bench(host);
    machine.system.hccs().set_up(0, false);
    const auto begin = host.clock().now();
    expect_fault(bench, bench.copy(0, whole(bench.cards[0], 1)), FaultCode::kPeerLinkDown, true);
    EXPECT_LT(host.clock().now() - begin, Picoseconds(100_us));
  });
}

TEST(PeerFault, AnOwnerThatIsGoneRefuses) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    ASSERT_TRUE(bench.cards[1].device->shutdown());
    expect_fault(bench, bench.copy(0, whole(bench.cards[0], 1)), FaultCode::kPeerRefused, true);
  });
}

TEST(PeerFault, ReadOnlyMemoryOfAPeerIsNotWritten) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    auto& card = bench.cards[0];
    ASSERT_TRUE(bench.space(0).set_access(card.peers[1], PeerBench::kSize, driver::Access::kRead));
    expect_fault(bench, bench.copy(0, whole(card, 1)), FaultCode::kDevicePermission, true);
    bench.look(1);
    EXPECT_TRUE(bench.holds(1, 0, PeerBench::kSize, 0x11));
    ASSERT_TRUE(
        bench.space(0).set_access(card.peers[1], PeerBench::kSize, driver::Access::kReadWrite));
    expect_works(bench);
  });
}

TEST(PeerFault, AnUnmappedPeerIsUnreachable) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    auto& card = bench.cards[0];
    const auto ticket = must(card.device->submit(card.stream, whole(card, 1)));
    // Returns when nothing that was translated before is on its way to the peer any more.
    ASSERT_TRUE(bench.space(0).unmap(card.peers[1], PeerBench::kSize));
    bench.fill(1, PeerBench::kSize, 0x99);
    const Status done = card.device->wait(ticket, WaitPolicy::kPolling, bench.deadline());
    expect_fault(bench, done, FaultCode::kTranslation, true);
    bench.look(1);
    EXPECT_TRUE(bench.holds(1, 0, PeerBench::kSize, 0x99)) << "nothing came later";
  });
}

TEST(PeerFault, TheOtherCardsResetLeavesThisOneUsable) {
  Machine({}, kTwoCards).on<PeerBench>([](PeerBench& bench) {
    auto& card = bench.cards[0];
    const auto ticket = must(card.device->submit(card.stream, whole(card, 1)));
    bench.host.clock().sleep_until(bench.host.clock().now() + 20_us);
    ASSERT_TRUE(bench.host.reset_function(bench.cards[1].device->info().bdf()));
    const Status done = card.device->wait(ticket, WaitPolicy::kPolling, bench.deadline());
    expect_fault(bench, done, FaultCode::kPeerRefused, true);
    card.stream = must(card.device->create_stream());
    EXPECT_TRUE(bench.copy(0, DmaCommand::device_to_device(card.block, card.block + 1_MiB, 1_MiB)));
  });
}

TEST(PeerFault, WithoutALinkMemoryCannotBeImported) {
  Machine({"fabric=none"}, kTwoCards).run([](platform::Platform& host) {
    const auto first = open_card(host, 0), second = open_card(host, 1);
    const auto memory = must(second->address_space().create_memory(2_MiB));
    const auto borrowed = first->address_space().import_memory(second->address_space(), memory);
    ASSERT_FALSE(borrowed);
    EXPECT_EQ(borrowed.error().code, ErrorCode::kUnsupported);
  });
}

}  // namespace
}  // namespace npu::test
