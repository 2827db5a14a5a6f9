// SPDX-License-Identifier: Apache-2.0
// Copies to UB that make columns of rows.
#include "model/aicore/instruction_checks.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/bench/aicore/core_config.hpp"

namespace npu::test {
namespace {

constexpr unsigned kVectorCore = 2;  // behind the cube cores of two clusters

CopyIn transposing(std::uint32_t rows, std::uint32_t columns, std::uint32_t element) {
  CopyIn copy;
  copy.to = {LocalBuffer::kUb, 32};
  copy.from = kData;
  copy.rows = rows;
  copy.row_bytes = columns * element;
  copy.from_pitch = copy.row_bytes;
  copy.to_pitch = static_cast<std::uint32_t>(model::round_up(rows * element, 32));
  copy.element = element;
  return copy;
}

class TransposingCopy : public testing::Test {
 protected:
  static model::ChipConfig config() {
    auto config = aicore_config(model::ProgramCoreKind::kSplit);
    give_functions(config.core);
    return config;
  }
  AicoreBench::Ended run(const Body& body) {
    bench_.at(0, [&] { bench_.launch(kVectorCore, body); });
    bench_.run();
    return bench_.ended(kVectorCore);
  }
  AicoreBench bench_{config()};
};

// 37 rows of 3 numbers with a gap between them, a word each.
TEST_F(TransposingCopy, MakesColumnsOfRows) {
  constexpr std::uint32_t kRows = 37, kColumns = 3, kPitch = 20;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      bench_.memory.store(kData + row * kPitch + column * 4, 100 * row + column);
    }
  }
  auto copy = transposing(kRows, kColumns, 4);
  copy.from_pitch = kPitch;
  const auto end = run([&](AicorePort& port) {
    port.issue(copy);
    port.pipe_barrier(Pipe::kAll);
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::uint32_t column = 0; column < kColumns; ++column) {
        EXPECT_EQ(port.load_ub(32 + column * copy.to_pitch + row * 4), 100 * row + column);
      }
    }
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

// 8000 halves: 145 in 100 clocks (950.md N28) where rows take 64 bytes in each.
TEST_F(TransposingCopy, GoesElementByElement) {
  std::uint64_t rows = 0, columns = 0;
  run([&](AicorePort& port) {
    auto copy = transposing(4000, 2, 2);
    for (auto* const taken : {&columns, &rows}) {
      const auto begin = clocks(port);
      port.issue(copy);
      port.pipe_barrier(Pipe::kAll);
      *taken = clocks(port) - begin;
      copy.element = 0;
      copy.to_pitch = copy.row_bytes = 8000, copy.rows = 2, copy.from_pitch = 8000;
    }
    return 0;
  });
  // Of four requests of 4 KiB the last answer comes 100 clocks behind three; columns end later.
  EXPECT_NEAR(static_cast<double>(columns - rows), 8000 / 1.45 - (3 * 4096 / 64.0 + 100), 4);
}

TEST(TransposingCopyChecks, AreThoseOfColumns) {
  constexpr model::BufferSizes kAiv{0, 0, 0, 0, 192_KiB};
  const auto fault_of = [&](const CopyIn& copy) { return model::check(kAiv, copy, true).code; };
  EXPECT_EQ(fault_of(transposing(4000, 2, 2)), FaultCode::kNone);
  EXPECT_EQ(model::check(kAiv, transposing(4000, 2, 2), false), FaultCode::kInstruction);
  EXPECT_EQ(fault_of(transposing(10, 2, 3)), FaultCode::kInstruction);
  auto copy = transposing(10, 2, 4);
  copy.row_bytes = 6;
  EXPECT_EQ(fault_of(copy), FaultCode::kInstruction);
  copy = transposing(10, 2, 4);
  copy.to_pitch = 32;  // rows of 40 B
  EXPECT_EQ(fault_of(copy), FaultCode::kInstruction);
  copy = transposing(10, 2, 4);
  copy.to.offset = 192 * 1024 - 32;
  EXPECT_EQ(fault_of(copy), FaultCode::kLocalBuffer);
  copy.to.offset = 8;
  EXPECT_EQ(fault_of(copy), FaultCode::kLocalAlignment);
  copy.to = {LocalBuffer::kL1, 0};
  EXPECT_EQ(fault_of(copy), FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::test
