// SPDX-License-Identifier: Apache-2.0
#include "npu/sim/run.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "npu/sim/simulator.hpp"

namespace npu::sim {
namespace {

int failed(const Error& error, char* message, std::size_t size) {
  if (message != nullptr && size > 0) {
    const std::size_t length = std::min(error.context.size(), size - 1);
    std::memcpy(message, error.context.data(), length);
    message[length] = 0;
  }
  return 1 + static_cast<int>(error.code);
}

Status run(const char* config, const std::vector<std::string>& overrides, ProgramFunction program,
           void* user) {
  const auto simulator = Simulator::create(config, overrides);
  if (!simulator) return forward_error(simulator);
  return (*simulator)->run([=](platform::Platform& platform) { program(platform, user); });
}

}  // namespace

extern "C" NPU_SIM_API int npu_sim_run(const char* config, const char* const* overrides,
                                       std::size_t count, ProgramFunction program, void* user,
                                       char* message, std::size_t size) {
  try {
    const auto status = run(config, {overrides, overrides + count}, program, user);
    return status ? 0 : failed(status.error(), message, size);
  } catch (const std::exception& error) {
    return failed({ErrorCode::kIo, error.what()}, message, size);
  }
}

static_assert(std::is_same_v<decltype(&npu_sim_run), RunFunction>);

}  // namespace npu::sim
