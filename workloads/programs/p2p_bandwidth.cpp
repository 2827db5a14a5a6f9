// SPDX-License-Identifier: Apache-2.0
// Bandwidth and latency of copies between cards over HCCS links, by size of the copy.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "model/config/system_config.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/fabric_links.hpp"
#include "workloads/programs/support/peer_path.hpp"

namespace npu::workloads {
namespace programs::p2p_bandwidth {
namespace {

constexpr Bytes kWindow = 64_KiB;     // compared at once
constexpr Bytes kFootprint = 64_MiB;  // copies take turns in this much memory

struct Shape {
  std::string pattern;
  std::string operation;  // "write" or "read"
  unsigned cards = 0;     // that take part
};

// Who copies to whom.
std::vector<std::pair<unsigned, unsigned>> transfers(const Shape& shape) {
  if (shape.pattern == "one_way") return {{0, 1}};
  if (shape.pattern == "both_ways") return {{0, 1}, {1, 0}};
  std::vector<std::pair<unsigned, unsigned>> all;
  for (unsigned from = 0; from < shape.cards; ++from) {
    if (shape.pattern == "ring") {
      all.emplace_back(from, (from + 1) % shape.cards);
      continue;
    }
    for (unsigned to = 0; to < shape.cards; ++to) {
      if (to != from) all.emplace_back(from, to);
    }
  }
  return all;
}

struct Outcome {
  Bytes bytes = 0;      // of all transfers
  Picoseconds elapsed;  // first submission to last completion
  Picoseconds fastest, slowest;
  Picoseconds wire_busy;  // of the link direction that was busy longest
};

// What the busiest direction of all links has been busy between two views of them.
Picoseconds busiest(const std::vector<PeerLinkCounters>& before,
                    const std::vector<PeerLinkCounters>& after) {
  Picoseconds most;
  for (std::size_t i = 0; i < after.size(); ++i) {
    most = std::max(most, after[i].busy - before[i].busy);
  }
  return most;
}

// One transfer with its own stream, driven by a task of its own.
struct Lane {
  std::unique_ptr<PeerPath> path;
  std::string name;
  Picoseconds elapsed;
  Status status;
};

class Bench {
 public:
  Bench(Context& context, std::vector<PeerCard>& cards) : context_(context), cards_(cards) {
    const auto& sizes = context.parameters.sizes("sizes");
    const Bytes largest = *std::max_element(sizes.begin(), sizes.end());
    footprint_ = std::max(largest, std::min(context.parameters.size("bytes"), kFootprint));
  }

  Status set_up(const Shape& shape) {
    lanes_.clear();
    const auto all = transfers(shape);
    // What is compared of both ends, and the windows to look through.
    const Bytes verified = std::min(context_.parameters.size("verify"), footprint_);
    const auto what = fmt::format("cards={} verify={}", shape.cards,
                                  size_name(context_.parameters.size("verify")));
    if (auto ok = require_host_memory(what, all.size() * 2 * (verified + kWindow)); !ok) return ok;
    for (const auto& [from, to] : all) {
      auto path = PeerPath::create(context_, cards_[from], cards_[to], shape.operation == "read",
                                   footprint_, kWindow);
      if (!path) return forward_error(path);
      lanes_.push_back({std::move(*path), fmt::format("card {} to card {}", from, to), {}, {}});
    }
    return {};
  }

  // All transfers at once, each in copies of `size`.
  Result<Outcome> run(Bytes size) {
    const std::uint64_t seed = context_.seed ^ (++round_ << 32);
    if (auto ok = for_each_window(size, seed, &Bench::prepare); !ok) return forward_error(ok);
    auto& clock = context_.platform.clock();
    const auto links = context_.simulator.peer_links();
    const auto begin = clock.now();
    if (auto ok = run_lanes(size); !ok) return forward_error(ok);
    Outcome outcome;
    outcome.elapsed = clock.now() - begin;
    outcome.wire_busy = busiest(links, context_.simulator.peer_links());
    links_.add(links, context_.simulator.peer_links(), outcome.elapsed);
    outcome.fastest = outcome.slowest = lanes_.front().elapsed;
    for (const auto& lane : lanes_) {
      if (!lane.status) return forward_error(lane.status);
      outcome.bytes += copies(size) * size;
      outcome.fastest = std::min(outcome.fastest, lane.elapsed);
      outcome.slowest = std::max(outcome.slowest, lane.elapsed);
    }
    if (auto ok = for_each_window(size, seed, &Bench::verify); !ok) return forward_error(ok);
    return outcome;
  }

  // One copy alone, from the call to the waiter's return.
  Result<MeasuredSpan> latency(Bytes size) {
    auto& path = *lanes_.front().path;
    auto& clock = context_.platform.clock();
    const auto begin = clock.now();
    const auto done = path.executor().copy(path.stream(), path.command(0, size),
                                           driver::WaitPolicy::kPolling, deadline_of(context_));
    if (!done) return forward_error(done);
    return MeasuredSpan{begin, clock.now()};
  }

  void tear_down() { lanes_.clear(); }
  Bytes bytes_per_lane(Bytes size) const { return copies(size) * size; }
  Bytes compared() const { return compared_; }
  const FabricLinks& links() const { return links_; }

 private:
  Bytes copies(Bytes size) const {
    return std::max<Bytes>(1, context_.parameters.size("bytes") / size);
  }

  Status run_lanes(Bytes size) {
    std::vector<std::unique_ptr<platform::Task>> tasks;
    for (auto& lane : lanes_) {
      auto task = context_.platform.tasks().spawn(lane.name, [this, size, &lane] {
        const auto begin = context_.platform.clock().now();
        lane.status = copy(*lane.path, size);
        lane.elapsed = context_.platform.clock().now() - begin;
      });
      if (!task) return forward_error(task);
      tasks.push_back(std::move(*task));
    }
    for (auto& task : tasks) task->join();
    return {};
  }

  Status copy(PeerPath& path, Bytes size) {
    driver::SubmitOptions options;
    options.interrupt = false;
    const auto depth = context_.parameters.integer("depth");
    const Bytes places = footprint_ / size;
    std::deque<driver::Ticket> in_flight;
    const auto wait_oldest = [&] {
      const auto ticket = in_flight.front();
      in_flight.pop_front();
      return path.executor().wait(ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
    };
    for (Bytes i = 0; i < copies(size); ++i) {
      if (in_flight.size() == depth) {
        if (auto ok = wait_oldest(); !ok) return ok;
      }
      const auto command = path.command(i % places * size, size);
      auto ticket = path.executor().submit(path.stream(), command, options);
      if (!ticket) return forward_error(ticket);
      in_flight.push_back(*ticket);
    }
    while (!in_flight.empty()) {
      if (auto ok = wait_oldest(); !ok) return ok;
    }
    return {};
  }

  using Visit = Status (Bench::*)(Lane&, Bytes at, Bytes size, std::uint64_t seed);
  // As many windows as "verify" allows, evenly over what is copied.
  Status for_each_window(Bytes size, std::uint64_t seed, Visit visit) {
    const Bytes used = std::min(copies(size), footprint_ / size) * size;
    const Bytes all = ceil_div(used, kWindow);
    const Bytes wanted = std::min(all, ceil_div(context_.parameters.size("verify"), kWindow));
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      for (Bytes i = 0; i < wanted; ++i) {
        const Bytes at = i * all / wanted * kWindow;
        const auto own = seed ^ (lane << 48) ^ at;
        auto ok = (this->*visit)(lanes_[lane], at, std::min(kWindow, used - at), own);
        if (!ok) return ok;
      }
    }
    return {};
  }
  Status prepare(Lane& lane, Bytes at, Bytes size, std::uint64_t seed) {
    return lane.path->prepare(at, size, seed);
  }
  Status verify(Lane& lane, Bytes at, Bytes size, std::uint64_t seed) {
    compared_ += size;
    return lane.path->verify(at, size, seed, lane.name);
  }

  Context& context_;
  std::vector<PeerCard>& cards_;
  Bytes footprint_ = 0;
  std::vector<Lane> lanes_;
  std::uint64_t round_ = 0;
  Bytes compared_ = 0;
  FabricLinks links_;
};

Result<std::vector<PeerCard>> open_cards(Context& context, std::uint64_t count) {
  const auto found = driver::scan(context.platform);
  if (!found) return forward_error(found);
  std::vector<PeerCard> cards;
  for (std::uint32_t i = 0; i < count; ++i) {
    driver::DeviceOptions options;
    options.ring = ring_placement(context.parameters);
    auto device = driver::Device::open_index(context.platform, *found, i, options);
    if (!device && device.error().code == ErrorCode::kNotFound) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("cards={}: the machine has {}; system-2x910b2 has two with a link "
                              "between them, system-8x910b eight",
                              count, i));
    }
    if (!device) return forward_error(device);
    auto stream = (*device)->create_stream();
    if (!stream) return forward_error(stream);
    cards.push_back({std::move(*device), *stream});
  }
  return cards;
}

// Of what the links of all transfers carry at most.
Number peak_percent(const Context& context, const Shape& shape, const Number& gb_per_s) {
  constexpr std::uint64_t kMega = 1'000'000;  // gb_per_s has three decimals
  const std::uint64_t rate =
      context.machine == nullptr ? 0 : context.machine->cards[0].hccs.rate / kMega;
  return Number::percent(static_cast<std::uint64_t>(gb_per_s.value()),
                         transfers(shape).size() * rate);
}

struct Copied {
  Outcome outcome;
  Bytes each;  // of one transfer
  Number peak_percent;
  MeasuredSpan latency;

  Number total() const { return Number::gb_per_s(outcome.bytes, outcome.elapsed); }
  Number slowest() const { return Number::gb_per_s(each, outcome.slowest); }
  Number fastest() const { return Number::gb_per_s(each, outcome.fastest); }
  Number busy() const {
    return Number::percent(static_cast<std::uint64_t>(outcome.wire_busy.count()),
                           static_cast<std::uint64_t>(outcome.elapsed.count()));
  }
};

constexpr Figure<Copied> kFigures[] = {
    {"bandwidth_gb_per_s", "GB/s", from<&Copied::total>, {"GB/s in all"}},
    {"link_peak_percent", "%", from<&Copied::peak_percent>, {}, kHardlyLess},
    {"slowest_gb_per_s", "GB/s", from<&Copied::slowest>, {"slowest"}},
    {"fastest_gb_per_s", "GB/s", from<&Copied::fastest>, {"fastest"}},
    {"link_busy_percent", "%", from<&Copied::busy>, {"link busy %"}, kHardlyLess},
    {"latency_ns", "ns", from<&Copied::latency>, {"latency ns"}}};
constexpr Figure<Bytes> kCompared[] = {{"bytes_compared", "", itself}};

Status measure(Context& context, Bench& bench, const Shape& shape, Bytes size, Table& table) {
  const auto latency_of = [&]() -> Result<MeasuredSpan> {
    if (auto warm = bench.latency(size); !warm) return warm;  // translations are known then
    return bench.latency(size);
  };
  const auto outcome = bench.run(size);
  if (!outcome) return forward_error(outcome);
  const auto alone = latency_of();
  if (!alone) return forward_error(alone);
  const auto total = Number::gb_per_s(outcome->bytes, outcome->elapsed);
  report_figures(
      context,
      fmt::format("p2p_bandwidth.{}.{}.{}.", shape.pattern, shape.operation, size_name(size)),
      kFigures, {*outcome, bench.bytes_per_lane(size), peak_percent(context, shape, total), *alone},
      &table, {shape.pattern, shape.operation, size_name(size)});
  return {};
}

Status run(Context& context) {
  const auto& parameters = context.parameters;
  const auto count = static_cast<unsigned>(parameters.integer("cards"));
  auto cards = open_cards(context, count);
  if (!cards) return forward_error(cards);
  const auto& patterns = parameters.choices("patterns");
  const auto& operations = parameters.choices("operations");
  const auto& sizes = parameters.sizes("sizes");
  auto& table = add_figure_table(context.report, "copies between cards",
                                 {"pattern", "operation", "size"}, kFigures);
  Bench bench(context, *cards);
  const auto steps = patterns.size() * operations.size() * sizes.size();
  std::uint64_t done = 0;
  for (const auto& pattern : patterns) {
    for (const auto& operation : operations) {
      const Shape shape{pattern, operation, count};
      if (auto ok = bench.set_up(shape); !ok) return ok;
      for (const auto size : sizes) {
        context.step(fmt::format("{} {} {}", pattern, operation, size_name(size)), done++, steps);
        if (auto ok = measure(context, bench, shape, size, table); !ok) return ok;
      }
      bench.tear_down();
    }
  }
  report_figures(context, "p2p_bandwidth.", kCompared, bench.compared());
  context.report.add_note(
      "write: the card that has the data writes it into the other's memory; read: the card that "
      "wants it reads it. Slowest and fastest of the transfers; link busy: of the direction that "
      "was busy longest; latency: of one copy alone");
  context.report.add_note(fmt::format("{} bytes compared byte for byte", bench.compared()));
  bench.links().report(context.report);
  for (auto& card : *cards) {
    if (auto ok = card.device->shutdown(); !ok) return ok;
  }
  return {};
}

}  // namespace
}  // namespace programs::p2p_bandwidth

Workload p2p_bandwidth() {
  return {
      "p2p_bandwidth",
      "Copies between cards over HCCS: bandwidth and latency by size, one pair, ring, all to all",
      {{"sizes", ParameterType::kSizeList, "B", "16KiB,64KiB,256KiB,2MiB", "sizes of a copy", 64,
        1_GiB},
       choices_parameter("patterns", "one_way,both_ways",
                         "who copies to whom; pairs are cards 0 and 1",
                         {"one_way", "both_ways", "ring", "all_to_all"}),
       choices_parameter("operations", "write,read",
                         "the source card writes, or the destination card reads",
                         {"write", "read"}),
       {"cards", ParameterType::kInteger, "", "2", "cards 0 .. cards - 1 take part", 2,
        abi::kMaxHccsCards},
       {"bytes", ParameterType::kSize, "B", "8MiB", "per transfer and measurement", 64, 64_GiB},
       {"depth", ParameterType::kInteger, "", "16", "copies in flight per transfer", 1, 1024},
       {"verify", ParameterType::kSize, "B", "1MiB",
        "compared per transfer and measurement, in windows of 64 KiB; 0: nothing", 0, 64_GiB},
       ring_parameter()},
      programs::p2p_bandwidth::run,
      figure_rows(programs::p2p_bandwidth::kFigures, programs::p2p_bandwidth::kCompared)};
}

}  // namespace npu::workloads
