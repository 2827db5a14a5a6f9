// SPDX-License-Identifier: Apache-2.0
// The HBM model's controllers on the access patterns of public DRAM simulators, with each
// simulator's own parameters and policy, and their figures beside ours (docs/accuracy.md).
#include <algorithm>
#include <filesystem>

#include "model/config/checks.hpp"
#include "model/config/system_config.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/reference_figures.hpp"
#include "workloads/replay/pattern_replay.hpp"
#include "workloads/replay/replay_config.hpp"
#include "workloads/replay/replay_controller.hpp"

namespace npu::workloads {
namespace programs::hbm_replay {
namespace {

using replay::AccessPattern;
using replay::PatternKind;
using replay::ReplayConfig;
using replay::ReplayResult;
using replay::ReplaySource;

constexpr unsigned kFractionDecimals = 6;

// One line of the table.
struct Cell {
  AccessPattern pattern;
  std::string name;               // of the pattern, with what is written of it
  std::uint64_t outstanding = 0;  // 0: saturated
  std::uint64_t requests = 0;
  const ReferenceFigure* theirs = nullptr;
};

Result<std::string> find_file(const Context& context, const std::string& name) {
  for (const auto& directory : context.config_directories) {
    std::error_code code;
    const auto path = std::filesystem::path(directory) / name;
    if (std::filesystem::exists(path, code)) return path.string();
  }
  return fail(ErrorCode::kInvalidArgument, "no " + name + " among the configurations");
}

Result<ReplayConfig> card_memory(const Context& context) {
  if (context.machine == nullptr || context.machine->cards.empty()) {
    return fail(ErrorCode::kInvalidArgument, "there is no simulated card");
  }
  const model::HbmConfig& hbm = context.machine->cards.front().hbm;
  const bool shared = hbm.policy == model::HbmPolicy::kSharedQueue;
  return ReplayConfig{
      "card", shared ? replay::ReplayPolicy::kSharedQueue : replay::ReplayPolicy::kSplitQueues, 0,
      hbm};
}

template <class T>
Result<T> loaded(const Result<std::string>& path,
                 model::ConfigResult<T> (*load)(const std::string&,
                                                const std::vector<std::string>&)) {
  if (!path) return forward_error(path);
  auto config = load(*path, {});
  if (!config) return fail(ErrorCode::kInvalidArgument, config.error().message());
  return std::move(*config);
}

Result<ReplayConfig> memory_of(const Context& context, const std::string& tool) {
  auto config = tool == "card" ? card_memory(context)
                               : loaded(find_file(context, "hbm/replay/" + tool + ".yaml"),
                                        replay::load_replay);
  const auto& timings = context.parameters.choice("timings");
  if (!config || timings == "own") return config;
  const auto table = loaded(find_file(context, "hbm/" + timings + ".yaml"), replay::load_timings);
  if (!table) return forward_error(table);
  config->hbm.timings = *table;
  if (tool != "card") config->hbm.interleave = table->burst;  // as in the files of the tools
  if (const auto broken = model::check_hbm(config->hbm)) {
    return fail(ErrorCode::kInvalidArgument, "timings=" + timings + " with tools=" + tool + ": " +
                                                 broken->key + " " + broken->text);
  }
  return config;
}

std::string lower_size_name(Bytes size) {
  std::string name = size_name(size);
  if (const auto unit = name.find_first_of("KMG"); unit != std::string::npos) {
    name[unit] = static_cast<char>(name[unit] - 'A' + 'a');
    name.resize(unit + 1);
  }
  return name;
}

// "seq_rd", "seq_wr", "seq_rd2wr1", "stride4k", "stride4k_wr": which kinds, then how many of each.
std::string kind_name(const std::string& name, bool plain_reads, const AccessPattern& pattern) {
  if (pattern.writes == 0) return plain_reads ? name + "_rd" : name;
  if (pattern.reads == 0) return name + "_wr";
  return name + "_rd" + std::to_string(pattern.reads) + "wr" + std::to_string(pattern.writes);
}

Cell make_cell(const Context& context, const std::string& kind, Bytes burst) {
  const ParameterSet& values = context.parameters;
  Cell cell;
  AccessPattern& p = cell.pattern;
  p.request = values.size("request_bytes") == 0 ? burst : values.size("request_bytes");
  p.span = values.size("span");
  p.stride = values.size("stride");
  p.streams = static_cast<unsigned>(values.integer("streams"));
  p.reads = static_cast<unsigned>(values.integer("reads"));
  p.writes = static_cast<unsigned>(values.integer("writes"));
  if (kind == "stride4k") p.stride = 4_KiB;
  if (kind == "stride2m") p.stride = 2_MiB;
  if (kind == "streams16_r64") p.streams = 16;
  if (kind == "seq_rd") {
    p.kind = PatternKind::kSequential;
    cell.name = kind_name("seq", true, p);
  } else if (kind == "rand_rd") {
    p.kind = PatternKind::kRandom;
    cell.name = kind_name("rand", true, p);
  } else if (kind.rfind("stride", 0) == 0) {
    p.kind = PatternKind::kStride;
    cell.name = kind_name("stride" + lower_size_name(p.stride), false, p);
  } else {
    p.kind = PatternKind::kStreams;
    cell.name = kind_name("streams" + std::to_string(p.streams) + "_r64", false, p);
  }
  return cell;
}

Status check(const Cell& cell, const ReplayConfig& config) {
  const AccessPattern& p = cell.pattern;
  const Bytes burst = config.hbm.timings.burst;
  std::string wrong;
  if (p.reads + p.writes == 0) wrong = "neither reads nor writes";
  if (p.request > burst && p.request % burst != 0)
    wrong = "request_bytes is no multiple of a burst";
  if (p.span % p.request != 0 || p.span > config.hbm.installed) {
    wrong = "span is no multiple of a request, or larger than the memory";
  }
  if (p.stride > p.span || p.stride < p.request) wrong = "stride is not between request and span";
  if (p.span / p.streams < 128) wrong = "streams have less than 128 bytes of the span each";
  if (!replay::can_replay(config)) {
    wrong =
        "DRAMsim3's controller knows neither pseudo channels, stack ids, per-bank refresh nor "
        "an ACT of several clocks; choose other timings";
  }
  if (wrong.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, config.name + ": " + wrong);
}

const ReferenceFigure* find_figure(const std::vector<ReferenceFigure>& figures,
                                   const std::string& tool, const Cell& cell) {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const auto& figure) {
    return figure.tool == tool && figure.pattern == cell.name &&
           figure.outstanding == cell.outstanding && figure.request_bytes == cell.pattern.request;
  });
  return found == figures.end() ? nullptr : &*found;
}

Number mean_ns(const replay::LatencySum& sum, std::uint64_t clock_hz) {
  return Number::quotient(static_cast<std::uint64_t>(sum.clocks) * 1000,
                          sum.requests * (clock_hz / 1'000'000), 3);
}

bool has_shared_source(const Context& context) {
  return context.parameters.choice("queues") == "shared";
}

// What the model has done, and what another simulator is known to do.
struct Replayed {
  Number fraction, latency;
  std::optional<Number> read_latency, write_latency;  // of patterns that do both
  std::optional<Number> their_fraction, their_latency;

  template <auto kOurs, auto kTheirs>
  static FigureValue error(const Replayed& of) {
    return of.*kTheirs ? FigureValue(error_percent(of.*kOurs, *(of.*kTheirs))) : FigureValue();
  }
};

constexpr Figure<Replayed> kFigures[] = {
    {"bandwidth_fraction", "", from<&Replayed::fraction>, {"bandwidth"}, kHardlyLess},
    {"latency_ns", "ns", from<&Replayed::latency>, {"latency ns", 2}},
    {"read_latency_ns", "ns", from<&Replayed::read_latency>},
    {"write_latency_ns", "ns", from<&Replayed::write_latency>},
    {"reference_bandwidth_fraction",
     "",
     from<&Replayed::their_fraction>,
     {"theirs", 1},
     kNotJudged},
    {"reference_latency_ns", "ns", from<&Replayed::their_latency>, {"theirs", 3}, kNotJudged},
    {"bandwidth_error_percent",
     "%",
     Replayed::error<&Replayed::fraction, &Replayed::their_fraction>,
     {"error %", 1}},
    {"latency_error_percent",
     "%",
     Replayed::error<&Replayed::latency, &Replayed::their_latency>,
     {"error %", 3}}};

class Replays {
 public:
  Replays(Context& context, std::vector<ReferenceFigure> figures)
      : context_(context), figures_(std::move(figures)) {}

  Status run(const std::string& tool);

 private:
  Status run_cell(const ReplayConfig& config, Cell cell, Table& table);
  void pass_time(const ReplayResult& result, std::uint64_t clock_hz);
  void report(const ReplayConfig& config, const Cell& cell, const ReplayResult& result,
              Table& table);

  Context& context_;
  std::vector<ReferenceFigure> figures_;
};

Status Replays::run(const std::string& tool) {
  const auto config = memory_of(context_, tool);
  if (!config) return forward_error(config);
  auto& table = add_figure_table(context_.report, tool + " on " + config->hbm.timings.name,
                                 {"pattern", "outstanding"}, kFigures);
  for (const auto outstanding : context_.parameters.integers("outstanding")) {
    for (const auto& kind : context_.parameters.choices("patterns")) {
      Cell cell = make_cell(context_, kind, config->hbm.timings.burst);
      cell.outstanding = outstanding;
      if (auto ok = run_cell(*config, cell, table); !ok) return ok;
    }
  }
  return {};
}

Status Replays::run_cell(const ReplayConfig& config, Cell cell, Table& table) {
  if (auto ok = check(cell, config); !ok) return ok;
  const bool own = context_.parameters.choice("timings") == "own";
  const bool same_span = cell.pattern.span == AccessPattern().span;
  if (own && same_span && has_shared_source(context_))
    cell.theirs = find_figure(figures_, config.name, cell);
  // As many as in the reference measurements, whose share of start-up and refreshes they have.
  cell.requests = context_.parameters.integer("requests");
  if (cell.requests == 0) {
    cell.requests = cell.outstanding == 1                       ? 10'000
                    : cell.pattern.kind == PatternKind::kStride ? 30'000
                                                                : 300'000;
    if (cell.theirs != nullptr) cell.requests = cell.theirs->requests;
  }
  // Address, state and response of each, and each channel's requests once more.
  constexpr Bytes kPerRequest = 64;
  const auto what = "requests=" + std::to_string(cell.requests);
  if (auto ok = require_host_memory(what, cell.requests * kPerRequest); !ok) return ok;
  context_.step(config.name + " " + cell.name, 0, 1);
  const auto accesses = replay::make_accesses(cell.pattern, cell.requests);
  const bool shared = has_shared_source(context_);
  if (!shared && !replay::in_one_channel(config, accesses, cell.pattern.request)) {
    return fail(ErrorCode::kInvalidArgument,
                config.name + " " + cell.name +
                    ": queues=per_channel needs requests that lie in one channel each; choose a "
                    "smaller request_bytes");
  }
  const auto result = replay::replay(config, accesses, cell.pattern.request, cell.outstanding,
                                     shared ? ReplaySource::kShared : ReplaySource::kPerChannel);
  pass_time(result, config.hbm.timings.clock_hz);
  if (result.requests() != cell.requests) {
    return fail(ErrorCode::kWrongData, config.name + " " + cell.name + ": " +
                                           std::to_string(result.requests()) + " of " +
                                           std::to_string(cell.requests) + " requests returned");
  }
  report(config, cell, result, table);
  return {};
}

// What was replayed is simulated time, though the machine had no part in it.
void Replays::pass_time(const ReplayResult& result, std::uint64_t clock_hz) {
  auto& clock = context_.platform.clock();
  const auto clocks = static_cast<std::uint64_t>(result.clocks);
  const auto seconds = clocks / clock_hz;
  const auto rest = (clocks % clock_hz) * 1'000'000 / (clock_hz / 1'000'000);
  clock.sleep_until(clock.now() +
                    Picoseconds(static_cast<std::int64_t>(seconds * 1'000'000'000'000 + rest)));
}

void Replays::report(const ReplayConfig& config, const Cell& cell, const ReplayResult& result,
                     Table& table) {
  const std::string depth = cell.outstanding == 0 ? "sat" : std::to_string(cell.outstanding);
  const std::string prefix = "hbm_replay." + config.name + "." + cell.name + "." + depth + ".";
  const auto clocks = static_cast<std::uint64_t>(result.clocks);
  const std::uint64_t hz = config.hbm.timings.clock_hz;
  Replayed found;
  found.fraction = Number::quotient(result.bytes * result.bus_clocks, clocks * result.bus_bytes,
                                    kFractionDecimals);
  found.latency = mean_ns({result.requests(), result.reads.clocks + result.writes.clocks}, hz);
  if (result.reads.requests != 0 && result.writes.requests != 0) {
    found.read_latency = mean_ns(result.reads, hz);
    found.write_latency = mean_ns(result.writes, hz);
  }
  if (cell.theirs != nullptr) {
    const ReferenceFigure& theirs = *cell.theirs;
    found.their_fraction =
        Number::quotient(theirs.requests * theirs.request_bytes * result.bus_clocks,
                         theirs.clocks * result.bus_bytes, kFractionDecimals);
    found.their_latency = theirs.latency_ns;
    if (cell.requests != theirs.requests) {
      context_.report.add_note(prefix + " has " + std::to_string(cell.requests) +
                               " requests, theirs " + std::to_string(theirs.requests));
    }
  }
  report_figures(context_, prefix, kFigures, found, &table, {cell.name, depth});
}

Status run(Context& context) {
  const auto path = find_file(context, "hbm/replay/reference.csv");
  if (!path) return forward_error(path);
  auto figures = read_reference_figures(*path);
  if (!figures) return forward_error(figures);
  Replays replays(context, std::move(*figures));
  for (const auto& tool : context.parameters.choices("tools")) {
    if (auto ok = replays.run(tool); !ok) return ok;
  }
  context.report.add_note(
      "bandwidth is the fraction of what all data buses can move; theirs is computed from the "
      "clocks they took, their latencies have one decimal");
  context.report.add_note(
      has_shared_source(context)
          ? "one queue in order feeds all channels, a burst per channel and clock, as in the "
            "reference simulators: a request whose channel is full holds up all behind it, so that "
            "saturated patterns that spread unevenly (random above all) are bound by that queue "
            "and "
            "not by the timings; queues=per_channel gives each channel a queue of its own"
          : "each channel has a queue of its own, so that the timings and the controllers bind; "
            "outstanding requests are counted per channel, and the reference figures do not apply");
  return {};
}

}  // namespace
}  // namespace programs::hbm_replay

Workload hbm_replay() {
  return {"hbm_replay",
          "The HBM model on the access patterns of public DRAM simulators, beside their figures",
          {choices_parameter("tools", "dramsim3,ramulator,dramsys",
                             "whose parameters and policy; card: those of the configuration",
                             {"dramsim3", "ramulator", "dramsys", "card"}),
           choices_parameter(
               "patterns", "seq_rd,rand_rd,stride4k,streams16_r64",
               "order of addresses; _rd is what `reads` and `writes` make of it",
               {"seq_rd", "rand_rd", "stride4k", "stride2m", "streams16_r64", "stride", "streams"}),
           {"outstanding", ParameterType::kIntegerList, "", "0,1",
            "requests at once; 0: as many as the controllers take", 0, 1'000'000},
           choice_parameter(
               "queues", "shared",
               "in front of the channels: one in order, as the simulators have, or one each",
               {"shared", "per_channel"}),
           {"requests", ParameterType::kInteger, "", "0",
            "per pattern; 0: as many as in the reference measurements", 0, 20'000'000},
           {"reads", ParameterType::kInteger, "", "1",
            "of every reads + writes requests the first are reads", 0, 1000},
           {"writes", ParameterType::kInteger, "", "0", "and the last are writes", 0, 1000},
           {"request_bytes", ParameterType::kSize, "B", "0", "size of one; 0: one burst", 0, 1_MiB},
           {"span", ParameterType::kSize, "B", "4GiB", "memory that is touched", 4_KiB, 64_GiB},
           {"stride", ParameterType::kSize, "B", "4KiB", "of the pattern stride", 32, 4_GiB},
           {"streams", ParameterType::kInteger, "", "16", "of the pattern streams", 1, 4096},
           choice_parameter("timings", "own",
                            "another table of configs/hbm in place of the tool's or the card's own",
                            {"own", "hbm2e_2400", "hbm2e_3200", "hbm3_5200"})},
          programs::hbm_replay::run,
          figure_rows(programs::hbm_replay::kFigures)};
}

}  // namespace npu::workloads
