// SPDX-License-Identifier: Apache-2.0
// Bandwidth of copies of one size, over queue depth and number of streams, and what limits it.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "model/config/system_config.hpp"
#include "npu/base/checked.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/framework/limits.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/copy_path.hpp"

namespace npu::workloads {
namespace programs::dma_bandwidth {
namespace {

constexpr Bytes kStripe = 1_MiB;      // a copy is spread over streams in parts no smaller than this
constexpr Bytes kFootprint = 64_MiB;  // copies of small sizes take turns in this much memory
constexpr Bytes kWindow = 64_KiB;     // compared at once

struct Shape {
  std::string direction;
  Bytes size = 0;
  std::uint64_t depth = 0;  // commands in flight per stream
  std::uint64_t streams = 0;
};

struct Outcome {
  Shape shape;
  Bytes bytes = 0;
  Picoseconds elapsed;
  Snapshot gained;
  std::vector<IdleCause> idle;

  Number rate() const { return Number::gb_per_s(bytes, elapsed); }
};

// Those of the simulated card; none when nobody knows them.
std::optional<DmaEngines> engines_of(const Context& context, std::size_t card) {
  if (context.machine == nullptr || card >= context.machine->cards.size()) return {};
  const auto& dma = context.machine->cards[card].dma;
  return DmaEngines{dma.engines, dma.engine_setup, dma.max_outstanding_reads};
}

// True if `a` is faster than `b`.
bool faster(const Outcome& a, const Outcome& b) {
  return a.rate().value() > b.rate().value();
}

// Of bytes per second.
Number percent_of(const Number& gb_per_s, std::uint64_t peak) {
  return Number::quotient(static_cast<std::uint64_t>(gb_per_s.value()) * 100, peak / 1'000'000, 3);
}

struct Best {
  Number rate;
  std::uint64_t depth, streams;
  std::optional<Number> hbm_traffic, hbm_peak;  // inside the card
  std::optional<Number> link_peak, link_idle;   // over the link
  std::optional<Number> memory_idle;

  std::optional<Number> peak() const { return hbm_peak ? hbm_peak : link_peak; }
};

constexpr Figure<Outcome> kOfShape[] = {{"bandwidth_gb_per_s", "GB/s", from<&Outcome::rate>}};
constexpr Figure<Best> kFigures[] = {
    {"bandwidth_gb_per_s", "GB/s", from<&Best::rate>, {"GB/s"}},
    {"best_depth", "", from<&Best::depth>, {"depth"}},
    {"best_streams", "", from<&Best::streams>, {"streams"}},
    {"hbm_traffic_gb_per_s", "GB/s", from<&Best::hbm_traffic>},
    {"hbm_peak_percent", "%", from<&Best::hbm_peak>, {}, kHardlyLess},
    {"link_peak_percent", "%", from<&Best::link_peak>, {}, kHardlyLess},
    {"link_idle_percent", "%", from<&Best::link_idle>},
    {"memory_idle_percent", "%", from<&Best::memory_idle>},
    {"", "%", from<&Best::peak>, {"% of peak"}}};
constexpr Figure<Limit> kLimit[] = {{"percent", "%", from<&Limit::percent>}};  // behind its name

class Bench {
 public:
  Bench(Context& context, driver::Device& device, std::vector<driver::StreamId> streams)
      : context_(context), device_(device), streams_(std::move(streams)) {}

  // All depths and numbers of streams for one direction and size; the best is the headline.
  Result<Outcome> run(const std::string& direction, Bytes size) {
    const Bytes total = std::max(size, context_.parameters.size("bytes"));
    const Bytes footprint = std::max(size, std::min(total, kFootprint) / size * size);
    choose_windows(footprint);
    // Both ends: what is compared of them, and of d2h all that is written to the host.
    const auto what = fmt::format("sizes={} bytes={} verify={}", size_name(size),
                                  size_name(context_.parameters.size("bytes")),
                                  size_name(context_.parameters.size("verify")));
    const Bytes written = direction == "d2h" ? footprint : 0;
    if (auto ok = require_host_memory(what, 2 * windows_.size() * kWindow + written); !ok) {
      return forward_error(ok);
    }
    auto path = CopyPath::create(context_, device_, streams_[0], direction_opcode(direction),
                                 footprint, std::min(footprint, kWindow));
    if (!path) return forward_error(path);
    std::optional<Outcome> best;
    for (const auto streams : context_.parameters.integers("streams")) {
      for (const auto depth : context_.parameters.integers("depths")) {
        const Shape shape{direction, size, depth, streams};
        auto outcome = measure(**path, shape, total, footprint);
        if (!outcome) return forward_error(outcome);
        const auto prefix =
            fmt::format("dma.{}.{}.depth{}.streams{}.", direction, size_name(size), depth, streams);
        report_figures(context_, prefix, kOfShape, *outcome);
        if (!best || faster(*outcome, *best)) best = std::move(*outcome);
      }
    }
    return *best;
  }

  Bytes compared() const { return compared_; }

 private:
  Result<Outcome> measure(CopyPath& path, const Shape& shape, Bytes total, Bytes footprint) {
    const std::uint64_t seed = context_.seed ^ (++round_ << 32);
    if (auto ok = prepare(path, footprint, seed); !ok) return forward_error(ok);
    const auto before = take_snapshot(context_.simulator);
    auto& clock = context_.platform.clock();
    const Instant begin = clock.now();
    const auto card = device_.info().device_index;
    const auto engines = engines_of(context_, card);
    DmaUsage usage(card, engines.value_or(DmaEngines{}), begin);
    auto bytes = [&] {
      const TraceSession listening(context_.trace, usage);
      return copy(path, shape, total, footprint);
    }();
    if (!bytes) return forward_error(bytes);
    const Picoseconds elapsed = clock.now() - begin;
    const auto gained = difference(before, take_snapshot(context_.simulator));
    usage.finish(begin + elapsed);
    const auto what = fmt::format("{} copies of {}, depth {}, {} streams", shape.direction,
                                  size_name(shape.size), shape.depth, shape.streams);
    if (auto ok = verify(path, footprint, seed, what); !ok) return forward_error(ok);
    Outcome outcome{shape, *bytes, elapsed, gained, {}};
    if (engines) outcome.idle = causes_of_idle(outcome, usage, *engines, card);
    return outcome;
  }

  static std::vector<IdleCause> causes_of_idle(const Outcome& outcome, const DmaUsage& usage,
                                               const DmaEngines& engines, std::size_t card) {
    const auto& direction = outcome.shape.direction;
    const bool memory_full = direction != "d2d" && card < outcome.gained.memories.size() &&
                             memory_idle_percent(outcome.gained, card).value() < 10'000;
    return idle_causes(usage, engines, direction == "h2d", memory_full);
  }

  // Copies at least `total` bytes and returns how many it copied.
  Result<Bytes> copy(CopyPath& path, const Shape& shape, Bytes total, Bytes footprint) {
    const Bytes stripes = std::clamp<Bytes>(shape.size / kStripe, 1, shape.streams);
    const Bytes part = *checked_align_up(ceil_div(shape.size, stripes), 64);
    std::vector<std::deque<driver::Ticket>> in_flight(shape.streams);
    driver::SubmitOptions options;
    options.interrupt = false;
    Bytes copied = 0;
    for (std::uint64_t turn = 0; copied < total;) {
      for (Bytes at = 0; at < shape.size; at += part, ++turn) {
        auto& queue = in_flight[turn % shape.streams];
        if (queue.size() == shape.depth) {
          if (auto ok = wait(queue.front()); !ok) return forward_error(ok);
          queue.pop_front();
        }
        const auto command = path.command(copied % footprint + at, std::min(part, shape.size - at));
        auto ticket = device_.submit(streams_[turn % shape.streams], command, options);
        if (!ticket) return forward_error(ticket);
        queue.push_back(*ticket);
      }
      copied += shape.size;
    }
    for (const auto& queue : in_flight) {
      if (queue.empty()) continue;
      if (auto ok = wait(queue.back()); !ok) return forward_error(ok);
    }
    return copied;
  }

  Status wait(const driver::Ticket& ticket) {
    return device_.wait(ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
  }

  // Everything if that is no more than "verify", else windows: the first, the last, random ones.
  void choose_windows(Bytes footprint) {
    windows_.clear();
    const Bytes limit = context_.parameters.size("verify");
    const Bytes all = ceil_div(footprint, kWindow);
    const Bytes wanted = std::min(all, ceil_div(limit, kWindow));
    if (wanted == 0) return;
    windows_ = {0, all - 1};
    Random random = context_.random(footprint);
    while (windows_.size() < wanted) windows_.insert(random.below(all));
  }

  template <class F>
  Status for_each_window(Bytes footprint, F visit) {
    for (const Bytes index : windows_) {
      const Bytes at = index * kWindow;
      auto ok = visit(at, std::min(kWindow, footprint - at));
      if (!ok) return ok;
    }
    return {};
  }

  Status prepare(CopyPath& path, Bytes footprint, std::uint64_t seed) {
    return for_each_window(footprint,
                           [&](Bytes at, Bytes size) { return path.prepare(at, size, seed ^ at); });
  }

  Status verify(CopyPath& path, Bytes footprint, std::uint64_t seed, const std::string& what) {
    return for_each_window(footprint, [&](Bytes at, Bytes size) {
      compared_ += size;
      return path.verify(at, size, seed ^ at, what);
    });
  }

  Context& context_;
  driver::Device& device_;
  std::vector<driver::StreamId> streams_;
  std::set<Bytes> windows_;
  std::uint64_t round_ = 0;
  Bytes compared_ = 0;
};

// Of the best shape.
void report_outcome(Context& context, std::size_t card, const Outcome& outcome, Table& table) {
  const auto& gained = outcome.gained;
  const auto& [direction, size, depth, streams] = outcome.shape;
  const std::string prefix = "dma." + direction + "." + size_name(size);
  const bool on_card = direction == "d2d";
  Best best{outcome.rate(), depth, streams, {}, {}, {}, {}, {}};
  if (on_card && card < gained.memories.size()) {
    best.hbm_traffic = Number::gb_per_s(memory_traffic(gained, card), gained.time);
    best.hbm_peak = percent_of(*best.hbm_traffic, gained.memories[card].peak_bytes_per_second);
  }
  if (!on_card && !gained.links.empty()) {
    best.link_peak = percent_of(best.rate, busiest_link(gained).raw_bytes_per_second);
    best.link_idle = link_idle_percent(gained);
  }
  if (on_card) best.memory_idle = memory_idle_percent(gained, card);
  report_figures(context, prefix + ".", kFigures, best, &table, {direction, size_name(size)});
  for (auto& limit : on_card ? memory_limits(prefix, gained, card, outcome.idle)
                             : link_limits(prefix, gained, outcome.idle)) {
    report_figures(context, prefix + ".limit." + limit.name + "_", kLimit, limit);
    context.report.add_limit(std::move(limit));
  }
}

Result<std::vector<driver::StreamId>> create_streams(Context& context, driver::Device& device) {
  const auto& counts = context.parameters.integers("streams");
  std::vector<driver::StreamId> streams;
  for (std::uint64_t i = 0; i < *std::max_element(counts.begin(), counts.end()); ++i) {
    auto stream = device.create_stream();
    if (!stream) return forward_error(stream);
    streams.push_back(*stream);
  }
  return streams;
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto streams = create_streams(context, **device);
  if (!streams) return forward_error(streams);
  Bench bench(context, **device, *streams);
  const auto& directions = context.parameters.choices("directions");
  const auto& sizes = context.parameters.sizes("sizes");
  auto& table = add_figure_table(context.report, "bandwidth, best of the depths and streams tried",
                                 {"direction", "size"}, kFigures);
  std::uint64_t done = 0;
  for (const auto& direction : directions) {
    for (const auto size : sizes) {
      context.step(direction + " " + size_name(size), done++, directions.size() * sizes.size());
      auto best = bench.run(direction, size);
      if (!best) return forward_error(best);
      report_outcome(context, (*device)->info().device_index, *best, table);
    }
  }
  context.report.add_note(
      "peak: HBM traffic (reads plus writes) of what the HBM's data buses can carry for d2d, bytes "
      "copied of the link's rate after encoding otherwise");
  context.report.add_note(fmt::format("{} bytes compared byte for byte", bench.compared()));
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::dma_bandwidth

Workload dma_bandwidth() {
  return {"dma_bandwidth",
          "Bandwidth of copies over size, queue depth and streams, and what limits it by name",
          {{"sizes", ParameterType::kSizeList, "B", "4KiB,64KiB,1MiB,16MiB", "sizes of a copy", 64,
            16_GiB},
           directions_parameter("h2d,d2h,d2d"),
           {"depths", ParameterType::kIntegerList, "", "1,16", "commands in flight per stream", 1,
            1024},
           {"streams", ParameterType::kIntegerList, "", "1,8",
            "streams; copies of 2 MiB or more are spread over them", 1, 256},
           {"bytes", ParameterType::kSize, "B", "4MiB", "copied per measurement, at least one copy",
            64, 64_GiB},
           {"verify", ParameterType::kSize, "B", "1MiB",
            "compared per measurement, in windows of 64 KiB; 0: nothing", 0, 64_GiB},
           ring_parameter(),
           card_parameter()},
          programs::dma_bandwidth::run,
          figure_rows(programs::dma_bandwidth::kOfShape, programs::dma_bandwidth::kFigures,
                      programs::dma_bandwidth::kLimit)};
}

}  // namespace npu::workloads
