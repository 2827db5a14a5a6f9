// SPDX-License-Identifier: Apache-2.0
#include "timeline/detail_text.hpp"

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

void write_bdf(JsonWriter& out, std::uint64_t value) {
  const auto byte = [&out](std::uint64_t number) {
    if (number < 16) out.raw("0");
    out.hex_digits(number);
  };
  byte(value >> 8);
  out.raw(":");
  byte(value >> 3 & 0x1F);
  out.raw(".");
  out.number(value & 7);
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

void write_word(JsonWriter& out, DetailFormat format, std::uint64_t value) {
  const auto word = word_of(format, value);
  if (word.empty() || word == "?") return out.number(value);
  out.raw(word);
}

}  // namespace

void write_field(JsonWriter& out, const platform::DetailField& field, std::uint64_t detail) {
  const std::uint64_t value = field_value(field, detail);
  if (field.format == DetailFormat::kNumber) return out.number(value);
  out.raw("\"");
  if (field.format == DetailFormat::kHex) {
    out.hex(value);
  } else if (field.format == DetailFormat::kBdf) {
    write_bdf(out, value);
  } else if (field.format == DetailFormat::kTask && value != UINT32_MAX) {
    out.number(value);
  } else if (field.format == DetailFormat::kTask) {
    out.raw("none");
  } else {
    write_word(out, field.format, value);
  }
  out.raw("\"");
}

}  // namespace npu::timeline
