// SPDX-License-Identifier: Apache-2.0
// The simulator is looked for when it is asked for, so that the same program runs where there is
// none.
#include <dlfcn.h>

#include <array>

#include "apps/demo/backend.hpp"
#include "npu/sim/run.hpp"

namespace npu::demo {
namespace {

constexpr char kLibrary[] = "libnpusim.so.0";

void* open(const std::string& name) {
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void call(platform::Platform& platform, void* program) {
  (*static_cast<const Program*>(program))(platform);
}

}  // namespace

Status run_on_simulator(const SimulatorChoice& choice, const Program& program) {
  const std::string name = choice.library.empty() ? kLibrary : choice.library;
  void* library = nullptr;
  if (choice.library.empty() && !choice.folder.empty()) library = open(choice.folder + "/" + name);
  if (library == nullptr) library = open(name);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return fail(ErrorCode::kUnsupported,
                std::string("no simulator here: ") + (reason == nullptr ? name : reason));
  }
  const auto run = reinterpret_cast<sim::RunFunction>(::dlsym(library, sim::kRunFunctionName));
  if (run == nullptr) {
    return fail(ErrorCode::kUnsupported, name + " has no function npu_sim_run");
  }
  std::vector<const char*> overrides;
  for (const auto& text : choice.overrides) overrides.push_back(text.c_str());
  std::array<char, 1024> message{};
  Program copy = program;
  const int code = run(choice.config.c_str(), overrides.data(), overrides.size(), call, &copy,
                       message.data(), message.size());
  // The library stays: SystemC's threads and statics live as long as the process.
  if (code == 0) return {};
  return fail(static_cast<ErrorCode>(code - 1), message.data());
}

}  // namespace npu::demo
