// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/pci_listing.hpp"
#include "tools/cli/simulator.hpp"

namespace npu::cli {

Outcome list_pci(const Options& options) {
  if (auto ok = expect_at_most(0, "lspci", options.arguments); !ok) return ok;
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  std::vector<PciImage> images;
  const Status ran = run_on_simulator(
      *config, [&](Machine& machine) { images = read_pci_images(machine.platform); });
  if (!ran) return failure("lspci: " + ran.error().message());
  std::string text;
  for (const auto& image : images) {
    text += options.hex_dump ? dump_function(image) : list_function(image, options.verbosity);
  }
  return print(text);
}

}  // namespace npu::cli
