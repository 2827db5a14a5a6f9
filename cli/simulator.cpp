// SPDX-License-Identifier: Apache-2.0
#include "cli/simulator.hpp"

#include "model/system.hpp"
#include "workloads/simulator/system_view.hpp"

namespace npu::cli {

Status run_on_simulator(const model::SystemConfig& config,
                        const std::function<void(Machine&)>& program, Listener* listener) {
  model::System system(config);
  workloads::SystemView view(system);
  if (listener != nullptr) listener->begin(view);
  const Status ran = system.run([&](platform::Platform& host) {
    Machine machine{host, view, view};
    program(machine);
  });
  if (listener != nullptr) listener->end(view, view);
  return ran;
}

}  // namespace npu::cli
