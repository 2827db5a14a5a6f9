// SPDX-License-Identifier: Apache-2.0
// npusim sysfs: the machine's PCI functions for unmodified lspci and setpci.
#include "machine/composed_machine.hpp"
#include "model/pcie/config_dump.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/sysfs_mount.hpp"

namespace npu::cli {
namespace {

// What there is now, virtual functions included.
std::vector<model::FoundFunction> all_functions(model::System& system) {
  auto found = system.fabric().functions();
  for (unsigned card = 0; card < system.cards(); ++card) {
    for (const auto& function : system.fabric().virtual_functions(card)) found.push_back(function);
  }
  return found;
}

Outcome export_tree(model::System& system, const std::string& folder) {
  std::string bad;
  const auto read = [&](platform::Bdf bdf, std::uint32_t offset) {
    return system.host().pci().read32(bdf, offset);
  };
  const auto error = model::export_sysfs(folder, all_functions(system), read, bad);
  if (!error) return {};
  return tl::unexpected(to_failure({code_of_errno(error.value()), {}},
                                   "sysfs " + shortened(folder, kShownPath) + ": cannot write " +
                                       shortened(bad, kShownPath) + ": " +
                                       errno_text(error.value())));
}

Outcome mount_tree(model::System& system, const std::string& folder) {
  StopSignals signals;
  SysfsMount mount(system.host().pci(), [&] { return all_functions(system); });
  if (auto mounted = mount.mount(folder); !mounted) {
    return bad_input("sysfs " + shortened(folder, kShownPath) + ": " + mounted.error().context);
  }
  auto said =
      print("mounted on " + folder + "; try: lspci -A linux-sysfs -O sysfs.path=" + folder + "\n");
  if (!said) return said;
  mount.run(signals.file());
  return {};
}

}  // namespace

Outcome show_sysfs(const Options& options) {
  if (options.arguments.size() != 1) return bad_input("sysfs: give one folder");
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  sim::ComposedMachine machine(*config, sim::SoftwareTime::kAccessesOnly);
  Outcome done;
  const Status ran = machine.system.run([&](platform::Platform&) {
    const auto& folder = options.arguments[0];
    done = options.live ? mount_tree(machine.system, folder) : export_tree(machine.system, folder);
  });
  return ran ? done : failure("sysfs: " + ran.error().message());
}

}  // namespace npu::cli
