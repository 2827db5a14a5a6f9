// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/cause.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "npu/base/shortened.hpp"
#include "npu/platform/trace.hpp"
#include "tools/timeline/put.hpp"

namespace npu::timeline {
namespace {

using platform::QueueCause;
using platform::TaskCause;

constexpr std::uint64_t kDmaIndex = 0xFFFF'FFFF'FFFF;
constexpr std::uint64_t kPageCopyIndex = kDmaIndex >> 1;

// Takes a decimal number of at most `most`, and what follows it, from the front of `text`.
std::optional<std::uint64_t> take(std::string_view& text, std::string_view behind,
                                  std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (text.substr(0, behind.size()) != behind) return std::nullopt;
  text.remove_prefix(behind.size());
  return value;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::uint64_t> parse(std::string_view text) {
  if (take_word(text, "dma")) {
    const auto card = take(text, ":", 0x3FFE);
    const auto position = card ? take(text, "", kDmaIndex) : std::nullopt;
    if (!position || !text.empty()) return std::nullopt;
    return platform::dma_cause(static_cast<std::uint32_t>(*card), *position);
  }
  const bool queue = take_word(text, "queue");
  if (!queue && !take_word(text, "task")) return std::nullopt;
  const auto card = take(text, ".", queue ? QueueCause::kMostCard : TaskCause::kMostCard);
  const auto most_group = queue ? QueueCause::kMostQueue : TaskCause::kMostRun;
  const auto group = card ? take(text, ":", most_group) : std::nullopt;
  const auto most_index = queue ? QueueCause::kMostIndex : UINT32_MAX;
  const auto index = group ? take(text, "", most_index) : std::nullopt;
  if (!index || !text.empty()) return std::nullopt;
  const auto on = static_cast<std::uint32_t>(*card);
  return queue ? platform::queue_cause(on, static_cast<std::uint32_t>(*group), *index)
               : platform::task_cause(on, *group, static_cast<std::uint32_t>(*index));
}

}  // namespace

char* put_cause(char* to, std::uint64_t cause) {
  if (cause == 0) return put(to, "-");
  if (is_dma_cause(cause)) {
    to = put_number(put(to, "dma"), (cause >> 48) - 1);
    return put_number(put(to, ":"), cause & kDmaIndex);
  }
  const bool queue = QueueCause::is(cause);
  to = queue ? put(to, "queue") : put(to, "task");
  to = put_number(to, queue ? QueueCause::card(cause) : TaskCause::card(cause));
  to = put_number(put(to, "."), queue ? QueueCause::queue(cause) : TaskCause::run(cause));
  return put_number(put(to, ":"), queue ? QueueCause::index(cause) : TaskCause::task(cause));
}

std::string cause_text(std::uint64_t cause) {
  std::array<char, kLongestCause> text{};
  return {text.data(), put_cause(text.data(), cause)};
}

Result<std::uint64_t> parse_cause(const std::string& text) {
  const auto cause = parse(text);
  if (cause) return *cause;
  return fail(ErrorCode::kInvalidArgument,
              "found '" + shortened(text) + "'; allowed: dma0:17, queue0.3:5, task0.2:9");
}

std::uint64_t cause_index(std::uint64_t cause) {
  if (TaskCause::is(cause)) return 0;
  if (is_page_copy_cause(cause)) return cause & kPageCopyIndex;
  return QueueCause::is(cause) ? QueueCause::index(cause) : cause & kDmaIndex;
}

}  // namespace npu::timeline
