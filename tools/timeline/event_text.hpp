// SPDX-License-Identifier: Apache-2.0
// The text of a timeline's slices and arrows. What all of a thread, or all of an activity, have in
// common is put together once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "npu/platform/core_events.hpp"
#include "npu/platform/trace.hpp"
#include "tools/timeline/json_writer.hpp"
#include "tools/timeline/threads.hpp"

namespace npu::timeline {

class EventText {
 public:
  explicit EventText(JsonWriter& out);

  // Before the first slice or arrow of that thread.
  void learn(Thread thread);
  // `task`: cause of the task that a kernel_call runs; 0: none that is known. Another event is
  // written before, whatever it is.
  void slice(const platform::TraceEvent& event, Thread thread, std::uint64_t task);
  // Phase 's', 't' or 'f'. `kind`: name and category of the arrows whose ids must differ.
  enum class Arrow : std::uint8_t { kRequest, kTask };
  void arrow(char phase, Arrow kind, std::uint64_t id, Thread thread, Instant when);

 private:
  struct OfActivity {
    TextPiece head;  // name, category, begin of the arguments
    std::array<TextPiece, platform::kDetailFields> keys;
    bool has_ring_index = false;
  };
  char* put_arguments(char* to, const platform::TraceEvent& event, std::uint64_t task) const;

  const TextPiece& head(const platform::TraceEvent& event) const;

  JsonWriter& out_;
  std::array<TextPiece, platform::kPipeOperations> operations_;  // heads of kPipe
  std::array<OfActivity, platform::kActivities> activities_;
  std::vector<TextPiece> heads_;  // by thread: up to the time
};

}  // namespace npu::timeline
