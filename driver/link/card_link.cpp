// SPDX-License-Identifier: Apache-2.0
#include "driver/link/card_link.hpp"

#include <fmt/format.h>

#include "npu/abi/registers.hpp"

namespace npu::driver {

Status CardLink::usable() const {
  if (closed()) return fail(ErrorCode::kInvalidArgument, "the device is shut down");
  return alive();
}

Result<std::uint64_t> CardLink::read_event(std::uint32_t event) {
  if (lost()) return lost_error();
  const auto value = registers_->read64(abi::event_register_offset(event));
  // Bits 63..48 of an event are zero, so this is no count.
  if (value == ~0ULL) return explain_all_ones("an event register");
  return value;
}

tl::unexpected<Error> CardLink::explain_all_ones(std::string_view what) {
  // Class and revision: the identity of a card that is gone is still known to Linux' VFIO.
  const auto type = platform_.pci().read32(bdf(), abi::pci::kRevision);
  if (type == abi::pci::kAllOnes) {
    lost_.store(true, std::memory_order_relaxed);
    return lost_error();
  }
  const auto command = platform_.pci().read16(bdf(), abi::pci::kCommand);
  const bool decodes = (command & abi::pci::kCommandMemory) != 0;
  return fail(ErrorCode::kIo,
              fmt::format("{}: {} reads as all ones, but the card answers configuration reads ({})",
                          to_string(bdf()), what,
                          decodes ? "completion timeout, or it is not in D0"
                                  : "its memory decoding is off: somebody has switched it off, or "
                                    "the function was reset"));
}

tl::unexpected<Error> CardLink::explain(const Error& error) {
  if (error.code != ErrorCode::kNotFound) return tl::unexpected(error);
  if (platform_.pci().read32(bdf(), abi::pci::kRevision) != abi::pci::kAllOnes) {
    return tl::unexpected(error);
  }
  lost_.store(true, std::memory_order_relaxed);
  return lost_error();
}

tl::unexpected<Error> CardLink::lost_error() const {
  return fail(ErrorCode::kDeviceLost,
              fmt::format("{} no longer answers: removed, or its link is down", to_string(bdf())));
}

}  // namespace npu::driver
