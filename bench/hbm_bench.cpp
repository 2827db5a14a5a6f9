// SPDX-License-Identifier: Apache-2.0
// Requests per second through the HBM's TLM socket, on the source documents' card.
// An item is a request for one burst of 32 bytes. hbm/seq_rd asks for them 4 KiB at a time, as a
// copy engine does; hbm/seq_rd_single and hbm/rand_rd in a transaction each.
#include <benchmark/benchmark.h>

#include <memory>

#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

// SystemC elaborates once per process: all benchmarks share one memory.
test::HbmSystem& shared_system() {
  static auto* system = new test::HbmSystem(test::card_config());
  return *system;
}

std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Keeps `outstanding` requests of `length` bytes on the way until `count` were made.
template <class NextAddress>
void run_requests(unsigned count, unsigned outstanding, unsigned length, NextAddress next) {
  static unsigned char buffer[65536];
  auto& port = shared_system().port();
  unsigned issued = 0;
  const auto issue = [&] {
    ++issued;
    port.issue(false, next(), buffer, length);
  };
  port.on_response = [&](auto&) {
    if (issued < count) issue();
  };
  while (issued < std::min(outstanding, count)) issue();
  test::HbmSystem::run();
  port.on_response = nullptr;
}

constexpr Bytes kSpan = Bytes{4} << 30;
constexpr unsigned kBurst = 32;

void sequential(benchmark::State& state, unsigned length, unsigned count, unsigned outstanding) {
  std::uint64_t address = 0;
  for (auto _ : state) {
    run_requests(count, outstanding, length, [&] {
      address = (address + length) % kSpan;
      return address;
    });
  }
  state.SetItemsProcessed(state.iterations() * count * (length / kBurst));
}

void seq_rd(benchmark::State& state) {
  sequential(state, 4096, 8192, 128);
}
void seq_rd_single(benchmark::State& state) {
  sequential(state, kBurst, 200'000, 2048);
}

void rand_rd(benchmark::State& state) {
  constexpr unsigned kCount = 200'000;
  std::uint64_t seed = 12345;
  for (auto _ : state) {
    run_requests(kCount, 2048, kBurst,
                 [&] { return next_random(seed) % (kSpan / kBurst) * kBurst; });
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}

BENCHMARK(seq_rd)->Name("hbm/seq_rd")->Unit(benchmark::kMillisecond);
BENCHMARK(seq_rd_single)->Name("hbm/seq_rd_single")->Unit(benchmark::kMillisecond);
BENCHMARK(rand_rd)->Name("hbm/rand_rd")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::model
