// SPDX-License-Identifier: Apache-2.0
// Calls of the C API by a program of its own, per second of real time: the program asks a stream
// whether it is done, which the driver answers.
#include <benchmark/benchmark.h>

#include "apps/exec/server.hpp"
#include "tests/performance/on_card.hpp"
#include "tests/support/folders.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::bench {
namespace {

constexpr std::uint64_t kCalls = 300'000;

Status calls(platform::Platform& platform, Measurement& measured) {
  exec::ServerOptions options;
  options.programs = {{binary_dir() + "/bin/bench_caller", std::to_string(kCalls)}};
  options.cards = {{"Ascend910B"}};
  options.images = [](std::string_view name) { return workloads::program_image(name); };
  const Stopwatch watch;
  const auto served = exec::serve_programs(platform, options);
  measured.seconds = watch.seconds();
  if (!served) return forward_error(served);
  if (served->programs.front().exit_code != 0)
    return fail(ErrorCode::kWrongData, "the program has failed");
  measured.items = kCalls;
  return {};
}

void exec_calls(benchmark::State& state) {
  measure_isolated(state, [] { return measure_on_card(calls); });
}
BENCHMARK(exec_calls)->Name("exec/calls")->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
