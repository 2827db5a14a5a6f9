// SPDX-License-Identifier: Apache-2.0
#include "timeline/detail_text.hpp"

#include <fmt/format.h>

#include <array>

#include "npu/abi/dma.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/queue_entry.hpp"
#include "npu/abi/queue_management.hpp"

namespace npu::timeline {
namespace {

using platform::DetailFormat;

// In the order of platform::Pipe.
constexpr std::array<std::string_view, 8> kPipes{"scalar", "vector", "cube",    "mte1",
                                                 "mte2",   "mte3",   "fixpipe", "all"};

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, std::uint64_t value) {
  return value < N ? names[value] : std::string_view();
}

std::string bdf_text(std::uint64_t value) {
  return fmt::format("{:02x}:{:02x}.{}", value >> 8, value >> 3 & 0x1F, value & 7);
}

std::string_view word_of(DetailFormat format, std::uint64_t value) {
  switch (format) {
    case DetailFormat::kFaultCode:
      return abi::to_string(static_cast<abi::FaultCode>(value));
    case DetailFormat::kDmaOpcode:
      return abi::to_string(static_cast<abi::DmaOpcode>(value));
    case DetailFormat::kQueueOpcode:
      return abi::to_string(static_cast<abi::QueueOpcode>(value));
    case DetailFormat::kManagementOpcode:
      return abi::to_string(static_cast<abi::ManagementOpcode>(value));
    case DetailFormat::kPipe:
      return at(kPipes, value);
    case DetailFormat::kDriverCall:
      return at(platform::kDriverCallNames, value);
    case DetailFormat::kBlockState:
      return at(platform::kBlockStateNames, value);
    case DetailFormat::kStatistic:
      return at(platform::kStatisticNames, value);
    default:
      return {};
  }
}

}  // namespace

std::string field_text(const platform::DetailField& field, std::uint64_t detail) {
  const std::uint64_t value = field_value(field, detail);
  switch (field.format) {
    case DetailFormat::kHex:
      return fmt::format("0x{:x}", value);
    case DetailFormat::kBdf:
      return bdf_text(value);
    case DetailFormat::kTask:
      return value == UINT32_MAX ? "none" : std::to_string(value);
    default:
      break;
  }
  const auto word = word_of(field.format, value);
  return word.empty() || word == "?" ? std::to_string(value) : std::string(word);
}

}  // namespace npu::timeline
