// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/error_log.hpp"

#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

// Device status: what was detected (PCIe 7.5.3.5).
constexpr std::uint32_t kNonFatal = 0x2, kFatal = 0x4, kUnsupported = 0x8;
// Root error status: messages received (PCIe 7.8.4.10).
constexpr std::uint32_t kRootCorrectable = 0x01, kRootNonFatal = 0x24, kRootFatal = 0x44;

void tell_root(ConfigSpace& space, const CapabilityOffsets& at, std::uint32_t bits) {
  if (at.is_root) space.set_bits(at.aer + pci::kAerRootStatus, 4, bits);
}

// Whether the error counts as fatal.
bool log_in_aer(ConfigSpace& space, std::uint32_t aer, std::uint32_t bit, const TlpHeader& header) {
  const std::uint32_t mask = space.read(aer + pci::kAerMask, 4);
  const bool first = (space.read(aer + pci::kAerStatus, 4) & ~mask) == 0;
  space.set_bits(aer + pci::kAerStatus, 4, bit);
  if ((mask & bit) == 0 && first) {
    for (std::uint32_t i = 0; i < 4; ++i) space.set(aer + pci::kAerHeader + 4 * i, 4, header[i]);
    std::uint32_t number = 0;
    while (!(bit >> number & 1)) ++number;
    const std::uint32_t control = space.read(aer + pci::kAerControl, 4);
    space.set(aer + pci::kAerControl, 4, (control & ~0x1FU) | number);  // first error pointer
  }
  return space.read(aer + pci::kAerSeverity, 4) & bit;
}

}  // namespace

void log_correctable(ConfigSpace& space, const CapabilityOffsets& at, std::uint32_t bit) {
  space.set_bits(at.express + pci::kExpDeviceStatus, 2, pci::kExpDeviceStatusCorrectable);
  if (at.aer == 0) return;
  space.set_bits(at.aer + pci::kAerCorrectableStatus, 4, bit);
  tell_root(space, at, kRootCorrectable);
}

void log_uncorrectable(ConfigSpace& space, const CapabilityOffsets& at, std::uint32_t bit,
                       const TlpHeader& header) {
  const bool fatal = at.aer != 0 && log_in_aer(space, at.aer, bit, header);
  // Who is not the one to act on it says that it is advisory (PCIe 6.2.3.2.4.5).
  if (bit == pci::kAerUnexpectedCompletion && !fatal) {
    return log_correctable(space, at, pci::kAerAdvisory);
  }
  std::uint32_t status = fatal ? kFatal : kNonFatal;
  if (bit == pci::kAerUnsupportedRequest) status |= kUnsupported;
  space.set_bits(at.express + pci::kExpDeviceStatus, 2, status);
  tell_root(space, at, fatal ? kRootFatal : kRootNonFatal);
}

void log_port_errors(ConfigSpace& space, const CapabilityOffsets& at, const LinkState& shown,
                     const LinkState& link) {
  if (link.bad_tlps != shown.bad_tlps) log_correctable(space, at, pci::kAerBadTlp);
  if (link.rollovers != shown.rollovers) log_correctable(space, at, pci::kAerReplayRollover);
  for (std::size_t i = shown.errors; i < link.errors; ++i) {
    const auto& error = (*link.found)[i];
    if (error.correctable) {
      log_correctable(space, at, error.bit);
    } else {
      log_uncorrectable(space, at, error.bit, error.header);
    }
  }
}

}  // namespace npu::model
