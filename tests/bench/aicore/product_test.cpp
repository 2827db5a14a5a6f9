// SPDX-License-Identifier: Apache-2.0
// A product from global memory to global memory through every pipe of a cube core.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint32_t kM = 5, kK = 16, kN = 33;
constexpr std::uint64_t kA = kData, kB = kData + 0x1'0000, kC = kData + 0x2'0000;
constexpr std::uint32_t kL1B = 64 * 1024, kRowB = 96;  // of B in L1: 33 fp16 and padding

// x of 0 .. 3 in fp16: 0, 1, 2, 3.
constexpr std::uint16_t kHalf[] = {0x0000, 0x3C00, 0x4000, 0x4200};

unsigned a_of(std::uint32_t i, std::uint32_t l) {
  return (i + l) % 4;
}
unsigned b_of(std::uint32_t l, std::uint32_t j) {
  return (3 * l + j) % 4;
}

void store_operands(AicoreBench& bench) {
  for (std::uint32_t i = 0; i < kM; ++i) {
    for (std::uint32_t l = 0; l < kK; ++l)
      bench.memory.store(kA + (i * kK + l) * 2, kHalf[a_of(i, l)]);
  }
  for (std::uint32_t l = 0; l < kK; ++l) {
    for (std::uint32_t j = 0; j < kN; ++j)
      bench.memory.store(kB + (l * kN + j) * 2, kHalf[b_of(l, j)]);
  }
}

void load(AicorePort& port) {
  CopyIn a{{LocalBuffer::kL1, 0}, kA, kM, kK * 2, kK * 2, kK * 2};
  CopyIn b{{LocalBuffer::kL1, kL1B}, kB, kK, kN * 2, kN * 2, kRowB};
  port.issue(a);
  port.issue(b);
  port.set_flag(Pipe::kMte2, Pipe::kMte1, 0);
  port.wait_flag(Pipe::kMte2, Pipe::kMte1, 0);
  port.issue(LoadL0{{LocalBuffer::kL0a, 0}, 0, kM, kK, kK * 2, DataType::kFp16, false});
  port.issue(LoadL0{{LocalBuffer::kL0b, 0}, kL1B, kK, kN, kRowB, DataType::kFp16, false});
  port.set_flag(Pipe::kMte1, Pipe::kCube, 0);
  port.wait_flag(Pipe::kMte1, Pipe::kCube, 0);
}

// C = A B + A B, in fp32.
int multiply_twice(AicorePort& port) {
  load(port);
  Mmad product{0, 0, 0, kM, kK, kN, DataType::kFp16, false};
  port.issue(product);
  product.accumulate = true;
  port.issue(product);
  port.set_flag(Pipe::kCube, Pipe::kFixpipe, 0);
  port.wait_flag(Pipe::kCube, Pipe::kFixpipe, 0);
  port.issue(Fixpipe{kC, 0, kM, kN, kN * 4, DataType::kFp32, DataType::kFp32});
  return 0;
}

TEST(AicoreProduct, ArrivesInGlobalMemory) {
  AicoreBench bench;
  store_operands(bench);

  const auto end = bench.run_one(multiply_twice);

  EXPECT_EQ(end.fault, FaultCode::kNone);
  for (std::uint32_t i = 0; i < kM; ++i) {
    for (std::uint32_t j = 0; j < kN; ++j) {
      unsigned sum = 0;
      for (std::uint32_t l = 0; l < kK; ++l) sum += 2 * a_of(i, l) * b_of(l, j);
      EXPECT_EQ(bench.memory.load<float>(kC + (i * kN + j) * 4), static_cast<float>(sum));
    }
  }
}

TEST(AicoreProduct, TakesItsTimeAndLeavesMemoryAloneIfCoresDoNotCompute) {
  auto config = aicore_config();
  config.core.functional = false;
  AicoreBench bench(config);
  store_operands(bench);

  const auto end = bench.run_one(multiply_twice);

  // Launch and report, software init or, if longer, image (header and requests, four at a time),
  // three hand-overs, two copies of a request each, MTE1, cube, a look at nothing, FixPipe.
  const std::size_t image = bench.requests.size() - bench.data_requests().size() - 1;
  constexpr std::uint64_t kIssueCopy = 10, kLaunch = 250, kAnswer = 100;
  constexpr std::uint64_t kSoftware = 200;
  const std::uint64_t clocks = kLaunch + std::max(kSoftware, kAnswer * (1 + (image + 3) / 4)) +
                               kHandOver + 2 * kIssueCopy + kAnswer +  // B is asked for behind A
                               (16 * 32 / 256) + (16 * 96 / 128) +     // MTE1: whole fractals
                               2 * 3 + 6 +  // cube: 1 x 3 x 1 fractals, twice
                               kIssueCopy + kAnswer;
  EXPECT_EQ(end.when, clocks * kClock);
  for (std::uint32_t i = 0; i < kM * kN; ++i) {
    EXPECT_EQ(bench.memory.load<std::uint32_t>(kC + 4 * i), 0U);
  }
}

TEST(AicoreProduct, ThatIsStoppedWritesNothingAnyMore) {
  AicoreBench bench;
  store_operands(bench);
  bench.at(0, [&] { bench.launch(0, multiply_twice); });
  // FixPipe's request leaves 10 clocks behind the last mmad; its bytes 100 later.
  bool asked = false;
  for (SimTime when = 0; when < 3000; ++when) {
    bench.at(when * kClock, [&] {
      if (asked || bench.requests.empty() || !bench.requests.back().write) return;
      asked = true;
      bench.cores.stop(1);
    });
  }

  bench.run();

  EXPECT_TRUE(asked);
  EXPECT_TRUE(bench.has_ended(0));
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kC + 4), 0U);
  EXPECT_EQ(bench.sim.pool.in_use(), 0U);
}

}  // namespace
}  // namespace npu::test
