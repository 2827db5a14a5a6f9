// SPDX-License-Identifier: Apache-2.0
// Measuring in a process of its own, because a SystemC kernel elaborates once per process.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace npu::bench {

struct Measurement {
  double seconds = 0;       // of the part that counts; < 0: failed
  std::uint64_t items = 0;  // commands, requests, ... done in that time
  double peak_rss_mib = 0;  // of the child; filled by run_isolated()
};

// Forks, runs `body` in the child and returns what it measured. A child that fails prints why on
// stderr and leaves seconds < 0.
Measurement run_isolated(const std::function<Measurement()>& body);

// The loop of a benchmark that measures in children: manual time, items per second and rss_mib.
// Register it with ->UseManualTime(), or with ->Apply(three_in_ms).
void measure_isolated(benchmark::State& state, const std::function<Measurement()>& body);

// Three such measurements, in milliseconds.
inline void three_in_ms(benchmark::internal::Benchmark* measured) {
  measured->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
}

// Wall time since construction.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace npu::bench
