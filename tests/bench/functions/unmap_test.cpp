// SPDX-License-Identifier: Apache-2.0
// Host memory is given back while the card copies from or to it: at the return of that nothing
// reaches it any more, and the other function notices nothing. The parameter is the instant.
#include "two_functions.hpp"

namespace npu::test {
namespace {

using abi::DmaOpcode;
using abi::FaultCode;

constexpr unsigned kInstants = 24;
constexpr Bytes kSize = 64_KiB;  // of the copy: about 3 us

class UnmapUnder : public testing::TestWithParam<unsigned> {
 protected:
  void copy_and_unmap(DmaOpcode opcode);
};

void UnmapUnder::copy_and_unmap(DmaOpcode opcode) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver mine(host, card.bdf(0)), other(host, card.bdf(1));
    const bool to_host = opcode == DmaOpcode::kDeviceToHost;
    const std::uint64_t bus = mine.data->bus().value;
    for (Bytes at = 0; at < kSize; at += 8) mine.data->store<std::uint64_t>(at, 0x11);
    auto& memory = card.system.card(0).hbm().memory();
    std::vector<std::uint64_t> pattern(kSize / 8, 0x22);
    memory.write(0x10'0000, pattern.data(), kSize);
    other.copy(opcode, to_host ? 0x10'0000 : other.data->bus().value,
               to_host ? other.data->bus().value : 0x20'0000, kSize);
    mine.copy(opcode, to_host ? 0x10'0000 : bus, to_host ? bus : 0x20'0000, kSize);
    host.clock().sleep_until(host.clock().now() + GetParam() * 250_ns);
    card.system.host().unmap(card.bdf(0).packed(), bus, kSize);
    const auto* const bytes = mine.data->cpu().data;
    const std::vector<std::byte> at_return(bytes, bytes + kSize);
    ASSERT_TRUE(mine.copied(100_ms) && other.copied(100_ms));
    EXPECT_EQ(std::memcmp(at_return.data(), bytes, kSize), 0) << "written after its return";
    EXPECT_EQ(other.record().fault(), FaultCode::kNone);
    const auto fault = mine.record().fault();
    EXPECT_TRUE(fault == FaultCode::kNone || fault == FaultCode::kHostAddress);
    // A copy that tells of no fault is whole.
    const bool complete = std::memcmp(at_return.data(), pattern.data(), kSize) == 0;
    EXPECT_TRUE(!to_host || fault != FaultCode::kNone || complete);
    EXPECT_EQ(card.system.host_memory().faults().count(card.bdf(1).packed()), 0U);
  });
}

TEST_P(UnmapUnder, ACopyToTheHost) {
  copy_and_unmap(DmaOpcode::kDeviceToHost);
}
TEST_P(UnmapUnder, ACopyFromTheHost) {
  copy_and_unmap(DmaOpcode::kHostToDevice);
}

INSTANTIATE_TEST_SUITE_P(Instants, UnmapUnder, testing::Range(0U, kInstants));

}  // namespace
}  // namespace npu::test
