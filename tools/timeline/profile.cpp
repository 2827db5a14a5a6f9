// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/profile.hpp"

#include <algorithm>

#include "tools/timeline/critical_path.hpp"
#include "tools/timeline/json_object.hpp"

namespace npu::timeline {
namespace {

constexpr std::string_view kShort = ", ", kLine = ",\n    ";
// Of the path these are told one by one, the longest; the parts' sums have all.
constexpr std::size_t kMostSegments = 1000;

// A hundred thousandth of all is 0.001 %.
void write_percent(JsonWriter& out, std::uint32_t value) {
  out.number(value / 1000);
  out.raw(".");
  const std::uint32_t rest = value % 1000;
  out.raw(rest < 10 ? "00" : rest < 100 ? "0" : "");
  out.number(rest);
}

void write_range(JsonWriter& out, const MemoryMap::Range& range) {
  JsonObject object(out);
  object.number("begin", range.begin);
  object.number("end", range.end);
  object.string("state", platform::kBlockStateNames[static_cast<std::size_t>(range.state)]);
}

void write_moment(JsonWriter& out, const MemoryMap::Moment& moment) {
  JsonObject object(out);
  object.number("when_ps", moment.when.since_power_up());
  object.string("label", moment.label);
  object.array("ranges", moment.ranges, kShort,
               [&](const MemoryMap::Range& range) { write_range(out, range); });
}

void write_part(JsonWriter& out, const PathPart& part) {
  JsonObject object(out);
  object.string("name", part.name);
  object.string("unit", part.unit);
  object.number("ps", part.time);
  object.number("count", part.segments);
}

void write_limit(JsonWriter& out, const KernelLimit& limit) {
  JsonObject object(out);
  object.string("name", limit.name);
  object.number("ps", limit.time);
  object.string("text", limit.what);
}

void write_segment(JsonWriter& out, const PathSegment& segment) {
  JsonObject object(out);
  object.number("begin_ps", segment.begin.since_power_up());
  object.number("end_ps", segment.end.since_power_up());
  object.string("name", segment.name);
  object.string("unit", segment.unit);
}

// The longest, in the order of time.
std::vector<PathSegment> longest(std::vector<PathSegment> segments) {
  if (segments.size() <= kMostSegments) return segments;
  const auto length = [](const PathSegment& segment) { return segment.end - segment.begin; };
  std::stable_sort(segments.begin(), segments.end(),
                   [&](const auto& a, const auto& b) { return length(a) > length(b); });
  segments.resize(kMostSegments);
  std::stable_sort(segments.begin(), segments.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return segments;
}

std::string text_of(const JsonWriter& out) {
  return std::string(out.text());
}

}  // namespace

std::string Profile::utilisation_json(const Sources& sources) const {
  JsonWriter out;
  {
    JsonObject object(out);
    object.number("begin_ps", Picoseconds{});
    object.number("window_ps", utilisation_.window());
    object.array("units", utilisation_.units(sources.track_name, sources.capacity), kLine,
                 [&](const Utilisation::Unit& unit) {
                   JsonObject each(out);
                   each.string("name", unit.name);
                   each.string("kind", unit.kind);
                   each.array("busy_percent", unit.busy_per_hundred_k, kShort,
                              [&](std::uint32_t value) { write_percent(out, value); });
                   each.array("bytes", unit.bytes, kShort,
                              [&](std::uint64_t value) { out.number(value); });
                 });
  }
  return text_of(out);
}

std::string Profile::durations_json() const {
  JsonWriter out;
  JsonObject::write_array(out, durations_.all(), kLine, [&](const Duration& each) {
    JsonObject object(out);
    object.string("name", platform::to_string(each.activity));
    object.number("count", each.count);
    object.number("min_ps", each.least);
    object.number("p50_ps", each.p50);
    object.number("p90_ps", each.p90);
    object.number("p99_ps", each.p99);
    object.number("max_ps", each.most);
    object.number("total_ps", each.total);
  });
  return text_of(out);
}

std::string Profile::memory_map_json(Instant end, const Sources& sources) const {
  JsonWriter out;
  JsonObject::write_array(out, memory_map_.cards(end), kLine, [&](const MemoryMap::Card& card) {
    const Memory memory = sources.memory_of(sources.track_name(card.track));
    JsonObject object(out);
    object.string("name", memory.name);
    object.number("bytes", memory.bytes);
    object.array("moments", card.moments, kLine,
                 [&](const MemoryMap::Moment& moment) { write_moment(out, moment); });
  });
  return text_of(out);
}

std::string Profile::critical_path_json(Instant end, const Sources& sources) {
  path_.sort(sources.track_name);
  const auto span = measured_.of(end);
  const auto segments =
      clipped(critical_path(path_, sources.track_name, end), span.begin, span.end);
  kernels_ = kernel_limits(segments, true, traffic_, sources.track_name, sources.capacity);
  const auto shown = longest(segments);
  JsonWriter out;
  {
    JsonObject object(out);
    object.number("total_ps", span.end - span.begin);
    object.number("begin_ps", span.begin.since_power_up());
    object.number("after_ps", end - span.end);
    object.number("kernels_ps", kernels_.total);
    object.array("kernels", kernels_.limits, kLine,
                 [&](const KernelLimit& limit) { write_limit(out, limit); });
    object.array("parts", path_parts(segments), kLine,
                 [&](const PathPart& part) { write_part(out, part); });
    object.array("segments", shown, kLine,
                 [&](const PathSegment& segment) { write_segment(out, segment); });
    object.number("segments_left_out", segments.size() - shown.size());
  }
  return text_of(out);
}

std::vector<std::pair<std::string, std::string>> Profile::sections(Instant end,
                                                                   const Sources& sources) {
  return {{"utilisation", utilisation_json(sources)},
          {"durations", durations_json()},
          {"memory_map", memory_map_json(end, sources)},
          {"critical_path", critical_path_json(end, sources)}};
}

}  // namespace npu::timeline
