// SPDX-License-Identifier: Apache-2.0
// Copies between global memory and a core: requests, rates, what is in flight at one time, bytes.
#include <algorithm>
#include <numeric>

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kIssue = 10, kWait = 100;  // clocks

CopyIn copy_in(LocalBuffer buffer, std::uint32_t rows, std::uint32_t row_bytes,
               std::uint64_t pitch) {
  CopyIn copy;
  copy.to = {buffer, 0};
  copy.from = kData;
  copy.rows = rows;
  copy.row_bytes = copy.to_pitch = row_bytes;
  copy.from_pitch = pitch;
  return copy;
}

template <class T>
std::uint64_t measure(AicoreBench& bench, const std::vector<T>& copies) {
  std::uint64_t result = 0;
  const auto end = bench.run_one([&](AicorePort& port) {
    const auto begin = clocks(port);
    for (const auto& copy : copies) port.issue(copy);
    port.pipe_barrier(Pipe::kAll);
    result = clocks(port) - begin - kRegister;
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
  return result;
}

TEST(AicoreCopy, SendsItsRequestsAtTheRateOfThePath) {
  AicoreBench bench;

  const auto taken = measure<CopyIn>(bench, {copy_in(LocalBuffer::kL1, 1, 16'384, 0)});

  const auto requests = bench.data_requests();
  ASSERT_EQ(requests.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(requests[i].address, kData + 4096 * i);
    EXPECT_EQ(requests[i].when, requests[0].when + i * 4096 / 128 * kClock);
  }
  EXPECT_EQ(taken, kHandOver + kIssue + 3 * 32 + kWait);
}

TEST(AicoreCopy, PutsRowsIntoRequests) {
  AicoreBench bench;

  const auto taken = measure<CopyIn>(bench, {copy_in(LocalBuffer::kUb, 8, 512, 1024)});

  const auto requests = bench.data_requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].rows, 8U);
  EXPECT_EQ(requests[0].pitch, 1024U);
  EXPECT_EQ(requests[0].length, 4096U);
  EXPECT_EQ(taken, kHandOver + kIssue + kWait);
}

// Rows that end off 32 B.
TEST(AicoreCopy, TakesLongerForEachRaggedRow) {
  AicoreBench bench;

  auto copy = copy_in(LocalBuffer::kUb, 7, 528, 1024);
  copy.to_pitch = 544;
  const auto taken = measure<CopyIn>(bench, {copy});

  ASSERT_EQ(bench.data_requests().size(), 1U);
  EXPECT_EQ(bench.data_requests()[0].length, 7 * 528U);
  EXPECT_EQ(taken, kHandOver + kIssue + 7 * 30 + 7 * 528 / 64);
}

TEST(AicoreCopy, PaysForALongRowOnce) {
  AicoreBench bench;

  auto copy = copy_in(LocalBuffer::kUb, 2, 8176, 16'384);
  copy.to_pitch = 8192;
  const auto taken = measure<CopyIn>(bench, {copy});

  // Two requests for each row, 30 clocks for the row and one for 64 bytes; the last request's are
  // not waited for.
  EXPECT_EQ(bench.data_requests().size(), 4U);
  EXPECT_EQ(taken, kHandOver + kIssue + 2 * 30 + 8176 / 64 + 4096 / 64 + kWait);
}

TEST(AicoreCopy, GetsPartOfTheRateWithShortRows) {
  AicoreBench bench;

  const auto taken = measure<CopyIn>(bench, {copy_in(LocalBuffer::kL1, 64, 256, 1024)});

  // half_row_percent 50: four requests of 16 rows at 64 bytes per clock.
  EXPECT_EQ(bench.data_requests().size(), 4U);
  EXPECT_EQ(taken, kHandOver + kIssue + 3 * 64 + kWait);
}

TEST(AicoreCopy, KeepsNoMoreUnderWayThanItMay) {
  auto config = aicore_config();
  config.core.outstanding = 8_KiB;
  AicoreBench bench(config);
  bench.latency = 1000 * kClock;

  const auto taken = measure<CopyIn>(bench, {copy_in(LocalBuffer::kL1, 1, 16'384, 0)});

  // Two requests, 32 clocks apart, at a time.
  EXPECT_EQ(taken, kHandOver + kIssue + 1000 + 32 + 1000);
}

TEST(AicoreCopy, BeginsWhenTheRequestsOfTheOneBeforeHaveLeft) {
  AicoreBench bench;
  bench.latency = 1000 * kClock;
  const auto copy = copy_in(LocalBuffer::kL1, 1, 4096, 0);

  const auto taken = measure<CopyIn>(bench, {copy, copy, copy});

  // One request each, 32 clocks apart: more than the next one's issue.
  EXPECT_EQ(taken, kHandOver + kIssue + 2 * 32 + 1000);
}

TEST(AicoreCopy, CrossesNoPageInARequest) {
  AicoreBench bench;
  auto copy = copy_in(LocalBuffer::kL1, 3, 3000, 3008);
  copy.to_pitch = 3008;
  copy.from = 2_MiB * 4 - 4096;

  measure<CopyIn>(bench, {copy});

  Bytes total = 0;
  for (const auto& request : bench.data_requests()) {
    const auto last =
        request.address + (request.rows - 1) * request.pitch + request.length / request.rows - 1;
    EXPECT_EQ(request.address / 2_MiB, last / 2_MiB);
    total += request.length;
  }
  EXPECT_EQ(total, 9000U);
}

TEST(AicoreCopy, MovesBytesInAndOutRowByRow) {
  AicoreBench bench;
  std::vector<std::uint8_t> data(4096);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  bench.memory.write(model::Writer::kDma, 0, kData, data.data(), data.size());
  CopyOut out;
  out.to = kData + 0x10'0000;
  out.from = {LocalBuffer::kUb, 64};
  out.rows = 4;
  out.row_bytes = 20;
  out.from_pitch = 96;
  out.to_pitch = 100;

  bench.run_one([&](AicorePort& port) {
    auto in = copy_in(LocalBuffer::kUb, 4, 40, 300);
    in.to.offset = 64;
    in.to_pitch = 96;
    port.issue(in);
    port.set_flag(Pipe::kMte2, Pipe::kMte3, 0);
    port.wait_flag(Pipe::kMte2, Pipe::kMte3, 0);
    port.issue(out);
    return 0;
  });

  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned i = 0; i < 25; ++i) {
      const auto expected = i < 20 ? data[300 * row + i] : 0;
      EXPECT_EQ(bench.memory.load<std::uint8_t>(out.to + 100 * row + i), expected);
    }
  }
}

TEST(AicoreCopy, IsInMemoryWhenItHasEndedAndNotBefore) {
  AicoreBench bench;
  CopyOut out;
  out.to = kData;
  out.from = {LocalBuffer::kUb, 0};
  out.row_bytes = 4;
  std::uint32_t before = 1;
  const SimTime begin = 50'000 * kClock;
  bench.at(begin + (kHandOver + kIssue + kWait) * kClock - 1,
           [&] { before = bench.memory.load<std::uint32_t>(kData); });

  bench.run_one([&](AicorePort& port) {
    port.store_ub(0, 77);
    port.scalar(static_cast<unsigned>(begin / kClock - clocks(port)));
    port.issue(out);
    return 0;
  });

  EXPECT_EQ(bench.data_requests().at(0).when, begin + (kHandOver + kIssue) * kClock);
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData), 77U);
}

// What is held at these times of a core of VMID 1 that issues `copy` at kCopyBegin.
constexpr SimTime kCopyBegin = 50'000 * kClock;

template <class T>
std::vector<int> held_at(AicoreBench& bench, const T& copy, const std::vector<SimTime>& times) {
  std::vector<int> held;
  bench.vmid = 1;
  for (const SimTime when : times) {
    bench.at(when, [&] { held.push_back(bench.memory.held); });
  }
  bench.run_one([&](AicorePort& port) {
    port.scalar(static_cast<unsigned>(kCopyBegin / kClock - clocks(port)));
    port.issue(copy);
    return 0;
  });
  EXPECT_EQ(bench.memory.held, 0);
  return held;
}

TEST(AicoreCopy, HoldsTranslationsUntilItsBytesHaveMoved) {
  AicoreBench bench;
  CopyOut out;
  out.to = kData;
  out.from = {LocalBuffer::kUb, 0};
  out.row_bytes = 4;
  const SimTime sent = kCopyBegin + (kHandOver + kIssue) * kClock;
  const auto held = held_at(bench, out, {sent - 1, sent + 1, sent + kWait * kClock - 1});
  EXPECT_EQ(held, (std::vector<int>{0, 1, 1})) << "its last response is over by then";
}

TEST(AicoreCopy, HoldsTranslationsFromWhenTheLastIsKnown) {
  AicoreBench bench;
  const SimTime walk = 700 * kClock;
  bench.walk = [&](std::uint64_t address) { return address == kData ? walk : 0; };
  const SimTime sent = kCopyBegin + (kHandOver + kIssue) * kClock;
  const auto held = held_at(bench, copy_in(LocalBuffer::kL1, 1, 16'384, 0),
                            {sent + walk - 1, sent + walk + 1, sent + walk + kLatency - 1});
  EXPECT_EQ(held, (std::vector<int>{0, 1, 1})) << "three other answers are there before";
}

TEST(AicoreCopy, WithARequestStillToBeSentHoldsNothing) {
  AicoreBench bench;
  const SimTime last = kCopyBegin + (kHandOver + kIssue + 3 * 32) * kClock;  // request
  const auto held = held_at(bench, copy_in(LocalBuffer::kL1, 1, 16'384, 0), {last - 1, last + 1});
  EXPECT_EQ(held, (std::vector<int>{0, 1}));
}

TEST(AicoreCopy, OfDeviceLocalAddressesHoldsNothing) {
  AicoreBench bench;
  int most = 0;
  for (SimTime t = 1; t < 1'000; ++t) {
    bench.at(t * kClock, [&] { most = std::max(most, bench.memory.held); });
  }
  measure<CopyIn>(bench, {copy_in(LocalBuffer::kL1, 1, 16'384, 0)});
  EXPECT_EQ(most, 0);
}

TEST(AicoreCopy, ThatIsStoppedOrFaultsHoldsNothing) {
  AicoreBench bench;
  const auto body = [&](AicorePort& port) {
    for (unsigned i = 0; i < 3; ++i) port.issue(copy_in(LocalBuffer::kUb, 1, 4096, 0));
    auto copy = copy_in(LocalBuffer::kUb, 1, 4096, 0);
    copy.from = bench.memory.end;
    port.issue(copy);
    port.pipe_barrier(Pipe::kAll);
    return 0;
  };
  bench.run_one(body);
  EXPECT_EQ(bench.memory.held, 0);
  bench.latency = 10'000 * kClock;
  bench.at(model::sim_now(), [&] { bench.launch(0, body, 2); });
  bench.at(model::sim_now() + 25'000 * kClock, [&] { bench.cores.function_reset(0); });
  bench.run();
  EXPECT_EQ(bench.memory.held, 0);
}

TEST(AicoreCopy, ToMemoryThatIsNotMappedFaults) {
  AicoreBench bench;
  const auto end = bench.run_one([&](AicorePort& port) {
    auto copy = copy_in(LocalBuffer::kUb, 1, 4096, 0);
    copy.from = bench.memory.end;
    port.issue(copy);
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });

  EXPECT_EQ(end.fault, FaultCode::kTranslation);
  EXPECT_EQ(end.address, bench.memory.end);
}

}  // namespace
}  // namespace npu::test
