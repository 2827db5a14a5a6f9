// SPDX-License-Identifier: Apache-2.0
// PCI functions as text.
#pragma once

#include <string>

#include "tools/cli/pci_image.hpp"

namespace npu::cli {

// "01:00.0 Processing accelerator: 19e5:d110 (rev 10)" and, by `verbosity`: 1 BARs, NUMA node,
// capabilities by name; 2 and more their fields.
std::string list_function(const PciImage& image, unsigned verbosity);

// The line of verbosity 0 and all of configuration space, as `lspci -F` reads it.
std::string dump_function(const PciImage& image);

// The lines of one capability at `offset`: its name and, with `details`, its fields.
std::string list_capability(const PciImage& image, std::uint32_t offset, bool details);
std::string list_extended_capability(const PciImage& image, std::uint32_t offset, bool details);

}  // namespace npu::cli
