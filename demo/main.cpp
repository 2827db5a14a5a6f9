// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "demo/options.hpp"

namespace {

// Line by line: who reads them may take the card away when one says so.
void print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
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
    Session session(platform, options->session);
    all_ok = run_steps(session, options->selection, print);
  };
  const auto ran =
      options->on_simulator ? run_on_simulator(simulator, program) : run_on_vfio(program);
  if (!ran) return complain(ran.error().message());
  return all_ok ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
