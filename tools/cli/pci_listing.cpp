// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/pci_listing.hpp"

#include <fmt/format.h>

#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"

namespace npu::cli {
namespace {

namespace pci = abi::pci;

std::string class_name(std::uint32_t code) {
  switch (code >> 8) {
    case 0x0604:
      return "PCI bridge";
    case 0x0600:
      return "Host bridge";
    case 0x1200:
      return "Processing accelerator";
    default:
      return fmt::format("Class {:04x}", code >> 8);
  }
}

std::string device_name(std::uint16_t vendor, std::uint16_t device) {
  if (vendor != abi::kVendorId) return "";
  switch (device) {
    case abi::kDevice910:
      return " 910";
    case abi::kDevice910b:
      return " 910B";
    case abi::kDeviceShipping910b:  // one id for the family
      return " 910B1/B2/B3/B4";
    case abi::kDevice950:
    case abi::kDeviceShipping950:
      return " 950";
    case abi::kDeviceShipping910a:
      return " 910A";
    case abi::kDeviceShipping910c:
      return " 910C";
    default:
      return "";
  }
}

std::string size_text(std::uint64_t size) {
  static constexpr char kUnits[] = {' ', 'K', 'M', 'G', 'T'};
  unsigned unit = 0;
  while (size >= 1024 && size % 1024 == 0 && unit < 4) {
    size /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{}", size) : fmt::format("{}{}", size, kUnits[unit]);
}

std::string head(const PciImage& image) {
  const std::uint32_t code = image.dword(pci::kRevision) >> 8;
  const std::uint16_t vendor = image.word(pci::kVendorId), device = image.word(pci::kDeviceId);
  return fmt::format("{} {}: {:04x}:{:04x}{} (rev {:02x})\n", to_string(image.bdf),
                     class_name(code), vendor, device, device_name(vendor, device),
                     image.byte(pci::kRevision));
}

std::string bars(const PciImage& image) {
  std::string text;
  for (unsigned bar = 0; bar < image.bar_sizes.size(); ++bar) {
    if (image.bar_sizes[bar] == 0) continue;
    const std::uint32_t low = image.dword(pci::kBar0 + 4 * bar);
    const bool wide = (low & pci::kBarTypeMask) == pci::kBarType64;
    const std::uint64_t high = wide && bar < 5 ? image.dword(pci::kBar0 + 4 * bar + 4) : 0;
    text += fmt::format("\tRegion {}: Memory at {:x} ({}-bit, {}prefetchable) [size={}]\n", bar,
                        high << 32 | (low & ~pci::kBarFlagsMask), wide ? 64 : 32,
                        (low & pci::kBarPrefetchable) != 0 ? "" : "non-",
                        size_text(image.bar_sizes[bar]));
  }
  return text;
}

std::string windows(const PciImage& image) {
  const std::uint64_t base = std::uint64_t{image.word(pci::kMemoryBase)} << 16;
  const std::uint64_t limit = std::uint64_t{image.word(pci::kMemoryLimit)} << 16 | 0xFFFFF;
  const auto wide = [&](std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{image.dword(high)} << 32 | std::uint64_t(image.word(low) & 0xFFF0U) << 16;
  };
  const std::uint64_t from = wide(pci::kPrefetchBase, pci::kPrefetchBaseUpper);
  const std::uint64_t to = wide(pci::kPrefetchLimit, pci::kPrefetchLimitUpper) | 0xFFFFF;
  std::string text = fmt::format("\tBus: primary={:02x}, secondary={:02x}, subordinate={:02x}\n",
                                 image.byte(pci::kPrimaryBus), image.byte(pci::kSecondaryBus),
                                 image.byte(pci::kSubordinateBus));
  if (base <= limit) text += fmt::format("\tMemory behind bridge: {:x}-{:x}\n", base, limit);
  if (from <= to) text += fmt::format("\tPrefetchable memory behind bridge: {:x}-{:x}\n", from, to);
  return text;
}

std::string capabilities(const PciImage& image, bool details) {
  std::string text;
  if ((image.word(pci::kStatus) & pci::kStatusCapabilities) != 0) {
    std::uint32_t offset = image.byte(pci::kCapabilityPointer) & 0xFCU;
    for (int steps = 0; offset >= 0x40 && steps < 48; ++steps) {
      text += list_capability(image, offset, details);
      offset = image.byte(offset + 1) & 0xFCU;
    }
  }
  std::uint32_t offset = pci::kExtendedStart;
  for (int steps = 0; offset >= pci::kExtendedStart && steps < 960; ++steps) {
    const std::uint32_t header = image.dword(offset);
    if (header == 0 || header == pci::kAllOnes) break;
    text += list_extended_capability(image, offset, details);
    offset = header >> 20 & 0xFFCU;
  }
  return text;
}

}  // namespace

std::string list_function(const PciImage& image, unsigned verbosity) {
  std::string text = head(image);
  if (verbosity == 0) return text;
  if (image.is_bridge()) {
    text += windows(image);
  } else {
    text += fmt::format("\tSubsystem: {:04x}:{:04x}\n", image.word(pci::kSubsystemVendor),
                        image.word(pci::kSubsystemId));
  }
  const std::uint16_t command = image.word(pci::kCommand);
  text += fmt::format("\tControl: Mem{} BusMaster{} INTx{}\n",
                      (command & pci::kCommandMemory) != 0 ? '+' : '-',
                      (command & pci::kCommandBusMaster) != 0 ? '+' : '-',
                      (command & pci::kCommandIntxDisable) != 0 ? '-' : '+');
  if (image.numa_node >= 0) text += fmt::format("\tNUMA node: {}\n", image.numa_node);
  return text + bars(image) + capabilities(image, verbosity >= 2) + "\n";
}

std::string dump_function(const PciImage& image) {
  constexpr std::uint32_t kRow = 16;
  std::string text = head(image);
  for (std::uint32_t row = 0; row < image.bytes.size(); row += kRow) {
    text += fmt::format("{:02x}:", row);
    for (std::uint32_t i = 0; i < kRow; ++i) text += fmt::format(" {:02x}", image.byte(row + i));
    text += '\n';
  }
  return text + "\n";
}

}  // namespace npu::cli
