// SPDX-License-Identifier: Apache-2.0
// BAR2: where stream windows and device memory lie, and what lies in neither.
#include "registers_bench.hpp"

namespace npu::test {
namespace {

using model::Completion;
using Bar2 = OnBench<RegistersBench>;

constexpr Bytes window(unsigned stream) {
  return kWindows + stream * 32_KiB;
}

std::vector<unsigned char> word(std::uint32_t value) {
  std::vector<unsigned char> bytes(4);
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

TEST_F(Bar2, MemoryIsReadAndWrittenAtTheMemorysPace) {
  bench.write_bar2(0x1234, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto begin = model::sim_now();
  const auto answer = bench.read_bar2(0x1236, 4);
  EXPECT_EQ(answer.data, (std::vector<unsigned char>{3, 4, 5, 6}));
  EXPECT_EQ(answer.when - begin, 100'000u);
}

TEST_F(Bar2, WriteCombinedBlockArrivesWhole) {
  std::vector<unsigned char> block(64);
  for (unsigned i = 0; i < 64; ++i) block[i] = static_cast<unsigned char>(i + 1);
  bench.write_bar2(kUsable + 4096, block);
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[kUsable + 4096], block.data(), 64));
  EXPECT_EQ(bench.hbm.seen.size(), 1u);
}

TEST_F(Bar2, TwoHundredAndFiftySixStreamWindowsAreIndependent) {
  for (unsigned s = 0; s < 256; ++s) bench.write_bar2(window(s) + 4, word(s + 7));
  for (unsigned s = 0; s < 256; ++s) {
    EXPECT_EQ(bench.read_bar2(window(s) + 4, 4).data, word(s + 7)) << s;
    EXPECT_EQ(bench.registers.streams().vector(s), s + 7);
  }
  EXPECT_TRUE(bench.hbm.seen.empty()) << "windows are no memory";
}

TEST_F(Bar2, WindowsAnswerAtOnceAndTakeBlocks) {
  auto block = word(1);  // STREAM_CONTROL and STREAM_VECTOR in one write
  const auto vector = word(9);
  block.insert(block.end(), vector.begin(), vector.end());
  bench.write_bar2(window(3), block);
  const auto begin = model::sim_now();
  const auto answer = bench.read_bar2(window(3), 8);
  EXPECT_EQ(answer.data, block);
  EXPECT_EQ(answer.when, begin);
  EXPECT_TRUE(bench.registers.streams().enabled(3));
}

TEST_F(Bar2, EnablingAStreamClearsItsFault) {
  auto& streams = bench.registers.streams();
  for (const auto code : {abi::FaultCode::kNoPeer, abi::FaultCode::kPoisoned}) {
    streams.command_fetched(2);
    EXPECT_EQ(bench.read_bar2(window(2) + 0x8, 4).data, word(1)) << "busy";
    streams.command_completed(2, code);
  }
  EXPECT_EQ(bench.read_bar2(window(2) + 0x8, 4).data, word(0));
  EXPECT_EQ(bench.read_bar2(window(2) + 0xC, 4).data, word(0x16)) << "the first";
  EXPECT_EQ(bench.read_bar2(window(2) + 0x10, 4).data, word(2)) << "completed";
  bench.write_bar2(window(2) + 4, word(1));
  EXPECT_EQ(bench.read_bar2(window(2) + 0xC, 4).data, word(0x16));
  bench.write_bar2(window(2), word(1));
  EXPECT_EQ(bench.read_bar2(window(2) + 0xC, 4).data, word(0));
}

TEST_F(Bar2, EnablingAStreamLatchesItsAddressSpace) {
  auto& streams = bench.registers.streams();
  bench.write_bar2(window(2) + 0x18, word(0xF0B));
  EXPECT_EQ(bench.read_bar2(window(2) + 0x18, 4).data, word(0xF0B));
  EXPECT_EQ(streams.vmid(2), 0u);
  bench.write_bar2(window(2), word(1));
  EXPECT_EQ(streams.vmid(2), 0x0Bu) << "bits 7..0";
  bench.write_bar2(window(2) + 0x18, word(3));
  bench.write_bar2(window(2), word(0));
  EXPECT_EQ(streams.vmid(2), 0x0Bu);
  std::vector<unsigned char> block(0x1C);  // STREAM_CONTROL comes before STREAM_VMID
  block[0] = 1;
  block[0x18] = 9;
  bench.write_bar2(window(2), block);
  EXPECT_EQ(streams.vmid(2), 3u);
  bench.registers.function_reset(0);
  EXPECT_EQ(streams.vmid(2), 0u);
}

TEST_F(Bar2, WhatLiesNowhereIsAnUnsupportedRequest) {
  const Bytes outside[] = {kInstalled,    kInstalled - 2, kWindows - 2, window(256) - 2,
                           window(1) - 2, window(5) + 2,  1_GiB};
  for (const Bytes address : outside) {
    const auto answer = bench.read_bar2(address, 4);
    EXPECT_TRUE(answer.answered);
    EXPECT_EQ(answer.completion, Completion::kUnsupportedRequest) << address;
    bench.write_bar2(address, {0xEE, 0xEE, 0xEE, 0xEE});
  }
  EXPECT_TRUE(bench.hbm.seen.empty());
  EXPECT_EQ(bench.sim.pool.in_use(), 0u) << "refused writes are released";
}

TEST_F(Bar2, MemoryReachesFromZeroToTheEndAroundTheWindows) {
  for (const Bytes address : {Bytes{0}, kWindows - 4, window(256), kInstalled - 4}) {
    EXPECT_EQ(bench.read_bar2(address, 4).completion, Completion::kSuccess) << address;
  }
  EXPECT_EQ(bench.hbm.seen.size(), 4u);
}

}  // namespace
}  // namespace npu::test
