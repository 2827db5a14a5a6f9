// SPDX-License-Identifier: Apache-2.0
// The causes of trace.hpp as text: "dma0:17" is the command with number 17 of card 0's DMA ring,
// "queue0.3:5" entry 5 of queue 3 of card 0, "task0.2:9" task 9 of card 0's run 2 (all from 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "npu/base/result.hpp"

namespace npu::timeline {

// "-" for 0, which is no cause.
std::string cause_text(std::uint64_t cause);
// At `to`, with room for kLongestCause bytes; returns its end.
constexpr std::size_t kLongestCause = 48;
char* put_cause(char* to, std::uint64_t cause);

// kInvalidArgument: it is none of the three.
Result<std::uint64_t> parse_cause(const std::string& text);

// Of a command of a DMA ring, a page copy or an entry of a queue: its number. Others: 0.
std::uint64_t cause_index(std::uint64_t cause);
constexpr bool is_dma_cause(std::uint64_t cause) {
  return cause != 0 && cause >> 62 == 0;
}
// Of the driver's own (platform::page_copy_cause): numbered from 1 by a channel that is no ring.
constexpr bool is_page_copy_cause(std::uint64_t cause) {
  return is_dma_cause(cause) && (cause >> 47 & 1) != 0;
}
constexpr bool is_queue_cause(std::uint64_t cause) {
  return cause >> 63 != 0;
}

}  // namespace npu::timeline
