// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/access_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "npu/abi/dma.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/queue_descriptor.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"
#include "npu/testing/access.hpp"

namespace npu::testkit {
namespace {

template <class Table>
std::string_view register_at(const Table& table, Bytes offset) {
  for (const auto& row : table) {
    if (offset >= row.offset && offset < row.offset + row.size) return row.name;
  }
  return {};
}

std::string numbered(std::string_view area, Bytes index) {
  return fmt::format("{}[{}]", area, index);
}

struct ConfigField {
  std::uint32_t offset, size;
  std::string_view name;
};
constexpr std::array<ConfigField, 16> kConfigFields = {{
    {abi::pci::kVendorId, 2, "VENDOR_ID"},
    {abi::pci::kDeviceId, 2, "DEVICE_ID"},
    {abi::pci::kCommand, 2, "COMMAND"},
    {abi::pci::kStatus, 2, "STATUS"},
    {abi::pci::kRevision, 1, "REVISION"},
    {abi::pci::kClassCode, 3, "CLASS_CODE"},
    {abi::pci::kHeaderType, 1, "HEADER_TYPE"},
    {abi::pci::kBar0, 4, "BAR0"},
    {abi::pci::kBar0 + 4, 4, "BAR1"},
    {abi::pci::kBar0 + 8, 4, "BAR2"},
    {abi::pci::kBar0 + 12, 4, "BAR3"},
    {abi::pci::kBar0 + 16, 4, "BAR4"},
    {abi::pci::kBar0 + 20, 4, "BAR5"},
    {abi::pci::kSubsystemVendor, 2, "SUBSYSTEM_VENDOR"},
    {abi::pci::kSubsystemId, 2, "SUBSYSTEM_ID"},
    {abi::pci::kCapabilityPointer, 1, "CAPABILITY_POINTER"},
}};

constexpr std::array<std::string_view, 13> kAreas = {
    "BAR0", "EVENT",         "MSIX_TABLE",   "MSIX_PBA",      "HBM",         "DMA_RING", "STREAM",
    "CARD", "DOORBELL_PAGE", "QUEUE_MEMORY", "CONTEXT_TABLE", "PAGE_TABLES", "CONFIG"};

}  // namespace

std::string bar0_name(Bytes offset) {
  if (offset >= abi::kMsixPbaOffset) return "MSIX_PBA";
  if (offset >= abi::kMsixTableOffset) {
    return numbered("MSIX_TABLE", (offset - abi::kMsixTableOffset) / abi::pci::kMsixEntrySize);
  }
  if (offset >= abi::kEventBlock) {
    return numbered("EVENT", (offset - abi::kEventBlock) / abi::kEventStride);
  }
  const auto name = register_at(abi::kBar0Table, offset);
  return name.empty() ? "BAR0" : std::string(name);
}

std::string bar2_name(Bytes offset, Bytes hbm_size) {
  if (offset < hbm_size) return "HBM";
  const Bytes reserved = offset - hbm_size;
  if (reserved >= abi::kReservedTableOffset + abi::kReservedTableSize) return "CARD";
  if (reserved >= abi::kReservedTableOffset) return "PAGE_TABLES";
  if (reserved >= abi::kReservedContextOffset) return "CONTEXT_TABLE";
  if (reserved >= abi::kReservedQueueOffset) return "QUEUE_MEMORY";
  if (reserved >= abi::kReservedDoorbellOffset) {
    return numbered("DOORBELL_PAGE",
                    (reserved - abi::kReservedDoorbellOffset) / abi::kDoorbellPageSize);
  }
  if (reserved >= abi::kReservedStreamOffset) {
    const Bytes window = reserved - abi::kReservedStreamOffset;
    const auto name = register_at(abi::kStreamTable, window % abi::kStreamWindowSize);
    const auto stream = numbered("STREAM", window / abi::kStreamWindowSize);
    return name.empty() ? stream : stream + "." + std::string(name);
  }
  const Bytes ring = reserved - abi::kReservedRingOffset;
  const Bytes entry = ring / abi::kRingEntrySize;
  return entry < abi::kRingEntries ? numbered("DMA_RING", entry) : "CARD";
}

std::string config_name(std::uint32_t offset) {
  for (const auto& field : kConfigFields) {
    if (offset >= field.offset && offset < field.offset + field.size)
      return std::string(field.name);
  }
  return "CONFIG";
}

bool is_access_name(std::string_view name) {
  const auto is_in = [&](const auto& table) {
    return std::any_of(table.begin(), table.end(),
                       [&](const auto& row) { return row.name == name; });
  };
  if (is_in(abi::kBar0Table) || is_in(kConfigFields)) return true;
  const auto bracket = name.find('[');
  const auto area = name.substr(0, bracket);
  if (std::find(kAreas.begin(), kAreas.end(), area) == kAreas.end()) return false;
  if (bracket == std::string_view::npos) return true;
  const auto close = name.find(']', bracket);
  if (close == std::string_view::npos || close == bracket + 1) return false;
  const auto digits = name.substr(bracket + 1, close - bracket - 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  if (close + 1 == name.size()) return true;
  name.remove_prefix(close + 1);
  if (area != "STREAM" || name.front() != '.') return false;
  name.remove_prefix(1);
  return is_in(abi::kStreamTable);
}

}  // namespace npu::testkit
