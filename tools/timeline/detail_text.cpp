// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/detail_text.hpp"

#include <array>

#include "npu/abi/dma.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/queue_entry.hpp"
#include "npu/abi/queue_management.hpp"
#include "npu/platform/core_events.hpp"
#include "tools/timeline/put.hpp"

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

char* put_bdf(char* to, std::uint64_t value) {
  const auto byte = [](char* at, std::uint64_t number) {
    return put_hex(number < 16 ? put(at, "0") : at, number);
  };
  to = byte(to, value >> 8);
  to = byte(put(to, ":"), value >> 3 & 0x1F);
  return put_number(put(to, "."), value & 7);
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
    case DetailFormat::kPipeOperation:
      return at(platform::kPipeOperationNames, value);
    case DetailFormat::kBeganAfter:
      return at(platform::kBeganAfterNames, value);
    case DetailFormat::kScalarWait:
      return at(platform::kScalarWaitNames, value);
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

char* put_word(char* to, DetailFormat format, std::uint64_t value) {
  constexpr std::size_t kLongest = kLongestField - 2;  // in quotes
  const auto word = word_of(format, value);
  if (word.empty() || word == "?") return put_number(to, value);
  return put(to, word.substr(0, kLongest));
}

}  // namespace

char* put_field(char* to, const platform::DetailField& field, std::uint64_t detail) {
  const std::uint64_t value = field_value(field, detail);
  if (field.format == DetailFormat::kNumber) return put_number(to, value);
  *to++ = '"';
  if (field.format == DetailFormat::kHex) {
    to = put_hex(put(to, "0x"), value);
  } else if (field.format == DetailFormat::kBdf) {
    to = put_bdf(to, value);
  } else if (field.format == DetailFormat::kTask) {
    to = value == UINT32_MAX ? put(to, "none") : put_number(to, value);
  } else {
    to = put_word(to, field.format, value);
  }
  *to++ = '"';
  return to;
}

}  // namespace npu::timeline
