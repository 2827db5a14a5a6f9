// SPDX-License-Identifier: Apache-2.0
// Telemetry registers as values: what reads as all ones is explained by configuration space.
#pragma once

#include <fmt/format.h>

#include "npu/abi/pci.hpp"
#include "npu/driver/management.hpp"

namespace npu::driver {

class TelemetryReader {
 public:
  explicit TelemetryReader(ManagementAccess& card) : card_(card) {}

  template <class R>
  Result<R> read(Bytes block = 0) {
    const R value = platform::read_register<R>(card_.registers(), block);
    if (value.raw == static_cast<typename R::raw_type>(~0ULL)) return explain(R::kName);
    return value;
  }
  Result<std::uint64_t> word(abi::WordWindow window, std::uint32_t number) {
    const auto value = card_.registers().read64(window.at(number));
    if (value == ~0ULL) return explain("a word of a window");
    return value;
  }
  template <class R>
  void write(R value) {
    platform::write_register(card_.registers(), value);
  }

 private:
  tl::unexpected<Error> explain(std::string_view what) {
    if (card_.read_config(abi::pci::kVendorId) == abi::pci::kAllOnes) {
      return fail(ErrorCode::kDeviceLost,
                  fmt::format("{} no longer answers", to_string(card_.bdf())));
    }
    return fail(ErrorCode::kIo, fmt::format("{}: {} reads as all ones, but configuration space "
                                            "answers",
                                            to_string(card_.bdf()), what));
  }

  ManagementAccess& card_;
};

}  // namespace npu::driver
