// SPDX-License-Identifier: Apache-2.0
// Products of matrices in fractals: what the instructions make of the hardware's order.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint32_t kM = 20, kK = 40, kN = 35;        // 2 x 3 and 3 x 3 fractals of fp16
constexpr std::uint32_t kDown = 2, kDeep = 3, kWide = 3;  // in fractals
constexpr std::uint64_t kA = kData, kB = kData + 0x1'0000, kC = kData + 0x2'0000;
constexpr std::uint32_t kL1B = 64 * 1024, kFractal = 512;

// x of 0 .. 3 in fp16: 0, 1, 2, 3.
constexpr std::uint16_t kHalf[] = {0x0000, 0x3C00, 0x4000, 0x4200};

unsigned a_of(std::uint32_t i, std::uint32_t l) {
  return (i + 3 * l) % 4;
}
unsigned b_of(std::uint32_t l, std::uint32_t j) {
  return (l * j + j) % 4;
}
float c_of(std::uint32_t i, std::uint32_t j) {
  unsigned sum = 0;
  for (std::uint32_t l = 0; l < kK; ++l) sum += a_of(i, l) * b_of(l, j);
  return static_cast<float>(sum);
}

// In columns of fractals: column / 16 of them before, rows of 32 B in each.
void store_operands(AicoreBench& bench) {
  for (std::uint32_t i = 0; i < kM; ++i) {
    for (std::uint32_t l = 0; l < kK; ++l) {
      bench.memory.store(kA + l / 16 * kDown * kFractal + i * 32 + l % 16 * 2, kHalf[a_of(i, l)]);
    }
  }
  for (std::uint32_t l = 0; l < kK; ++l) {
    for (std::uint32_t j = 0; j < kN; ++j) {
      bench.memory.store(kB + j / 16 * kDeep * kFractal + l * 32 + j % 16 * 2, kHalf[b_of(l, j)]);
    }
  }
}

void load(AicorePort& port) {
  constexpr std::uint32_t kBytesA = kDown * kDeep * kFractal, kBytesB = kDeep * kWide * kFractal;
  port.issue(CopyIn{{LocalBuffer::kL1, 0}, kA, 1, kBytesA, kBytesA, kBytesA});
  port.issue(CopyIn{{LocalBuffer::kL1, kL1B}, kB, 1, kBytesB, kBytesB, kBytesB});
  port.set_flag(Pipe::kMte2, Pipe::kMte1, 0);
  port.wait_flag(Pipe::kMte2, Pipe::kMte1, 0);
  LoadL0 a{{LocalBuffer::kL0a, 0}, 0, kDeep, 0, kDown * kFractal, DataType::kFp16, false};
  a.fractals = true;
  for (std::uint32_t row = 0; row < kDown; ++row) {
    port.issue(a);
    a.from += kFractal;
    a.to.offset += kDeep * kFractal;
  }
  LoadL0 b{{LocalBuffer::kL0b, 0}, kL1B, kWide, 0, kDeep * kFractal, DataType::kFp16, true};
  b.fractals = true;
  for (std::uint32_t row = 0; row < kDeep; ++row) {
    port.issue(b);
    b.from += kFractal;
    b.to.offset += kWide * kFractal;
  }
  port.set_flag(Pipe::kMte1, Pipe::kCube, 0);
  port.wait_flag(Pipe::kMte1, Pipe::kCube, 0);
}

// Twice A B, then only its columns 16 .. 34, from the second column of fractals on.
int multiply_twice(AicorePort& port) {
  load(port);
  Mmad product{0, 0, 0, kM, kK, kN, DataType::kFp16, false};
  product.fractals = true;
  port.issue(product);
  product.accumulate = true;
  port.issue(product);
  port.set_flag(Pipe::kCube, Pipe::kFixpipe, 0);
  port.wait_flag(Pipe::kCube, Pipe::kFixpipe, 0);
  constexpr std::uint32_t kColumn = kDown * 1024;
  Fixpipe result{kC, kColumn, kM, kN - 16, (kN - 16) * 4, DataType::kFp32, DataType::kFp32};
  result.column_pitch = kColumn;
  port.issue(result);
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

TEST(AicoreFractals, AreMultipliedAsMatrices) {
  AicoreBench bench;
  store_operands(bench);

  const auto end = bench.run_one(multiply_twice);

  EXPECT_EQ(end.fault, FaultCode::kNone);
  for (std::uint32_t i = 0; i < kM; ++i) {
    for (std::uint32_t j = 16; j < kN; ++j) {
      EXPECT_EQ(bench.memory.load<float>(kC + (i * (kN - 16) + j - 16) * 4), 2 * c_of(i, j))
          << i << ", " << j;
    }
  }
}

int load_beyond(AicorePort& port) {
  LoadL0 load{{LocalBuffer::kL0a, 0}, 0, 1, 0, kFractal, DataType::kFp16, false};
  load.fractals = true;
  load.rows = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kL0a) / kFractal) + 1;
  port.issue(load);
  return 0;
}
int transpose_bytes(AicorePort& port) {
  LoadL0 load{{LocalBuffer::kL0a, 0}, 0, 1, 0, kFractal, DataType::kInt8, true};
  load.fractals = true;
  port.issue(load);
  return 0;
}
int begin_with_bias(AicorePort& port) {
  Mmad product{0, 0, 0, 16, 16, 16, DataType::kFp16, false};
  product.fractals = true;
  product.start = platform::MmadStart::kBias;
  port.issue(product);
  return 0;
}

TEST(AicoreFractals, EndAtTheBuffersEnd) {
  AicoreBench bench;
  EXPECT_EQ(bench.run_one(load_beyond).fault, FaultCode::kLocalBuffer);
}

TEST(AicoreFractals, OfBytesAreNotTransposed) {
  AicoreBench bench;
  EXPECT_EQ(bench.run_one(transpose_bytes).fault, FaultCode::kInstruction);
}

TEST(AicoreFractals, DoNotBeginWithABias) {
  AicoreBench bench;
  EXPECT_EQ(bench.run_one(begin_with_bias).fault, FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::test
