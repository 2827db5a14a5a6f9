// SPDX-License-Identifier: Apache-2.0
// The driver's page tables, end to end: mapping and unmapping per second of real time, with the
// posted writes to the tables and the card dropping its translations.
#include <benchmark/benchmark.h>

#include "npu/driver/device.hpp"
#include "tests/performance/on_card.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kRounds = 20'000;

Status map_and_unmap(platform::Platform& platform, Measurement& measured) {
  auto device = driver::Device::open_index(platform, 0);
  if (!device) return forward_error(device);
  auto& space = (*device)->address_space();
  const auto memory = space.create_memory(driver::kPageSize);
  if (!memory) return forward_error(memory);
  const auto at = space.reserve(driver::kPageSize);
  if (!at) return forward_error(at);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    auto ok = space.map(*at, driver::kPageSize, *memory);
    if (ok) ok = space.set_access(*at, driver::kPageSize, driver::Access::kReadWrite);
    if (ok) ok = space.unmap(*at, driver::kPageSize);
    if (!ok) return ok;
  }
  measured.seconds = watch.seconds();
  measured.items = kRounds;
  return (*device)->shutdown();
}

void map_unmap(benchmark::State& state) {
  measure_isolated(state, [] { return measure_on_card(map_and_unmap); });
}
BENCHMARK(map_unmap)->Name("vmm/map_unmap")->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
