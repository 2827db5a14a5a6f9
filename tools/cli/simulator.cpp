// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/simulator.hpp"

#include "machine/composed_machine.hpp"
#include "machine/gdb/debugger.hpp"
#include "tools/cli/management/probed_card.hpp"

namespace npu::cli {

Status run_on_simulator(const model::SystemConfig& config,
                        const std::function<void(Machine&)>& program,
                        const std::vector<Listener*>& listeners, Observer* observer,
                        const std::function<void(workloads::SimulatorView&)>& stopped,
                        gdb::Debugger* debugger) {
  sim::ComposedMachine composed(config);
  auto& system = composed.system;
  auto& view = composed.view;
  for (auto* const listener : listeners) listener->begin(view);
  if (observer != nullptr) {
    system.attend(observer->raised(), [&system, &view, observer, debugger] {
      if (debugger != nullptr) debugger->look();
      return system.cpus().executed().outside([&] { return observer->look(view); });
    });
  }
  if (debugger != nullptr) debugger->attach(system);
  const Status ran = system.run([&](platform::Platform& host) {
    Machine machine{host,
                    view,
                    view,
                    [&system] { return probe_cards(system); },
                    [&system](const auto& look) { system.cpus().executed().outside(look); },
                    [&system](Picoseconds time) { system.cpus().charge(time); },
                    [&system] { system.cpus().synchronise(); },
                    composed.faults,
                    system};
    program(machine);
  });
  if (debugger != nullptr) debugger->detach();
  if (!ran && stopped) stopped(view);
  for (auto* const listener : listeners) listener->end(view, view);
  return ran;
}

}  // namespace npu::cli
