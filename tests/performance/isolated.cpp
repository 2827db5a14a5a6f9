// SPDX-License-Identifier: Apache-2.0
#include "tests/performance/isolated.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace npu::bench {

namespace {

[[noreturn]] void child(int result, const std::function<Measurement()>& body) {
  const Measurement measured = body();
  const bool sent = write(result, &measured, sizeof measured) == sizeof measured;
  std::fflush(nullptr);
  // No destructors: they belong to the parent's objects.
  _exit(sent ? 0 : 1);
}

}  // namespace

Measurement run_isolated(const std::function<Measurement()>& body) {
  Measurement measured;
  measured.seconds = -1;
  std::array<int, 2> result{};
  if (pipe(result.data()) != 0) return measured;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) child(result[1], body);
  close(result[1]);
  Measurement received;
  const bool complete = pid > 0 && ::read(result[0], &received, sizeof received) == sizeof received;
  close(result[0]);
  if (pid < 0) return measured;
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!complete || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return measured;
  received.peak_rss_mib = static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
  return received;
}

void measure_isolated(benchmark::State& state, const std::function<Measurement()>& body) {
  std::uint64_t items = 0;
  double peak = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const Measurement measured = run_isolated(body);
    if (measured.seconds < 0) {
      state.SkipWithError("the measuring process failed");
      return;
    }
    state.SetIterationTime(measured.seconds);
    items += measured.items;
    peak = measured.peak_rss_mib > peak ? measured.peak_rss_mib : peak;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["rss_mib"] = peak;
}

}  // namespace npu::bench
