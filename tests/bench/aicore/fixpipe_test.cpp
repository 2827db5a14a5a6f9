// SPDX-License-Identifier: Apache-2.0
// FixPipe to L1 and to UB: bytes, clocks, flags, and what a chip without the way says.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::CrossScope;
using platform::FixpipeTarget;

constexpr std::uint32_t kSide = 16, kSideRow = 32;  // a square of fp16, bytes of its row
constexpr std::uint64_t kResult = kData + 0x1'0000;
constexpr std::uint32_t kUb = 4096;  // where FixPipe writes

// Row i of X is i + 1 on the diagonal and 0 elsewhere, in fp16.
std::uint16_t half(unsigned value) {
  constexpr std::uint16_t kHalves[] = {0x0000, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500,
                                       0x4600, 0x4700, 0x4800, 0x4880, 0x4900, 0x4980,
                                       0x4A00, 0x4A80, 0x4B00, 0x4B80, 0x4C00};
  return kHalves[value];
}
void store_diagonal(AicoreBench& bench) {
  for (std::uint32_t i = 0; i < kSide; ++i) {
    bench.memory.store(kData + i * (kSideRow + 2), half(i + 1));
  }
}

void pass(AicorePort& port, Pipe from, Pipe to) {
  port.set_flag(from, to, 0);
  port.wait_flag(from, to, 0);
}

// C = L1 at `a` x L1 at 0, of which both are squares of fp16.
void multiply(AicorePort& port, std::uint32_t a) {
  port.issue(LoadL0{{LocalBuffer::kL0a, 0}, a, kSide, kSide, kSideRow, DataType::kFp16, false});
  port.issue(LoadL0{{LocalBuffer::kL0b, 0}, 0, kSide, kSide, kSideRow, DataType::kFp16, false});
  pass(port, Pipe::kMte1, Pipe::kCube);
  port.issue(Mmad{0, 0, 0, kSide, kSide, kSide, DataType::kFp16, false});
  pass(port, Pipe::kCube, Pipe::kFixpipe);
}

void load_and_multiply(AicorePort& port) {
  port.issue(CopyIn{
      {LocalBuffer::kL1, 0}, kData, 1, kSide * kSideRow, kSide * kSideRow, kSide * kSideRow});
  pass(port, Pipe::kMte2, Pipe::kMte1);
  multiply(port, 0);
}

Fixpipe to_local(FixpipeTarget target, std::uint64_t to, DataType type) {
  Fixpipe fixpipe{to, 0, kSide, kSide, kSide * bytes_of(type), DataType::kFp32, type};
  fixpipe.target = target;
  return fixpipe;
}

// X X goes to L1 in fp16 and is multiplied by X again: 1, 8, 27, ... on the diagonal.
TEST(AicoreFixpipe, GivesL1WhatMte1LoadsNext) {
  AicoreBench bench;
  store_diagonal(bench);

  const auto end = bench.run_one([](AicorePort& port) {
    load_and_multiply(port);
    port.issue(to_local(FixpipeTarget::kL1, 1024, DataType::kFp16));
    pass(port, Pipe::kFixpipe, Pipe::kMte1);
    multiply(port, 1024);
    port.issue(Fixpipe{kResult, 0, kSide, kSide, kSide * 4, DataType::kFp32, DataType::kFp32});
    return 0;
  });

  EXPECT_EQ(end.fault, FaultCode::kNone);
  for (std::uint32_t i = 0; i < kSide * kSide; ++i) {
    const std::uint32_t n = i / kSide + 1;
    const auto expected = i / kSide == i % kSide ? static_cast<float>(n * n * n) : 0.0F;
    EXPECT_EQ(bench.memory.load<float>(kResult + 4 * i), expected) << i;
  }
}

// What was loaded from L1 before keeps its old contents.
TEST(AicoreFixpipe, LeavesWhatWasLoadedBeforeItWrote) {
  AicoreBench bench;
  store_diagonal(bench);

  bench.run_one([](AicorePort& port) {
    load_and_multiply(port);
    port.issue(to_local(FixpipeTarget::kL1, 0, DataType::kFp16));  // X X on X
    pass(port, Pipe::kFixpipe, Pipe::kCube);
    port.issue(Mmad{1024, 0, 0, kSide, kSide, kSide, DataType::kFp16, false});
    pass(port, Pipe::kCube, Pipe::kFixpipe);
    port.issue(Fixpipe{kResult, 1024, kSide, kSide, kSide * 4, DataType::kFp32, DataType::kFp32});
    return 0;
  });

  EXPECT_EQ(bench.memory.load<float>(kResult + 4 * (kSide + 1)), 4.0F);
}

// A coupled core: UB is its own, and V waits for FixPipe.
TEST(AicoreFixpipe, GivesUbWhatTheVectorUnitDoubles) {
  AicoreBench bench;
  store_diagonal(bench);

  bench.run_one([](AicorePort& port) {
    load_and_multiply(port);
    port.issue(to_local(FixpipeTarget::kUb, kUb, DataType::kFp32));
    pass(port, Pipe::kFixpipe, Pipe::kVector);
    Vector twice;
    twice.op = VectorOp::kMuls;
    twice.to = twice.a = kUb;
    twice.count = kSide * kSide;
    twice.scalar = 2;
    port.issue(twice);
    pass(port, Pipe::kVector, Pipe::kMte3);
    port.issue(CopyOut{kResult, {LocalBuffer::kUb, kUb}, 1, kSide * kSide * 4, 0, 0});
    return 0;
  });

  for (std::uint32_t i = 0; i < kSide; ++i) {
    const auto square = static_cast<float>(2 * (i + 1) * (i + 1));
    EXPECT_EQ(bench.memory.load<float>(kResult + 4 * (kSide + 1) * i), square);
  }
}

// A table of 16 fp32 behind the squares, at 2048 in L1.
void load_table(AicorePort& port) {
  port.issue(CopyIn{{LocalBuffer::kL1, 2048}, kData + 4096, 1, 64, 64, 64});
}
// Ones of int8 times ones: 16 in each element of C.
void multiply_ones(AicorePort& port, platform::MmadStart start) {
  port.issue(CopyIn{{LocalBuffer::kL1, 0}, kData, 1, 1024, 1024, 1024});
  pass(port, Pipe::kMte2, Pipe::kMte1);
  port.issue(LoadL0{{LocalBuffer::kL0a, 0}, 0, kSide, kSide, 32, DataType::kInt8, false});
  port.issue(LoadL0{{LocalBuffer::kL0b, 0}, 0, kSide, kSide, 32, DataType::kInt8, false});
  pass(port, Pipe::kMte1, Pipe::kCube);
  Mmad product{0, 0, 0, kSide, kSide, kSide, DataType::kInt8, false};
  product.start = start;
  product.bias_type = DataType::kInt32;
  product.bias = 2048;
  port.issue(product);
  pass(port, Pipe::kCube, Pipe::kFixpipe);
}

// Of the scale 1 + 2^-11 FixPipe sees 1; that of column 3 is 0.25.
TEST(AicoreFixpipe, ScalesEachColumnByTenBitsOfItsNumber) {
  AicoreBench bench;
  for (std::uint32_t i = 0; i < 1024; ++i) bench.memory.store<std::uint8_t>(kData + i, 1);
  for (std::uint32_t i = 0; i < kSide; ++i) {
    bench.memory.store(kData + 4096 + 4 * i, i == 3 ? 0.25F : 1 + 0x1p-11F);
  }

  bench.run_one([](AicorePort& port) {
    load_table(port);
    multiply_ones(port, platform::MmadStart::kZero);
    Fixpipe store{kResult, 0, kSide, kSide, kSide * 2, DataType::kInt32, DataType::kFp16};
    store.scaling = platform::FixpipeScale::kColumns;
    store.scales = 2048;
    port.issue(store);
    return 0;
  });

  for (std::uint32_t i = 0; i < kSide * kSide; ++i) {
    EXPECT_EQ(bench.memory.load<std::uint16_t>(kResult + 2 * i), half(i % kSide == 3 ? 4 : 16));
  }
}

TEST(AicoreFixpipe, ScalesAllByOneNumberIntoBfloatWhereItCan) {
  AicoreBench bench(aicore_config(model::ProgramCoreKind::kSplit));
  for (std::uint32_t i = 0; i < 1024; ++i) bench.memory.store<std::uint8_t>(kData + i, 1);

  bench.run_one([](AicorePort& port) {
    multiply_ones(port, platform::MmadStart::kZero);
    Fixpipe store{kResult, 0, kSide, kSide, kSide * 2, DataType::kInt32, DataType::kBf16};
    store.scaling = platform::FixpipeScale::kOne;
    store.scale = 0.125F;
    port.issue(store);
    return 0;
  });

  EXPECT_EQ(bench.memory.load<std::uint16_t>(kResult), 0x4000) << "2";
}

// C of a row is the bias of its column and the product.
TEST(AicoreCube, BeginsWithABias) {
  AicoreBench bench;
  for (std::uint32_t i = 0; i < 1024; ++i) bench.memory.store<std::uint8_t>(kData + i, 1);
  for (std::uint32_t i = 0; i < kSide; ++i) bench.memory.store(kData + 4096 + 4 * i, 100 * i);

  bench.run_one([](AicorePort& port) {
    load_table(port);
    multiply_ones(port, platform::MmadStart::kBias);
    port.issue(Fixpipe{kResult, 0, kSide, kSide, kSide * 4, DataType::kInt32, DataType::kInt32});
    return 0;
  });

  for (std::uint32_t i = 0; i < kSide * kSide; ++i) {
    EXPECT_EQ(bench.memory.load<std::uint32_t>(kResult + 4 * i), 100 * (i % kSide) + 16);
  }
}

// 12 clocks for an instruction, 74 and 128 bytes per clock: 512 B in fp16, 1024 B in fp32.
TEST(AicoreFixpipe, TakesTheClocksOfItsWayForEachMatrix) {
  const auto l1 = to_local(FixpipeTarget::kL1, 0, DataType::kFp16);
  const auto ub = to_local(FixpipeTarget::kUb, 0, DataType::kFp32);
  EXPECT_EQ(clocks_of_groups<Fixpipe>({{l1}, {ub}, {ub, ub}}),
            (Clocks{12 + 7, 12 + 8, 2 * (12 + 8)}));
}

// Its request leaves after 10 clocks and is answered 100 later; the moves behind it would have
// been done by then, and end with it.
TEST(AicoreFixpipe, EndsInOrderBehindAStoreToGlobalMemory) {
  const Fixpipe store{kResult, 0, kSide, kSide, kSide * 4, DataType::kFp32, DataType::kFp32};
  const auto move = to_local(FixpipeTarget::kUb, 0, DataType::kFp32);
  EXPECT_EQ(clocks_of_groups<Fixpipe>({{store}, {store, move, move}}),
            (Clocks{10 + 100, 10 + 100}));
}

TEST(AicoreFixpipe, FaultsOnAChipWithoutTheWay) {
  auto config = aicore_config();
  config.core.l0c_to_ub.per_clock = 0;
  AicoreBench bench(config);
  const auto end = bench.run_one([](AicorePort& port) {
    port.issue(to_local(FixpipeTarget::kUb, 0, DataType::kFp32));
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kInstruction);
}

TEST(AicoreFixpipe, StaysInsideTheBufferAndOnItsGrain) {
  constexpr model::BufferSizes kSizes{512_KiB, 64_KiB, 64_KiB, 128_KiB, 0};
  constexpr model::FixpipeWays kWays{512_KiB, 192_KiB, 2};
  auto move = to_local(FixpipeTarget::kL1, 512_KiB - 512, DataType::kFp16);
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kNone);
  move.to += 32;
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kLocalBuffer);
  move.to = std::uint64_t{1} << 32;  // is no small offset
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kLocalBuffer);
  move.to = 16;
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kLocalAlignment);
  move.to = 0;
  move.to_pitch = 16;  // rows lie on each other
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kInstruction);
  move = to_local(FixpipeTarget::kUb, 0, DataType::kFp32);
  move.vector_core = 1;
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kNone);
  move.vector_core = 2;
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kInstruction);
  move.target = static_cast<FixpipeTarget>(3);
  EXPECT_EQ(check(kSizes, move, kWays), FaultCode::kInstruction);
}

// What core 1 makes is stored by core 5, its second vector core.
int square_in_a_cluster(AicorePort& port) {
  if (port.core_type() == abi::CoreType::kAic) {
    load_and_multiply(port);
    auto move = to_local(FixpipeTarget::kUb, kUb, DataType::kFp32);
    move.vector_core = 1;
    port.issue(move);
    port.set_cross_flag(Pipe::kFixpipe, CrossScope::kCluster, 2);
    return 0;
  }
  port.wait_cross_flag(Pipe::kMte3, CrossScope::kCluster, 2);
  if (port.physical_core() == 5) {
    port.issue(CopyOut{kResult, {LocalBuffer::kUb, kUb}, 1, kSide * kSide * 4, 0, 0});
  }
  return 0;
}

TEST(AicoreFixpipe, OfACubeCoreWritesTheUbOfItsVectorCore) {
  AicoreBench bench(aicore_config(model::ProgramCoreKind::kSplit));
  store_diagonal(bench);
  const auto body = bench.keep(square_in_a_cluster);
  bench.at(0, [&] {
    for (const unsigned core : {4U, 5U, 1U}) bench.launch_image(core, kImage, body);
  });

  bench.run();

  for (const unsigned core : {1U, 4U, 5U}) EXPECT_EQ(bench.ended(core).fault, FaultCode::kNone);
  EXPECT_EQ(bench.memory.load<float>(kResult + 4 * (kSide + 1)), 4.0F);
}

TEST(AicoreFixpipe, DoesNotWriteToAVectorCoreOfAnotherLaunch) {
  AicoreBench bench(aicore_config(model::ProgramCoreKind::kSplit));
  bench.at(0, [&] {
    bench.launch(
        2, [](AicorePort& port) { return port.scalar(100'000), 0; }, 8);
    bench.launch(
        0,
        [](AicorePort& port) {
          port.issue(to_local(FixpipeTarget::kUb, 0, DataType::kFp32));
          return 0;
        },
        7);
  });

  bench.run();

  EXPECT_EQ(bench.ended(0).fault, FaultCode::kInstruction);
  EXPECT_EQ(bench.ended(2).fault, FaultCode::kNone);
}

// Cores 1 and 5 run one launch that calls others, as the executor does. What core 1 calls writes to
// the UB of core 5 while that runs `call`, a block of the same kernel unless it says otherwise.
struct Called {
  std::uint64_t arguments = 0;  // more than the cube core's
  std::uint32_t block = 3, blocks = 8, role = 2;
  bool calls = true;
};
class CallingCluster {
 public:
  FaultCode run(const Called& call) {
    const auto caller = bench_.keep([this, &call](AicorePort& port) {
      if (port.core_type() == abi::CoreType::kAic) {
        port.scalar(10'000);
        return port.invoke({kImage, arguments(), 3, 8, 0});
      }
      if (!call.calls) return port.scalar(100'000), 0;
      return port.invoke(
          {kImage, arguments() + call.arguments, call.block, call.blocks, call.role});
    });
    bench_.at(model::sim_now(), [&] {
      for (const unsigned core : {1U, 5U}) bench_.launch_image(core, kImage, caller);
    });
    bench_.run();
    EXPECT_EQ(bench_.ended(5).fault, FaultCode::kNone);
    return bench_.ended(1).fault;
  }

 private:
  static int kernel(AicorePort& port) {
    if (port.core_type() == abi::CoreType::kAiv) return port.scalar(100'000), 0;
    auto move = to_local(FixpipeTarget::kUb, kUb, DataType::kFp32);
    move.vector_core = 1;
    port.issue(move);
    return 0;
  }
  std::uint64_t arguments() const { return reinterpret_cast<std::uint64_t>(bodies_.data()); }

  std::array<Body, 2> bodies_{kernel, kernel};  // the second is that of other arguments
  AicoreBench bench_{aicore_config(model::ProgramCoreKind::kSplit)};
};

TEST(AicoreFixpipe, OfACalledCubeCoreWritesOnlyToACoreThatRunsTheSameBlock) {
  CallingCluster cluster;
  const auto with = [&](auto change) {
    Called call;
    change(call);
    return cluster.run(call);
  };
  const auto refused = FaultCode::kInstruction;
  EXPECT_EQ(cluster.run({}), FaultCode::kNone);
  EXPECT_EQ(with([](Called& c) { c.arguments = sizeof(Body); }), refused) << "another task";
  EXPECT_EQ(with([](Called& c) { c.block = 4; }), refused) << "another block";
  EXPECT_EQ(with([](Called& c) { c.blocks = 9; }), refused) << "another call";
  EXPECT_EQ(with([](Called& c) { c.role = 0; }), refused) << "not of a mixed block";
  EXPECT_EQ(with([](Called& c) { c.role = 1; }), refused) << "of the other vector core";
  EXPECT_EQ(with([](Called& c) { c.calls = false; }), refused) << "nothing yet";
  EXPECT_EQ(cluster.run({}), FaultCode::kNone);
}

}  // namespace
}  // namespace npu::test
