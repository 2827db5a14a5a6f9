// SPDX-License-Identifier: Apache-2.0
// Configuration spaces in the forms that pciutils reads. Formats: lspci(8) option -F, and the
// files of Linux' /sys/bus/pci (Documentation/ABI/testing/sysfs-bus-pci).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "model/pcie/firmware.hpp"
#include "npu/platform/pci.hpp"

namespace npu::model {

// A 32-bit read of a function's configuration space, however it is done.
using ConfigReader = std::function<std::uint32_t(platform::Bdf, std::uint32_t offset)>;

// The slot line "BB:DD.F name" and all 4096 bytes, as `lspci -F` wants them.
std::string lspci_dump(const ConfigReader& read, platform::Bdf bdf, const std::string& name);
// Name of a function by its class, for the slot line.
std::string class_name(const ConfigReader& read, platform::Bdf bdf);

// Name and content of each file that Linux has for a function, `config` first.
std::vector<std::pair<std::string, std::string>> sysfs_files(const FoundFunction& function,
                                                             const ConfigReader& read);
// A tree for `lspci -A linux-sysfs -O sysfs.path=ROOT`. An error: what the system has
// against writing `file`.
std::error_code export_sysfs(const std::filesystem::path& root,
                             const std::vector<FoundFunction>& functions, const ConfigReader& read,
                             std::string& file);

}  // namespace npu::model
