// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "npu/abi/pci.hpp"
#include "tools/cli/pci_image.hpp"

namespace npu::cli {
namespace {

namespace pci = abi::pci;
using platform::Bdf;

class Scan {
 public:
  explicit Scan(platform::PciAccess& access) : access_(access) {}

  void bus(std::uint16_t number, const platform::HostBridge& bridge) {
    // Bridges that are not set up, or in a circle, must not send the scan round and round.
    if (number < bridge.first_bus || number > bridge.last_bus) return;
    if (!buses_.insert(number).second) return;
    for (std::uint8_t device = 0; device < pci::kDevicesPerBus; ++device) {
      if (!answers({number, device, 0})) continue;
      const bool several =
          (access_.read8({number, device, 0}, pci::kHeaderType) & pci::kHeaderMultiFunction) != 0;
      const std::uint8_t functions =
          several ? std::uint8_t{pci::kFunctionsPerDevice} : std::uint8_t{1};
      for (std::uint8_t function = 0; function < functions; ++function) {
        const Bdf bdf{number, device, function};
        if (answers(bdf)) add(bdf, bridge);
      }
    }
  }

  std::vector<PciImage> images;

 private:
  bool answers(Bdf bdf) { return access_.read16(bdf, pci::kVendorId) != 0xFFFF; }

  void add(Bdf bdf, const platform::HostBridge& bridge) {
    PciImage image;
    image.bdf = bdf;
    image.numa_node = bridge.numa_node;
    for (std::uint32_t offset = 0; offset < pci::kConfigSpaceSize; offset += 4) {
      const std::uint32_t value = access_.read32(bdf, offset);
      for (unsigned i = 0; i < 4; ++i) {
        image.bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
      }
    }
    measure_bars(image);
    images.push_back(image);
    if (!image.is_bridge()) return;
    const unsigned first = bdf.segment() * platform::kBusesPerSegment;
    bus(static_cast<std::uint16_t>(first + image.byte(pci::kSecondaryBus)), bridge);
  }

  // PCI Local Bus 3.0, 6.2.5.1: all ones, read back, restore; decoding is off meanwhile.
  void measure_bars(PciImage& image) {
    const unsigned bars = image.is_bridge() ? 2 : 6;
    const std::uint16_t command = image.word(pci::kCommand);
    access_.write16(image.bdf, pci::kCommand,
                    static_cast<std::uint16_t>(command & ~(pci::kCommandMemory | pci::kCommandIo)));
    for (unsigned bar = 0; bar < bars; ++bar) {
      const std::uint32_t low = measure(image, bar);
      if (low == 0) continue;
      const bool wide = (image.dword(pci::kBar0 + 4 * bar) & pci::kBarTypeMask) == pci::kBarType64;
      const bool has_upper = wide && bar + 1 < bars;
      const std::uint32_t high = has_upper ? measure(image, bar + 1) : 0xFFFFFFFFU;
      const std::uint64_t mask = std::uint64_t{high} << 32 | (low & ~pci::kBarFlagsMask);
      image.bar_sizes[bar] = ~mask + 1;
      if (has_upper) ++bar;
    }
    access_.write16(image.bdf, pci::kCommand, command);
  }

  std::uint32_t measure(const PciImage& image, unsigned bar) {
    const std::uint32_t offset = pci::kBar0 + 4 * bar;
    access_.write32(image.bdf, offset, pci::kAllOnes);
    const std::uint32_t mask = access_.read32(image.bdf, offset);
    access_.write32(image.bdf, offset, image.dword(offset));
    return mask;
  }

  platform::PciAccess& access_;
  std::set<unsigned> buses_;
};

}  // namespace

bool PciImage::is_bridge() const {
  return (byte(pci::kHeaderType) & pci::kHeaderTypeMask) == pci::kHeaderTypeBridge;
}

std::vector<PciImage> read_pci_images(platform::Platform& platform) {
  Scan scan(platform.pci());
  for (const auto& bridge : platform.pci().host_bridges()) scan.bus(bridge.first_bus, bridge);
  std::sort(scan.images.begin(), scan.images.end(),
            [](const PciImage& a, const PciImage& b) { return a.bdf < b.bdf; });
  return scan.images;
}

}  // namespace npu::cli
