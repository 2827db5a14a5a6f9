// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <optional>
#include <set>

#include "driver/pci/config_space.hpp"
#include "driver/support/call_trace.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"

namespace npu::driver {

namespace pci = abi::pci;
using platform::Bdf;

namespace {

constexpr unsigned kPortTypeRootPort = 4, kPortTypeDownstream = 6;  // PCIe 7.5.3.2

class Scanner {
 public:
  Scanner(platform::Platform& platform, const ScanOptions& options)
      : platform_(platform), options_(options), config_(platform.pci()) {}

  Result<ScanResult> run() {
    bridges_ = platform_.pci().host_bridges();
    if (bridges_.empty()) return fail(ErrorCode::kBadDevice, "the platform has no PCI host bridge");
    if (options_.exhaustive) {
      scan_everything();
    } else {
      for (const auto& bridge : bridges_) {
        visited_.reset();
        scan_bus(bridge.first_bus, pci::kDevicesPerBus, bridge.last_bus);
      }
    }
    std::sort(result_.functions.begin(), result_.functions.end(),
              [](const auto& a, const auto& b) { return a.bdf < b.bdf; });
    for (const auto& function : result_.functions) probe_card(function);
    result_.config_reads = config_.reads();
    result_.config_writes = config_.writes();
    return std::move(result_);
  }

 private:
  void scan_everything() {
    std::set<unsigned> segments;
    for (const auto& bridge : bridges_) segments.insert(Bdf{bridge.first_bus}.segment());
    for (const unsigned segment : segments) {
      for (unsigned packed = 0; packed <= 0xFFFF; ++packed)
        add(Bdf::unpack(segment << 16 | packed));
    }
  }

  // Devices 0 .. `devices` - 1 of a bus, and what is behind its bridges; bus numbers up to `last`.
  void scan_bus(std::uint16_t bus, unsigned devices, std::uint16_t last) {
    if (visited_.test(bus % pci::kBuses)) return;
    visited_.set(bus % pci::kBuses);
    for (unsigned device = 0; device < devices; ++device) {
      for (unsigned number = 0; number < pci::kFunctionsPerDevice; ++number) {
        const Bdf bdf{bus, static_cast<std::uint8_t>(device), static_cast<std::uint8_t>(number)};
        const auto function = add(bdf);
        if (function && function->is_bridge()) descend(*function, last);
        // Without function 0 there is no device; only function 0 can say that there are more.
        if (number == 0 && !(function && function->multi_function)) break;
      }
    }
  }

  void descend(const PciFunction& bridge, std::uint16_t last) {
    // Nobody has configured it.
    if (bridge.secondary_bus == 0 && bridge.subordinate_bus == 0) return;
    const auto first = static_cast<std::uint16_t>(bridge.bdf.segment() * pci::kBuses);
    const auto secondary = static_cast<std::uint16_t>(first + bridge.secondary_bus);
    const auto subordinate = static_cast<std::uint16_t>(first + bridge.subordinate_bus);
    if (secondary <= bridge.bdf.bus || subordinate < secondary || subordinate > last ||
        visited_.test(bridge.secondary_bus)) {
      refuse(bridge.bdf, Error{ErrorCode::kBadDevice,
                               fmt::format("{}: bridge to buses {:02x}-{:02x}, but it is on bus "
                                           "{:02x} and {:02x} is the last one behind it",
                                           to_string(bridge.bdf), secondary, subordinate,
                                           bridge.bdf.bus, last)});
      return;
    }
    scan_bus(secondary, devices_behind(bridge.bdf), subordinate);
  }

  // A PCI Express link has one device at its end (PCIe 7.3.1), number 0.
  unsigned devices_behind(Bdf bridge) {
    const auto express = find_capability(config_, bridge, pci::kCapPciExpress);
    if (!express || *express == 0) return pci::kDevicesPerBus;
    const unsigned type = (config_.read16(bridge, *express + pci::kExpFlags) >> 4) & 0xF;
    return type == kPortTypeRootPort || type == kPortTypeDownstream ? 1 : pci::kDevicesPerBus;
  }

  // Reads a function's header and keeps it; nothing if nobody answers.
  std::optional<PciFunction> add(Bdf bdf) {
    const auto dword0 = config_.read32(bdf, pci::kVendorId);
    if (is_absent(dword0)) return std::nullopt;
    auto function = read_header(config_, bdf, dword0);
    if (!function) {
      refuse(bdf, function.error());
      return std::nullopt;
    }
    function->numa_node = numa_node(bdf.bus);
    result_.functions.push_back(*function);
    return *function;
  }

  int numa_node(std::uint16_t bus) const {
    for (const auto& bridge : bridges_) {
      if (bus >= bridge.first_bus && bus <= bridge.last_bus) return bridge.numa_node;
    }
    return -1;
  }

  void probe_card(const PciFunction& function) {
    if (function.vendor_id != abi::kVendorId || !abi::is_npu_device(function.device_id)) return;
    auto card = probe_config(config_, platform_.clock(), function);
    if (card && options_.read_registers) {
      if (auto ok = read_registers(*card); !ok) return refuse(function.bdf, ok.error());
    }
    if (!card) return refuse(function.bdf, card.error());
    result_.cards.push_back(*card);
  }

  // Memory decoding is on while the registers are read, and afterwards as it was before.
  Status read_registers(CardInfo& card) {
    const auto bdf = card.bdf();
    const auto command = config_.read16(bdf, pci::kCommand);
    const bool decodes = (command & pci::kCommandMemory) != 0;
    if (!decodes) {
      config_.write16(bdf, pci::kCommand,
                      static_cast<std::uint16_t>(command | pci::kCommandMemory));
    }
    auto region = platform_.map_bar(bdf, 0, 0, 4096, platform::Caching::kUncached);
    const Status status =
        region ? read_card_registers(**region, card) : Status(forward_error(region));
    if (!decodes) config_.write16(bdf, pci::kCommand, command);
    return status;
  }

  void refuse(Bdf bdf, Error error) { result_.refused.push_back({bdf, std::move(error)}); }

  platform::Platform& platform_;
  const ScanOptions options_;
  ConfigAccess config_;
  std::vector<platform::HostBridge> bridges_;
  std::bitset<pci::kBuses> visited_;  // behind a host bridge
  ScanResult result_;
};

}  // namespace

Result<ScanResult> scan(platform::Platform& platform, const ScanOptions& options) {
  const CallTrace trace(platform, CallTrace::kNoCard, platform::DriverCall::kEnumerate);
  return Scanner(platform, options).run();
}

Result<CardInfo> probe(platform::Platform& platform, Bdf bdf) {
  ConfigAccess config(platform.pci());
  const auto dword0 = config.read32(bdf, pci::kVendorId);
  if (is_absent(dword0)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  auto function = read_header(config, bdf, dword0);
  if (!function) return forward_error(function);
  for (const auto& bridge : platform.pci().host_bridges()) {
    if (bdf.bus >= bridge.first_bus && bdf.bus <= bridge.last_bus) {
      function->numa_node = bridge.numa_node;
      break;
    }
  }
  return probe_config(config, platform.clock(), *function);
}

}  // namespace npu::driver
