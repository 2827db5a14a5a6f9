// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/event_text.hpp"

#include <string>

#include "tools/timeline/cause.hpp"
#include "tools/timeline/detail_text.hpp"

namespace npu::timeline {
namespace {

using platform::Activity;

constexpr std::uint64_t kRingEntries = 4096;  // of the DMA ring

// The longest of each: a piece holds them with what stands around them.
constexpr bool fits_pieces() {
  constexpr std::size_t kAroundNames = 30, kAroundKey = 3;
  for (const auto& row : platform::kActivityTable) {
    const std::size_t names = row.name.size() + platform::to_string(row.category).size();
    if (names + kAroundNames > TextPiece::kMost) return false;
    for (const auto& field : row.fields) {
      if (field.name.size() + kAroundKey > TextPiece::kMost) return false;
    }
  }
  return true;
}
static_assert(fits_pieces());

// Of commands themselves; all else that is done for one has its cause.
bool tells_ring_index(Activity activity) {
  return activity == Activity::kDmaSubmit || activity == Activity::kDescriptorFetch ||
         activity == Activity::kCommand;
}

TextPiece head_of(std::string_view name, platform::Category category) {
  return TextPiece(",\"name\":\"" + std::string(name) + "\",\"cat\":\"" +
                   std::string(platform::to_string(category)) + "\",\"args\":{");
}

constexpr std::string_view kBegin = ",\n{\"ph\":\"X\",\"pid\":";
constexpr std::size_t kPhaseAt = 9;
static_assert(kBegin[kPhaseAt] == 'X');

// What slice() and arrow() write at most, and what their pieces need behind that.
constexpr std::size_t kLongestEvent = 10 * TextPiece::kMost + 2 * kLongestTime + 2 * kLongestCause +
                                      platform::kDetailFields * kLongestField + 128;

}  // namespace

EventText::EventText(JsonWriter& out) : out_(out) {
  for (const auto& row : platform::kActivityTable) {
    auto& texts = activities_[static_cast<std::size_t>(row.activity)];
    texts.head = head_of(row.name, row.category);
    for (std::size_t i = 0; i < row.fields.size() && row.fields[i].bits != 0; ++i) {
      texts.keys[i] = TextPiece("\"" + std::string(row.fields[i].name) + "\":");
    }
    texts.has_ring_index = tells_ring_index(row.activity);
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    operations_[i] = head_of(platform::kPipeOperationNames[i], platform::Category::kAicore);
  }
}

// An instruction of a pipe is called what it does.
const TextPiece& EventText::head(const platform::TraceEvent& event) const {
  if (event.activity == Activity::kPipe) {
    const auto operation =
        static_cast<std::size_t>(platform::PipeDetail::unpack(event.detail).operation);
    if (operation < operations_.size()) return operations_[operation];
  }
  return activities_[static_cast<std::size_t>(event.activity)].head;
}

void EventText::learn(Thread thread) {
  if (heads_.size() <= thread.number) heads_.resize(thread.number + std::size_t{1});
  heads_[thread.number] = TextPiece(std::string(kBegin) + std::to_string(thread.process) +
                                    ",\"tid\":" + std::to_string(thread.number) + ",\"ts\":");
}

void EventText::slice(const platform::TraceEvent& event, Thread thread, std::uint64_t task) {
  char* to = put(out_.room(kLongestEvent), heads_[thread.number]);
  to = put(put_microseconds(to, event.begin.since_power_up()), ",\"dur\":");
  to = put_microseconds(to, event.end - event.begin);
  to = put(to, head(event));
  out_.to(put(put_arguments(to, event, task), "}}"));
}

// Each with a comma behind it; the last one's goes.
char* EventText::put_arguments(char* to, const platform::TraceEvent& event,
                               std::uint64_t task) const {
  const auto& texts = activities_[static_cast<std::size_t>(event.activity)];
  if (event.cause != 0) {
    to = put(put_cause(put(to, "\"cause\":\""), event.cause), "\",");
    if (texts.has_ring_index && is_dma_cause(event.cause)) {
      to = put_number(put(to, "\"ring_index\":"), cause_index(event.cause) % kRingEntries);
      to = put(to, ",");
    }
  }
  if (event.bytes != 0) to = put(put_number(put(to, "\"bytes\":"), event.bytes), ",");
  const auto& row = platform::row_of(event.activity);
  for (std::size_t i = 0; i < texts.keys.size() && !texts.keys[i].empty(); ++i) {
    to = put(put_field(put(to, texts.keys[i]), row.fields[i], event.detail), ",");
  }
  if (task != 0) to = put(put_cause(put(to, "\"task\":\""), task), "\",");
  return to[-1] == ',' ? to - 1 : to;
}

// Perfetto reads an id as hexadecimal digits, at most 16.
void EventText::arrow(char phase, Arrow kind, std::uint64_t id, Thread thread, Instant when) {
  char* const begin = out_.room(kLongestEvent);
  char* to = put(begin, heads_[thread.number]);
  begin[kPhaseAt] = phase;
  to = put_microseconds(to, when.since_power_up());
  to = kind == Arrow::kRequest ? put(to, ",\"name\":\"request\",\"cat\":\"request\",\"id\":\"")
                               : put(to, ",\"name\":\"task\",\"cat\":\"task\",\"id\":\"");
  to = put_hex(to, id);
  out_.to(phase == 'f' ? put(to, "\",\"bp\":\"e\"}") : put(to, "\"}"));
}

}  // namespace npu::timeline
