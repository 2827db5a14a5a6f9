// SPDX-License-Identifier: Apache-2.0
// Configuration space of one function: counted accesses, BAR sizing, capability lists, MSI-X.
#pragma once

#include <array>
#include <cstdint>

#include "npu/base/result.hpp"
#include "npu/driver/scan.hpp"
#include "npu/platform/pci.hpp"
#include "npu/platform/time.hpp"

namespace npu::driver {

// Counts accesses, so that a scan can say what it cost.
class ConfigAccess {
 public:
  explicit ConfigAccess(platform::PciAccess& pci) : pci_(pci) {}

  std::uint32_t read32(platform::Bdf bdf, std::uint32_t offset) {
    ++reads_;
    return pci_.read32(bdf, offset);
  }
  std::uint16_t read16(platform::Bdf bdf, std::uint32_t offset) {
    ++reads_;
    return pci_.read16(bdf, offset);
  }
  std::uint8_t read8(platform::Bdf bdf, std::uint32_t offset) {
    ++reads_;
    return pci_.read8(bdf, offset);
  }
  void write32(platform::Bdf bdf, std::uint32_t offset, std::uint32_t value) {
    ++writes_;
    pci_.write32(bdf, offset, value);
  }
  void write16(platform::Bdf bdf, std::uint32_t offset, std::uint16_t value) {
    ++writes_;
    pci_.write16(bdf, offset, value);
  }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }

 private:
  platform::PciAccess& pci_;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
};

// True if a read of dword 0 says that no function answers: all ones, or a vendor id of 0xFFFF
// (virtual functions) or 0.
constexpr bool is_absent(std::uint32_t dword0) {
  return (dword0 & 0xFFFF) == 0xFFFF || (dword0 & 0xFFFF) == 0;
}

// Header of a function whose dword 0 is known. kBadDevice: unknown header type.
Result<PciFunction> read_header(ConfigAccess& config, platform::Bdf bdf, std::uint32_t dword0);

// Offset of a standard capability, 0 if the function has none of this id. kBadDevice: the list
// loops or leaves its place; kDeviceLost: all ones.
Result<std::uint32_t> find_capability(ConfigAccess& config, platform::Bdf bdf, std::uint8_t id);
// The same for a function whose STATUS is known.
Result<std::uint32_t> find_capability(ConfigAccess& config, platform::Bdf bdf, std::uint8_t id,
                                      std::uint16_t status);

struct SizedBars {
  std::array<Bar, 6> bars;
  std::uint16_t status = 0;  // the register
};

// Sizes of a type 0 header's BARs by the write-ones protocol (PCI 3.0, 6.2.5.1). Decoding is off
// meanwhile; BARs and COMMAND are restored. kBadDevice: a size or type that cannot be; kDeviceLost:
// vanished or was reset meanwhile.
Result<SizedBars> size_bars(ConfigAccess& config, platform::Clock& clock, platform::Bdf bdf);

// kBadDevice: no MSI-X, too few vectors, table or PBA outside its BAR or overlapping.
Result<MsixInfo> read_msix(ConfigAccess& config, platform::Bdf bdf, const SizedBars& sized);

// probe() without registers.
Result<CardInfo> probe_config(ConfigAccess& config, platform::Clock& clock,
                              const PciFunction& function);

// Fills in what the card's registers say and checks it against the BARs. The region must cover
// the global page. kBadDevice, kUnsupported (ABI version), kDeviceLost.
Status read_card_registers(platform::MmioRegion& bar0, CardInfo& card);

}  // namespace npu::driver
