// SPDX-License-Identifier: Apache-2.0
// Wall time and resident memory of whole runs of the program: load, elaborate, run, report.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/folders.hpp"

extern "C" void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                            float alpha, const float* a, int lda, const float* b, int ldb,
                            float beta, float* c, int ldc);

namespace npu::bench {
namespace {

const std::string kSourceCard = source_dir() + "/configs/910b.yaml";
const std::string kSku = source_dir() + "/configs/910b2.yaml";

// npusim lies beside this program.
std::string npusim_path() {
  std::string self(PATH_MAX, '\0');
  const auto length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + "npusim";
}

struct Ended {
  bool ok = false;
  double peak_rss_mib = 0;
};

Ended run_once(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {npusim_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  Ended ended;
  ended.ok = pid > 0 && wait4(pid, &status, 0, &used) == pid && WIFEXITED(status) &&
             WEXITSTATUS(status) == 0;
  ended.peak_rss_mib = static_cast<double>(used.ru_maxrss) / 1024;
  return ended;
}

void program(benchmark::State& state, const std::vector<std::string>& arguments) {
  double rss = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const Ended ended = run_once(arguments);
    if (!ended.ok) {
      state.SkipWithError("npusim failed");
      return;
    }
    rss = std::max(rss, ended.peak_rss_mib);
  }
  state.counters["rss_mib"] = rss;
}

std::vector<std::string> free_of_charge(std::vector<std::string> arguments) {
  for (const char* key : {"host.instructions=free", "firmware.instructions=free"}) {
    arguments.insert(arguments.end(), {"--set", key});
  }
  return arguments;
}

std::vector<std::string> paged_attention() {
  return {"--config", kSku, "run", "graph", "--set", "graph=paged_attention"};
}

std::vector<std::string> gemm(const char* functional) {
  return {"--config", kSku,        "run",   "matmul",
          "--set",    "m=4096",    "--set", "n=4096",
          "--set",    "k=4096",    "--set", std::string("core.functional=") + functional,
          "--set",    "check=none"};
}

// What the arithmetic alone costs on this machine, in one thread.
void blas(benchmark::State& state) {
  constexpr int kSize = 4096;
  const std::vector<float> a(std::size_t{kSize} * kSize, 0.5F), b(a.size(), 0.25F);
  std::vector<float> c(a.size());
  for (auto unused : state) {
    static_cast<void>(unused);
    cblas_sgemm(101, 111, 111, kSize, kSize, kSize, 1, a.data(), kSize, b.data(), kSize, 0,
                c.data(), kSize);  // row major, not transposed
    benchmark::DoNotOptimize(c.data());
  }
}

BENCHMARK_CAPTURE(program, startup, {"--config", kSourceCard, "run", "enumerate"})
    ->Name("startup")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(program, gemm, gemm("off"))
    ->Name("gemm/4096")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(program, gemm_free, free_of_charge(gemm("off")))
    ->Name("gemm/4096_free")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(program, gemm_functional, gemm("on"))
    ->Name("gemm/4096_functional")
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(blas)->Name("gemm/4096_blas")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(program, paged_attention, paged_attention())
    ->Name("graph/paged_attention")
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(program, paged_attention_free, free_of_charge(paged_attention()))
    ->Name("graph/paged_attention_free")
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::bench
