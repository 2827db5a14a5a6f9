// SPDX-License-Identifier: Apache-2.0
// What card it is.
#include <fmt/format.h>

#include "apps/demo/steps.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/scan.hpp"

namespace npu::demo {

namespace pci = abi::pci;

namespace {

constexpr unsigned kMaxCapabilities = 48;  // of 4 bytes in 0x40 .. 0xFF

std::string giga_transfers(unsigned speed) {
  static constexpr const char* kSpeeds[] = {"?", "2.5", "5", "8", "16", "32", "64"};
  return speed < 7 ? kSpeeds[speed] : "?";
}

std::uint32_t find_capability(platform::PciAccess& config, platform::Bdf bdf, std::uint8_t id) {
  std::uint32_t at = config.read8(bdf, pci::kCapabilityPointer) & 0xFCU;
  for (unsigned i = 0; at >= 0x40 && i < kMaxCapabilities; ++i) {
    const auto header = config.read16(bdf, at);
    if ((header & 0xFF) == id) return at;
    at = (header >> 8) & 0xFCU;
  }
  return 0;
}

}  // namespace

Result<std::string> scan_bus(Session& session) {
  const auto found = driver::scan(session.platform());
  if (!found) return forward_error(found);
  const auto chosen = session.choose();
  if (!chosen) return forward_error(chosen);
  std::string cards;
  for (const auto& card : found->cards) {
    cards += fmt::format(" {} [{:04x}:{:04x}]", to_string(card.bdf()), card.function.vendor_id,
                         card.function.device_id);
  }
  return fmt::format(
      "{} functions, {} cards:{}; {} refused; {} configuration reads, {} writes; "
      "working on {}",
      found->functions.size(), found->cards.size(), cards, found->refused.size(),
      found->config_reads, found->config_writes, to_string(*chosen));
}

Result<std::string> show_identity(Session& session) {
  const auto& card = session.device().info();
  const auto chip = session.read<abi::ChipId>();
  const auto revision = session.read<abi::ChipRevision>();
  const auto vendor = chip.get<abi::ChipId::Vendor>();
  const auto device = chip.get<abi::ChipId::Device>();
  if (vendor != card.function.vendor_id || device != card.function.device_id) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("configuration space says {:04x}:{:04x}, CHIP_ID {:04x}:{:04x}",
                            card.function.vendor_id, card.function.device_id, vendor, device));
  }
  if (revision.get<abi::ChipRevision::AbiVersion>() != abi::kAbiVersion) {
    return fail(ErrorCode::kBadDevice, "the card's registers are of another version");
  }
  const auto memory = session.device().memory_statistics();
  return fmt::format(
      "{:04x}:{:04x} rev {:02x}, subsystem {:04x}:{:04x}, class {:06x}, card {}, "
      "{} AI Cores, {} MiB of memory ({} free), {} streams, {} events",
      vendor, device, card.function.revision, card.function.subsystem_vendor_id,
      card.function.subsystem_id, card.function.class_code, card.device_index, card.ai_cores,
      card.hbm_size >> 20, memory.free >> 20, card.stream_count, card.event_count);
}

Result<std::string> show_bars(Session& session) {
  const auto& card = session.device().info();
  const auto describe = [](const driver::Bar& bar) {
    return fmt::format("{:#x} + {:#x} ({}-bit{})", bar.base, bar.size, bar.is_64_bit ? 64 : 32,
                       bar.prefetchable ? ", prefetchable" : "");
  };
  if (card.register_bar().size < abi::kBar0Size) {
    return fail(ErrorCode::kBadDevice, fmt::format("BAR0 has {} bytes", card.register_bar().size));
  }
  if (card.memory_bar().size < card.hbm_size) {
    return fail(ErrorCode::kBadDevice, "BAR2 is smaller than the card's memory");
  }
  return fmt::format("BAR0 {}, BAR2 {}, MSI-X {} vectors in BAR{} at {:#x}",
                     describe(card.register_bar()), describe(card.memory_bar()), card.msix.vectors,
                     card.msix.table_bar, card.msix.table_offset);
}

Result<std::string> show_link(Session& session) {
  auto& config = session.platform().pci();
  const auto bdf = session.device().info().bdf();
  const auto express = find_capability(config, bdf, pci::kCapPciExpress);
  if (express == 0) return fail(ErrorCode::kBadDevice, "no PCI Express capability");
  const auto can = config.read32(bdf, express + pci::kExpLinkCap);
  const auto status = config.read16(bdf, express + pci::kExpLinkStatus);
  const auto speed = status & 0xFU, width = (status >> 4) & 0x3FU;
  const auto best_speed = can & 0xFU, best_width = (can >> 4) & 0x3FU;
  if (width == 0 || width > best_width || speed == 0 || speed > best_speed) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("link status {:#06x} does not fit capabilities {:#010x}", status, can));
  }
  return fmt::format("{} GT/s x{} of {} GT/s x{}", giga_transfers(speed), width,
                     giga_transfers(best_speed), best_width);
}

}  // namespace npu::demo
