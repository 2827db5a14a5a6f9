// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/config_dump.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr std::uint32_t kRow = 16;
// Linux' struct resource flags.
constexpr std::uint64_t kMemory = 0x200, kPrefetch = 0x2000, kMemory64 = 0x100000,
                        kSizeAlign = 0x40000;

std::string read_space(const ConfigReader& read, platform::Bdf bdf) {
  std::string bytes;
  bytes.reserve(pci::kConfigSpaceSize);
  for (std::uint32_t offset = 0; offset < pci::kConfigSpaceSize; offset += 4) {
    const std::uint32_t value = read(bdf, offset);
    for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  return bytes;
}

std::string resource_line(const PciResource& bar) {
  if (bar.size == 0) return fmt::format("0x{:016x} 0x{:016x} 0x{:016x}\n", 0, 0, 0);
  const std::uint64_t flags = kMemory | kMemory64 | kSizeAlign | bar.flags |
                              (bar.flags & pci::kBarPrefetchable ? kPrefetch : 0);
  return fmt::format("0x{:016x} 0x{:016x} 0x{:016x}\n", bar.address, bar.address + bar.size - 1,
                     flags);
}

// Six BARs and the expansion ROM.
std::string resource_file(const FoundFunction& function) {
  std::string text;
  for (const auto& bar : function.bars) text += resource_line(bar);
  return text + resource_line({});
}

}  // namespace

std::string lspci_dump(const ConfigReader& read, platform::Bdf bdf, const std::string& name) {
  const std::string bytes = read_space(read, bdf);
  std::string text = fmt::format("{} {}\n", to_string(bdf), name);
  for (std::uint32_t row = 0; row < pci::kConfigSpaceSize; row += kRow) {
    text += fmt::format("{:02x}:", row);
    for (std::uint32_t i = 0; i < kRow; ++i) {
      text += fmt::format(" {:02x}", static_cast<unsigned char>(bytes[row + i]));
    }
    text += '\n';
  }
  return text + '\n';
}

std::string class_name(const ConfigReader& read, platform::Bdf bdf) {
  switch (read(bdf, pci::kRevision) >> 16) {
    case 0x0604:
      return "PCI bridge";
    case 0x1200:
      return "Processing accelerators";
    default:
      return "Device";
  }
}

std::vector<std::pair<std::string, std::string>> sysfs_files(const FoundFunction& function,
                                                             const ConfigReader& read) {
  const std::uint32_t id = function.id != 0 ? function.id : read(function.bdf, pci::kVendorId);
  return {
      {"config", read_space(read, function.bdf)},
      {"resource", resource_file(function)},
      {"vendor", fmt::format("0x{:04x}\n", id & 0xFFFF)},
      {"device", fmt::format("0x{:04x}\n", id >> 16)},
      {"class", fmt::format("0x{:06x}\n", read(function.bdf, pci::kRevision) >> 8)},
      {"irq", fmt::format("{}\n", read(function.bdf, pci::kInterruptLine) & 0xFF)},
      {"numa_node", fmt::format("{}\n", function.numa_node)},
  };
}

std::error_code export_sysfs(const std::filesystem::path& root,
                             const std::vector<FoundFunction>& functions, const ConfigReader& read,
                             std::string& file) {
  for (const auto& function : functions) {
    const auto folder = root / "devices" / ("0000:" + to_string(function.bdf));
    file = folder.string();
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) return failed;
    for (const auto& [name, text] : sysfs_files(function, read)) {
      file = (folder / name).string();
      errno = 0;
      std::ofstream out(file, std::ios::binary);
      out << text;
      out.close();
      if (!out) return {errno != 0 ? errno : EIO, std::generic_category()};
    }
  }
  return {};
}

}  // namespace npu::model
