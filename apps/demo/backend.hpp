// SPDX-License-Identifier: Apache-2.0
// The machine that the card is in: this one, through VFIO, or the simulator's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/platform.hpp"

namespace npu::demo {

using Program = std::function<void(platform::Platform&)>;

struct SimulatorChoice {
  std::string library;  // path or name of libnpusim; empty: in `folder`, or where the loader looks
  std::string folder;
  std::string config;                  // path or name of a chip or system
  std::vector<std::string> overrides;  // "key=value"
};

// Where libnpudrv is, which libnpusim is installed beside; empty: not known.
std::string driver_folder();
// What driver::open_vfio() says.
Status run_on_vfio(const Program& program);
// kUnsupported: there is no such library here, or it is another one; what npu_sim_run() says.
Status run_on_simulator(const SimulatorChoice& choice, const Program& program);

}  // namespace npu::demo
