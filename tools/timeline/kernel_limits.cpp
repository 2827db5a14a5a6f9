// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/kernel_limits.hpp"

#include <algorithm>
#include <string_view>

#include "npu/base/text.hpp"

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Category;

constexpr std::uint64_t kQueueBit = std::uint64_t{1} << 63;  // platform::queue_cause

std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

// "card0.aicore3.mte2" -> "mte2"; of the core itself nothing.
std::string pipe_in(const std::string& unit) {
  const auto core = unit.find(".aicore");
  if (core == std::string::npos) return {};
  const auto dot = unit.find('.', core + 1);
  return dot == std::string::npos ? std::string() : unit.substr(dot + 1);
}

std::string limit_of(const PathSegment& segment) {
  const auto& name = segment.name;
  if (!segment.in_program) return "launch";
  if (ends_with(name, " waits for HBM")) return "hbm";
  if (ends_with(name, " waits for L2")) return "l2";
  if (ends_with(name, " waits for MMU")) return "mmu";
  if (ends_with(name, " on its way")) return "way";
  if (name == "scalar waits for memory") return "scalar_memory";
  if (name.rfind("scalar", 0) == 0) return "scalar";
  if (name == "flag" || name == "drain" || name == "cross flag") return "flags";
  const auto pipe = pipe_in(segment.unit);
  return pipe.empty() ? "launch" : pipe;
}

struct Sum {
  Picoseconds time;
  std::map<std::string, Picoseconds> pipes;       // that waited
  std::map<std::string, Picoseconds> operations;  // that took the time
};

std::string longest(const std::map<std::string, Picoseconds>& times) {
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::string() : most->first;
}

// What a memory's share of its peak, and how long its reads take, says of those who wait for it.
std::string fullness(int percent, unsigned slowness) {
  constexpr int kFull = 80;
  constexpr unsigned kSlow = 3;  // most of the time of a read is others' before it
  if (percent < 0) return {};
  const bool is_full = percent >= kFull || slowness >= kSlow;
  std::string text = ", which carries " + std::to_string(percent) + " % of its peak";
  if (is_full && percent < kFull) {
    text += " and takes " + std::to_string(slowness) + " times its least time for a read";
  }
  return text + (is_full ? ": it is full" : ": its latency, with too few bytes in flight");
}

std::string text_of(const std::string& name, const Sum& sum, const std::string& hbm,
                    const std::string& l2) {
  const auto pipe = longest(sum.pipes), operation = longest(sum.operations);
  if (name == "hbm") return pipe + " waits for the HBM" + hbm;
  if (name == "l2") return pipe + " waits for the L2" + l2;
  if (name == "mmu") return pipe + " waits for translations";
  if (name == "way") return "the fixed time of copies, of " + pipe + " above all";
  if (name == "scalar") return "the scalar unit computes and issues";
  if (name == "scalar_memory") return "the scalar unit waits for its arguments and its program";
  if (name == "flags") return "flags between pipes and cores on their way";
  if (name == "launch") return "launching: blocks begin and end, the next is dispatched";
  if (ends_with(operation, " at its rate")) {
    return first_word(operation) + ", as fast as its path goes";
  }
  return operation + (sum.operations.size() > 1 ? " above all" : "");
}

}  // namespace

void KernelTraffic::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kHbmRead:
    case Activity::kHbmWrite:
    case Activity::kL2Read:
    case Activity::kL2Write:
      if ((event.cause & kQueueBit) == 0) return;
      if (event.activity == Activity::kHbmRead) {
        const auto time = (event.end - event.begin).count();
        least_read_ = reads_ == 0 ? time : std::min(least_read_, time);
        ++reads_;
        read_time_ += time;
      }
      bytes_[{platform::row_of(event.activity).category, event.track}] += event.bytes;
      return;
    case Activity::kKernelBlock:
    case Activity::kKernelCall:
      (event.activity == Activity::kKernelCall ? calls_ : blocks_)
          .push_back({event.begin.since_power_up().count(), event.end.since_power_up().count()});
      return;
    default:
      return;
  }
}

// While any of them ran; blocks of an executor are there for their calls.
std::int64_t KernelTraffic::time() const {
  auto spans = calls_.empty() ? blocks_ : calls_;
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::int64_t sum = 0, until = 0;
  for (const auto& span : spans) {
    const auto begin = std::max(span.begin, until);
    if (span.end <= begin) continue;
    sum += span.end - begin;
    until = span.end;
  }
  return sum;
}

unsigned KernelTraffic::slowness() const {
  return least_read_ == 0 ? 0 : static_cast<unsigned>(read_time_ / reads_ / least_read_);
}

int KernelTraffic::percent(Category memory, const TrackName& name, const Capacity& capacity) const {
  Bytes most = 0;
  std::uint32_t track = 0;
  for (const auto& [key, bytes] : bytes_) {
    if (key.first != memory || bytes <= most) continue;
    most = bytes;
    track = key.second;
  }
  const auto length = time();
  const std::uint64_t peak = most == 0 ? 0 : capacity(name(track));
  if (peak == 0 || length == 0) return -1;
  __extension__ using Wide = unsigned __int128;
  const Wide could = Wide{peak} * static_cast<std::uint64_t>(length) / 1'000'000'000'000;
  return could == 0 ? -1 : static_cast<int>(std::min<Wide>(Wide{most} * 100 / could, 100));
}

KernelTime kernel_limits(const std::vector<PathSegment>& segments, bool in_programs,
                         const KernelTraffic& traffic, const KernelTraffic::TrackName& name,
                         const KernelTraffic::Capacity& capacity) {
  std::map<std::string, Sum> sums;
  KernelTime result;
  for (const auto& segment : segments) {
    if (in_programs && !segment.in_program) continue;
    const auto time = segment.end - segment.begin;
    auto& sum = sums[limit_of(segment)];
    sum.time += time;
    sum.operations[segment.name] += time;
    sum.pipes[pipe_in(segment.unit)] += time;
    result.total += time;
  }
  const auto hbm = fullness(traffic.percent(Category::kHbm, name, capacity), traffic.slowness());
  const auto l2 = fullness(traffic.percent(Category::kL2, name, capacity), 0);
  for (const auto& [limit, sum] : sums) {
    result.limits.push_back({limit, sum.time, text_of(limit, sum, hbm, l2)});
  }
  std::stable_sort(result.limits.begin(), result.limits.end(),
                   [](const KernelLimit& a, const KernelLimit& b) { return a.time > b.time; });
  return result;
}

}  // namespace npu::timeline
