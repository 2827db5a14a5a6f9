// SPDX-License-Identifier: Apache-2.0
// What a card says it is, once it is open. The driver has compared registers, BARs and
// configuration space before that; the state of the link is compared here.
#include <fmt/format.h>

#include "npu/abi/pci.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace programs::identity {
namespace {

namespace pci = abi::pci;
using driver::CardInfo;

constexpr unsigned kMaxCapabilities = 48;                           // of 4 bytes in 0x40 .. 0xFF
constexpr unsigned kTenthsOfGt[] = {0, 25, 50, 80, 160, 320, 640};  // a second, by speed

struct Identity {
  CardInfo card;
  driver::MemoryStatistics memory;
  unsigned speed, width;  // as in the link's status

  Number giga_transfers() const { return Number::scaled(kTenthsOfGt[speed], 1); }
};

constexpr Figure<Identity> kFigures[] = {
    {"device_index", "", from<&Identity::card, &CardInfo::device_index>},
    {"ai_cores", "", from<&Identity::card, &CardInfo::ai_cores>},
    {"memory_bytes", "B", from<&Identity::memory, &driver::MemoryStatistics::total>},
    {"free_bytes", "B", from<&Identity::memory, &driver::MemoryStatistics::free>},
    {"streams", "", from<&Identity::card, &CardInfo::stream_count>},
    {"events", "", from<&Identity::card, &CardInfo::event_count>},
    {"msix_vectors", "", from<&Identity::card, &CardInfo::msix, &driver::MsixInfo::vectors>},
    {"bar0_bytes", "B", from<&Identity::card, &CardInfo::register_bar, &driver::Bar::size>},
    {"bar2_bytes", "B", from<&Identity::card, &CardInfo::memory_bar, &driver::Bar::size>},
    {"link_gt_per_s", "", from<&Identity::giga_transfers>},
    {"link_lanes", "", from<&Identity::width>}};

// 0: there is none.
std::uint32_t find_capability(platform::PciAccess& config, platform::Bdf bdf, std::uint8_t id) {
  std::uint32_t at = config.read8(bdf, pci::kCapabilityPointer) & 0xFCU;
  for (unsigned i = 0; at >= 0x40 && i < kMaxCapabilities; ++i) {
    const auto header = config.read16(bdf, at);
    if ((header & 0xFF) == id) return at;
    at = (header >> 8) & 0xFCU;
  }
  return 0;
}

Status read_link(platform::PciAccess& config, Identity& identity) {
  const auto bdf = identity.card.bdf();
  const auto express = find_capability(config, bdf, pci::kCapPciExpress);
  if (express == 0) return fail(ErrorCode::kBadDevice, "no PCI Express capability");
  const auto can = config.read32(bdf, express + pci::kExpLinkCap);
  const auto status = config.read16(bdf, express + pci::kExpLinkStatus);
  identity.speed = status & 0xFU;
  identity.width = (status >> 4) & 0x3FU;
  if (identity.width > 0 && identity.width <= ((can >> 4) & 0x3FU) && identity.speed > 0 &&
      identity.speed <= (can & 0xFU) && identity.speed < std::size(kTenthsOfGt)) {
    return {};
  }
  return fail(ErrorCode::kBadDevice,
              fmt::format("link status {:#06x} does not fit capabilities {:#010x}", status, can));
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  Identity found{(*device)->info(), (*device)->memory_statistics(), 0, 0};
  if (auto ok = read_link(context.platform.pci(), found); !ok) return ok;
  report_figures(context, "identity.", kFigures, found);
  const auto& function = found.card.function;
  context.report.add_note(fmt::format(
      "{} {:04x}:{:04x} rev {:02x}, subsystem {:04x}:{:04x}, class {:06x}", to_string(function.bdf),
      function.vendor_id, function.device_id, function.revision, function.subsystem_vendor_id,
      function.subsystem_id, function.class_code));
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::identity

Workload identity() {
  return {"identity",
          "What a card says it is: identifiers, sizes, PCI Express link",
          {card_parameter()},
          programs::identity::run,
          figure_rows(programs::identity::kFigures)};
}

}  // namespace npu::workloads
