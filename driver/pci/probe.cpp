// SPDX-License-Identifier: Apache-2.0
// What makes a function a card this driver can use; everything else is refused with the reason
// (pcie.md F15).
#include <fmt/format.h>

#include "driver/pci/config_space.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {

namespace pci = abi::pci;
using platform::Bdf;
using platform::read_register;

namespace {

// hardware.md H10: 128..256 vectors, subsystem vendor 0x19E5 or 0x0200.
constexpr unsigned kMinimumVectors = 128;
constexpr std::uint16_t kOtherSubsystemVendor = 0x0200;

tl::unexpected<Error> bad(Bdf bdf, const std::string& what) {
  return fail(ErrorCode::kBadDevice, to_string(bdf) + ": " + what);
}

Status check_bar(Bdf bdf, unsigned index, const Bar& bar, Bytes minimum) {
  if (bar.is_io || bar.size == 0) return bad(bdf, fmt::format("BAR{} is no memory BAR", index));
  if (!bar.is_64_bit) return bad(bdf, fmt::format("BAR{} is not 64 bits wide", index));
  if (bar.size < minimum) {
    return bad(bdf,
               fmt::format("BAR{} has {} bytes, at least {} are needed", index, bar.size, minimum));
  }
  if (bar.base == 0) return bad(bdf, fmt::format("BAR{} has no address assigned", index));
  return {};
}

Status check_identity(const PciFunction& function) {
  if (function.vendor_id != abi::kVendorId || !abi::is_npu_device(function.device_id)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: {:04x}:{:04x} is not an NPU", to_string(function.bdf),
                            function.vendor_id, function.device_id));
  }
  if (function.header_type != pci::kHeaderTypeEndpoint) {
    return bad(function.bdf, fmt::format("header type {}", function.header_type));
  }
  if (function.subsystem_vendor_id != abi::kVendorId &&
      function.subsystem_vendor_id != kOtherSubsystemVendor) {
    return bad(function.bdf, fmt::format("subsystem vendor {:#06x}", function.subsystem_vendor_id));
  }
  return {};
}

Status check_registers(const CardInfo& card) {
  const Bytes bar2 = card.memory_bar().size;
  const auto bdf = card.bdf();
  if (card.hbm_size == 0 || !range_fits(card.hbm_size, abi::kReservedStreamOffset, bar2)) {
    return bad(bdf, fmt::format("HBM_SIZE {:#x} leaves no room for the ring in BAR2 of {:#x} bytes",
                                card.hbm_size, bar2));
  }
  if (card.stream_count == 0 || card.stream_count > abi::kMaxStreams ||
      !range_fits(card.stream_window_base, card.stream_count * abi::kStreamWindowSize, bar2) ||
      card.stream_window_base < card.hbm_size || card.stream_window_base % 4096 != 0) {
    return bad(bdf, fmt::format("{} stream windows at {:#x} do not fit BAR2 of {:#x} bytes",
                                card.stream_count, card.stream_window_base, bar2));
  }
  if (card.event_count == 0 || card.event_count > abi::kMaxEvents) {
    return bad(bdf, fmt::format("EVENT_COUNT is {}", card.event_count));
  }
  return {};
}

// Registers of a card that may be taken away between two reads of them.
class CardRegisters {
 public:
  CardRegisters(platform::MmioRegion& bar0, platform::Bdf bdf) : bar0_(bar0), bdf_(bdf) {}

  // Reads nothing more after a register that was not answered.
  template <class R>
  R read() {
    if (!answered_) return R();
    const R value = platform::read_register<R>(bar0_);
    if (value.raw == static_cast<typename R::raw_type>(~0ULL)) {
      answered_ = fail(ErrorCode::kDeviceLost,
                       fmt::format("{}: {} reads as all ones", to_string(bdf_), R::kName));
    }
    return value;
  }
  // kDeviceLost: a register read as all ones, which none of them ever holds.
  const Status& answered() const { return answered_; }

 private:
  platform::MmioRegion& bar0_;
  platform::Bdf bdf_;
  Status answered_;
};

Result<CardInfo> read_config(ConfigAccess& config, platform::Clock& clock,
                             const PciFunction& function) {
  CardInfo card;
  card.function = function;
  if (auto ok = check_identity(function); !ok) return forward_error(ok);
  auto bars = size_bars(config, clock, function.bdf);
  if (!bars) return forward_error(bars);
  card.bars = bars->bars;
  if (auto ok = check_bar(function.bdf, 0, card.bars[0], abi::kBar0Size); !ok) {
    return forward_error(ok);
  }
  const Bytes minimum = kPageSize + abi::kReservedStreamOffset + abi::kStreamWindowSize;
  if (auto ok = check_bar(function.bdf, 2, card.bars[2], minimum); !ok) return forward_error(ok);
  auto msix = read_msix(config, function.bdf, *bars);
  if (!msix) return forward_error(msix);
  if (msix->vectors < kMinimumVectors) {
    return bad(function.bdf, fmt::format("{} MSI-X vectors, at least {} are needed", msix->vectors,
                                         kMinimumVectors));
  }
  card.msix = *msix;
  return card;
}

}  // namespace

Result<CardInfo> probe_config(ConfigAccess& config, platform::Clock& clock,
                              const PciFunction& function) {
  auto card = read_config(config, clock, function);
  // Linux' VFIO answers for the vendor of a card that is gone, not for its class.
  if (!card && config.read32(function.bdf, pci::kRevision) == pci::kAllOnes) {
    return fail(ErrorCode::kDeviceLost,
                to_string(function.bdf) + " vanished while it was being probed");
  }
  return card;
}

Status read_card_registers(platform::MmioRegion& bar0, CardInfo& card) {
  CardRegisters registers(bar0, card.bdf());
  const auto chip = registers.read<abi::ChipId>();
  const auto version = registers.read<abi::ChipRevision>().get<abi::ChipRevision::AbiVersion>();
  card.ai_cores = registers.read<abi::AiCoreCount>().raw;
  card.device_index = registers.read<abi::DeviceIndex>().raw;
  card.hbm_size = registers.read<abi::HbmSize>().raw;
  card.stream_window_base = registers.read<abi::StreamWindowBase>().raw;
  card.stream_count = registers.read<abi::StreamCount>().raw;
  card.event_count = registers.read<abi::EventCount>().raw;
  if (!registers.answered()) return registers.answered();
  if (chip.get<abi::ChipId::Vendor>() != card.function.vendor_id ||
      chip.get<abi::ChipId::Device>() != card.function.device_id) {
    return bad(card.bdf(), fmt::format("CHIP_ID {:#010x} is not {:04x}:{:04x}", chip.raw,
                                       card.function.vendor_id, card.function.device_id));
  }
  if (version != abi::kAbiVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: ABI version {}, this driver knows {}", to_string(card.bdf()),
                            version, abi::kAbiVersion));
  }
  return check_registers(card);
}

}  // namespace npu::driver
