// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exec_work.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "apps/compat/protocol/work_meter.hpp"
#include "npu/base/file_descriptor.hpp"

namespace npu::cli {

using model::ProgramWork;

Outcome check_work(const model::SystemConfig& config) {
  if (config.programs.work != ProgramWork::kInstructions) return {};
  const FileDescriptor counter(compat::open_instruction_counter());
  if (!counter) {
    return bad_input(
        std::string(
            "exec: host.programs.work=instructions: this machine does not count instructions: ") +
        std::strerror(errno));
  }
  return {};
}

const char* work_variable(const model::SystemConfig& config) {
  switch (config.programs.work) {
    case ProgramWork::kInstructions:
      return compat::kWorkIsInstructions;
    case ProgramWork::kWall:
      return compat::kWorkIsWallTime;
    case ProgramWork::kFree:
      break;
  }
  return nullptr;
}

Picoseconds time_of_work(const model::SystemConfig& config, std::uint64_t measured) {
  constexpr double kMost = 60e12, kPerNanosecond = 1e3, kPerSecond = 1e12, kWhole = 100;
  const double done = static_cast<double>(measured) * config.programs.work_percent / kWhole;
  double time = done * kPerNanosecond;
  if (config.programs.work == ProgramWork::kInstructions) {
    const double rate = static_cast<double>(config.cpu.clock_hz) * config.cpu.ipc_percent / kWhole;
    time = done / rate * kPerSecond;
  }
  return Picoseconds(static_cast<std::int64_t>(std::min(time, kMost)));
}

}  // namespace npu::cli
