// SPDX-License-Identifier: Apache-2.0
#include "timeline/event_text.hpp"

#include <string>

#include "timeline/cause.hpp"
#include "timeline/detail_text.hpp"

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

constexpr std::string_view kBegin = ",\n{\"ph\":\"X\",\"pid\":";
constexpr std::size_t kPhaseAt = 9;
static_assert(kBegin[kPhaseAt] == 'X');

}  // namespace

EventText::EventText(JsonWriter& out) : out_(out) {
  for (const auto& row : platform::kActivityTable) {
    auto& texts = activities_[static_cast<std::size_t>(row.activity)];
    texts.head = TextPiece(",\"name\":\"" + std::string(row.name) + "\",\"cat\":\"" +
                           std::string(platform::to_string(row.category)) + "\",\"args\":{");
    for (std::size_t i = 0; i < row.fields.size() && row.fields[i].bits != 0; ++i) {
      texts.keys[i] = TextPiece("\"" + std::string(row.fields[i].name) + "\":");
    }
    texts.has_ring_index = tells_ring_index(row.activity);
  }
}

void EventText::learn(Thread thread) {
  if (heads_.size() <= thread.number) heads_.resize(thread.number + std::size_t{1});
  heads_[thread.number] = TextPiece(std::string(kBegin) + std::to_string(thread.process) +
                                    ",\"tid\":" + std::to_string(thread.number) + ",\"ts\":");
}

void EventText::slice(const platform::TraceEvent& event, Thread thread, std::uint64_t task) {
  out_.raw(heads_[thread.number]);
  out_.microseconds(event.begin);
  out_.raw(",\"dur\":");
  out_.microseconds(event.end - event.begin);
  out_.raw(activities_[static_cast<std::size_t>(event.activity)].head);
  arguments(event, task);
  out_.raw("}}");
}

// Each with a comma behind it; the last one's goes.
void EventText::arguments(const platform::TraceEvent& event, std::uint64_t task) {
  const auto& texts = activities_[static_cast<std::size_t>(event.activity)];
  if (event.cause != 0) {
    out_.raw("\"cause\":\"");
    write_cause(out_, event.cause);
    out_.raw("\",");
    if (texts.has_ring_index && is_dma_cause(event.cause)) {
      out_.raw("\"ring_index\":");
      out_.number(cause_index(event.cause) % kRingEntries);
      out_.raw(",");
    }
  }
  if (event.bytes != 0) {
    out_.raw("\"bytes\":");
    out_.number(event.bytes);
    out_.raw(",");
  }
  const auto& row = platform::row_of(event.activity);
  for (std::size_t i = 0; i < texts.keys.size() && !texts.keys[i].empty(); ++i) {
    out_.raw(texts.keys[i]);
    write_field(out_, row.fields[i], event.detail);
    out_.raw(",");
  }
  if (task != 0) {
    out_.raw("\"task\":\"");
    write_cause(out_, task);
    out_.raw("\",");
  }
  if (out_.last() == ',') out_.drop_last();
}

// Perfetto reads an id as hexadecimal digits, at most 16.
void EventText::arrow(char phase, Arrow kind, std::uint64_t id, Thread thread, Picoseconds when) {
  const auto& head = heads_[thread.number];
  out_.raw(head);
  out_.replace(head.size() - kPhaseAt, phase);
  out_.microseconds(when);
  if (kind == Arrow::kRequest) {
    out_.raw(",\"name\":\"request\",\"cat\":\"request\",\"id\":\"");
  } else {
    out_.raw(",\"name\":\"task\",\"cat\":\"task\",\"id\":\"");
  }
  out_.hex_digits(id);
  if (phase == 'f') {
    out_.raw("\",\"bp\":\"e\"}");
  } else {
    out_.raw("\"}");
  }
}

}  // namespace npu::timeline
