// SPDX-License-Identifier: Apache-2.0
// A fault of a program says which pipe and which instruction it was, counted as the program has
// issued them.
#include <random>

#include "npu/abi/instruction_fault.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::Local;

constexpr Bytes kPiece = 256;
constexpr std::uint64_t kNowhere = PlainMemory::kSize;

void copy_in(AicorePort& port, std::uint64_t from, std::uint32_t to = 0) {
  CopyIn copy;
  copy.to = {LocalBuffer::kUb, to};
  copy.from = from;
  copy.row_bytes = copy.to_pitch = kPiece;
  port.issue(copy);
}

void copy_out(AicorePort& port, std::uint64_t to) {
  CopyOut copy;
  copy.from = {LocalBuffer::kUb, 0};
  copy.to = to;
  copy.row_bytes = copy.from_pitch = kPiece;
  port.issue(copy);
}

void fixpipe(AicorePort& port, std::uint64_t to) {
  Fixpipe move;
  move.to = to;
  move.m = move.n = 16;
  move.to_pitch = 32;
  port.issue(move);
}

using Step = void (*)(AicorePort& port, std::uint64_t address);
using AicoreFaultPlace = OnBench<AicoreBench>;
struct Way {
  Pipe pipe;
  Step step;
};
constexpr Way kCopies[] = {
    {Pipe::kMte2, [](AicorePort& port, std::uint64_t address) { copy_in(port, address); }},
    {Pipe::kMte3, copy_out},
    {Pipe::kFixpipe, fixpipe}};

void expect_place(const AicoreBench::Ended& end, Pipe pipe, std::uint32_t number) {
  const auto place = abi::InstructionPlace::unpack(end.instruction);
  EXPECT_EQ(place.pipe, static_cast<std::uint8_t>(pipe));
  EXPECT_EQ(place.number, number);
}

TEST_F(AicoreFaultPlace, OfACopyNamesItsPipeAndNumberAmongThoseInFlight) {
  for (const auto& way : kCopies) {
    const auto end = bench.run_one([&](AicorePort& port) {
      for (unsigned i = 0; i < 3; ++i) way.step(port, kData + i * kPiece);
      way.step(port, kNowhere);
      for (unsigned i = 0; i < 3; ++i) way.step(port, kData + i * kPiece);
      port.pipe_barrier(Pipe::kAll);
      return 0;
    });
    EXPECT_EQ(end.fault, FaultCode::kTranslation);
    EXPECT_EQ(end.address, kNowhere);
    expect_place(end, way.pipe, 4);
  }
}

TEST_F(AicoreFaultPlace, OfAnAddressThatIsNoneNamesThePipeThatItWasMeantFor) {
  for (const auto& way : kCopies) {
    const auto end = bench.run_one([&](AicorePort& port) {
      way.step(port, kData);
      way.step(port, UINT64_MAX - 63);
      return 0;
    });
    EXPECT_EQ(end.fault, FaultCode::kDeviceAddress);
    expect_place(end, way.pipe, 2);
  }
}

TEST_F(AicoreFaultPlace, OfTheScalarUnitIsBehindWhatItHasIssued) {
  for (const bool writes : {false, true}) {
    const auto end = bench.run_one([&](AicorePort& port) {
      copy_in(port, kData);
      copy_in(port, kData);
      port.pipe_barrier(Pipe::kAll);
      if (!writes) return static_cast<int>(port.load(kNowhere, 4));
      port.store(kData, 4, 1);
      bench.memory.end = kData;
      port.clean_invalidate(kData);
      port.memory_barrier();
      return 0;
    });
    EXPECT_EQ(end.fault, FaultCode::kTranslation);
    expect_place(end, Pipe::kScalar, 2);
  }
}

// Memory that goes while the copy is in flight: found when it is asked, or when bytes move.
TEST_F(AicoreFaultPlace, IsTheSameWheneverMemoryGoes) {
  unsigned failed = 0;
  for (SimTime when = 0; when < 1000 * kClock; when += 7 * kClock) {
    bench.memory.end = PlainMemory::kSize;
    bench.at(model::sim_now() + when, [&] { bench.memory.end = kData; });
    const auto end = bench.run_one([&](AicorePort& port) {
      port.scalar(200);
      copy_out(port, kData);
      port.pipe_barrier(Pipe::kAll);
      return 0;
    });
    if (end.fault == FaultCode::kNone) continue;
    ++failed;
    expect_place(end, Pipe::kMte3, 1);
  }
  EXPECT_GT(failed, 10U);
}

TEST_F(AicoreFaultPlace, OfAnyOneAmongRandomCopiesIsItsOwn) {
  std::minstd_rand random(1);
  for (unsigned i = 0; i < 60; ++i) {
    const auto steps = static_cast<unsigned>(2 + random() % 40);
    const auto bad = static_cast<unsigned>(random() % steps);
    Pipe pipe{};
    const auto end = bench.run_one([&](AicorePort& port) {
      for (unsigned step = 0; step < steps; ++step) {
        const Way& way = kCopies[random() % std::size(kCopies)];
        if (step == bad) pipe = way.pipe;
        way.step(port, step == bad ? kNowhere : kData + random() % 64 * kPiece);
        if (random() % 8 == 0) port.pipe_barrier(Pipe::kAll);
      }
      port.pipe_barrier(Pipe::kAll);
      return 0;
    });
    EXPECT_EQ(end.fault, FaultCode::kTranslation) << i;
    expect_place(end, pipe, bad + 1);
  }
}

}  // namespace
}  // namespace npu::test
