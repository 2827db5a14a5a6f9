// SPDX-License-Identifier: Apache-2.0
// The buddy allocator: a step costs the same with few and with many blocks.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "npu/driver/buddy_allocator.hpp"

namespace npu::driver {
namespace {

// Repeatable, and cheap next to what is measured.
class Random {
 public:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

// One page allocated and freed while `live` other pages are in use.
void allocate_free(benchmark::State& state) {
  BuddyAllocator allocator(56_GiB);
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    benchmark::DoNotOptimize(allocator.allocate(kPageSize));
  }
  for (auto _ : state) {
    const auto memory = allocator.allocate(kPageSize);
    benchmark::DoNotOptimize(allocator.free(memory->address));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(allocate_free)->Name("allocator/allocate_free")->Arg(10)->Arg(1000)->Arg(20'000);

// A random one of `live` blocks of 2 MiB given back and a new one taken: the free blocks are spread
// over the whole memory.
void replace_any(benchmark::State& state) {
  BuddyAllocator allocator(56_GiB);
  Random random;
  std::vector<DeviceAddress> live;
  const auto count = static_cast<std::size_t>(state.range(0));
  while (live.size() < count) live.push_back(allocator.allocate(kPageSize)->address);
  for (auto _ : state) {
    auto& block = live[random.next() % count];
    benchmark::DoNotOptimize(allocator.free(block));
    block = allocator.allocate(kPageSize)->address;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(replace_any)->Name("allocator/replace_any")->Arg(10)->Arg(1000)->Arg(20'000);

// Random sizes and lifetimes over 56 GiB, about three quarters full.
void churn(benchmark::State& state) {
  BuddyAllocator allocator(56_GiB);
  Random random;
  std::vector<DeviceAddress> live;
  std::uint64_t refused = 0;
  for (auto _ : state) {
    const bool full = allocator.statistics().used() > 42_GiB;
    if (!live.empty() && (full || random.next() % 2)) {
      const auto index = random.next() % live.size();
      benchmark::DoNotOptimize(allocator.free(live[index]));
      live[index] = live.back();
      live.pop_back();
    } else {
      const auto memory = allocator.allocate(1 + (random.next() % 512_MiB >> random.next() % 8));
      if (memory) live.push_back(memory->address);
      refused += memory ? 0 : 1;
    }
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["refused"] = static_cast<double>(refused);
}
BENCHMARK(churn)->Name("allocator/churn");

// A request that no single block can hold.
void run_across_blocks(benchmark::State& state) {
  BuddyAllocator allocator(56_GiB);
  benchmark::DoNotOptimize(allocator.allocate(4_GiB));
  for (auto _ : state) {
    const auto memory = allocator.allocate(52_GiB);
    benchmark::DoNotOptimize(allocator.free(memory->address));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(run_across_blocks)->Name("allocator/run_across_blocks");

}  // namespace
}  // namespace npu::driver
