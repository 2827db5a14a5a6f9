// SPDX-License-Identifier: Apache-2.0
// Wall time of the whole program for the smallest run: load, elaborate, enumerate, report.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

namespace npu::bench {
namespace {

// npusim lies beside this program.
std::string npusim_path() {
  std::string self(PATH_MAX, '\0');
  const auto length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + "npusim";
}

bool run_once(const std::string& program) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), "--config", NPU_SOURCE_DIR "/configs/910b.yaml", "run",
          "enumerate", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

void startup(benchmark::State& state) {
  const auto program = npusim_path();
  for (auto unused : state) {
    static_cast<void>(unused);
    if (!run_once(program)) {
      state.SkipWithError("npusim run enumerate failed");
      return;
    }
  }
}
BENCHMARK(startup)->Name("startup")->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::bench
