// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "apps/demo/options.hpp"

namespace {

int output_error = 0;  // errno of the first line that could not be written

// Line by line: who reads them may take the card away when one says so.
void print(const std::string& line) {
  const bool written = std::puts(line.c_str()) >= 0 && std::fflush(stdout) == 0;
  if (!written && output_error == 0) output_error = errno;
}

// A standard descriptor that the caller closed must not become a device that is opened later.
void hold_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) return;
  }
}

int complain(const std::string& what) {
  std::fprintf(stderr, "npudemo: %s\n", what.c_str());
  return 2;
}

int run(int count, const char* const* arguments) {
  using namespace npu::demo;
  const auto options = parse_options(count, arguments);
  if (!options) return complain(options.error().context);
  if (!options->answer.empty()) {
    print(options->answer);
    return 0;
  }
  auto simulator = options->simulator;
  simulator.folder = driver_folder();
  bool all_ok = false;
  const Program program = [&](npu::platform::Platform& platform) {
    all_ok = run_steps(platform, options->request, print);
  };
  const auto ran =
      options->on_simulator ? run_on_simulator(simulator, program) : run_on_vfio(program);
  if (!ran) return complain(ran.error().message());
  return all_ok ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  hold_standard_descriptors();
  try {
    const int code = run(count, arguments);
    if (output_error == 0) return code;
    const auto reason = std::system_category().message(output_error);
    std::fprintf(stderr, "npudemo: standard output: cannot be written: %s\n", reason.c_str());
    return code != 0 ? code : 1;
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
