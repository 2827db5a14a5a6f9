// SPDX-License-Identifier: Apache-2.0
// Collective operations of several cards: time and bandwidth by operation, algorithm, type and
// size, and how busy the links are meanwhile; results compared.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/collective_ranks.hpp"
#include "workloads/programs/support/engine_shares.hpp"

namespace npu::workloads {
namespace programs::collective {
namespace {

using driver::CollectiveAlgorithm;

struct Done {
  Bytes bytes = 0;           // of a rank's larger side
  std::uint64_t factor = 0;  // of the bus bandwidth, in 1/ranks
  unsigned ranks = 1;
  std::string algorithm;  // that was used
  MeasuredSpan time;
  EngineShares::Shares shares;  // of the time
  Picoseconds busy;             // of the link direction that was busy longest, of all operations

  Picoseconds each() const { return mean(time.end - time.begin, time.count); }
  Number algorithm_rate() const { return Number::gb_per_s(bytes, each()); }
  Number bus_rate() const { return Number::gb_per_s(bytes * factor / ranks, each()); }
  Number percent(Picoseconds part) const {
    return Number::percent(static_cast<std::uint64_t>(part.count()),
                           static_cast<std::uint64_t>((time.end - time.begin).count()));
  }
  Number link_busy() const { return percent(busy); }
  Number transfer() const { return percent(shares.transfer); }
  Number copy() const { return percent(shares.copy); }
  Number notify() const { return percent(shares.rest); }
};

constexpr Figure<Done> kFigures[] = {
    {"", "", from<&Done::algorithm>, {"used"}},
    {"time_us", "us", from<&Done::time>, {"us"}},
    {"algorithm_gb_per_s", "GB/s", from<&Done::algorithm_rate>, {"alg GB/s"}},
    {"bus_gb_per_s", "GB/s", from<&Done::bus_rate>, {"bus GB/s"}},
    {"transfer_percent", "%", from<&Done::transfer>, {"transfer %"}, kNotJudged},
    {"copy_percent", "%", from<&Done::copy>, {"copy %"}, kNotJudged},
    {"notify_percent", "%", from<&Done::notify>, {"notify %"}, kNotJudged},
    {"link_busy_percent", "%", from<&Done::link_busy>, {"link busy %"}, kNotJudged}};
constexpr Figure<Bytes> kCompared[] = {{"bytes_compared", "", itself}};

Picoseconds busiest(const std::vector<PeerLinkCounters>& before,
                    const std::vector<PeerLinkCounters>& after) {
  Picoseconds most;
  for (std::size_t i = 0; i < after.size(); ++i) {
    most = std::max(most, after[i].busy - before[i].busy);
  }
  return most;
}

// Of a problem whose larger side has at most `size` bytes.
CollectiveProblem problem_of(const Context& context, const std::string& operation,
                             const std::string& type, Bytes size) {
  CollectiveProblem problem;
  problem.operation = collective_operation(operation);
  problem.type = collective_type(type);
  problem.reduction = collective_reduction(context.parameters.choice("reduction"));
  problem.ranks = static_cast<unsigned>(context.parameters.integer("ranks"));
  problem.seed = context.seed ^ size;
  const unsigned blocks = std::max(problem.blocks_from(), problem.blocks_to());
  problem.count = size / blocks / abi::element_size(problem.type);
  return problem;
}

class Bench {
 public:
  Bench(Context& context, CollectiveRanks& ranks, Table& table)
      : context_(context), ranks_(ranks), table_(table) {}

  Status measure(const CollectiveProblem& problem, CollectiveAlgorithm algorithm, Bytes size) {
    const auto used = algorithm == CollectiveAlgorithm::kAutomatic
                          ? ranks_.communicator().choose(problem.operation, problem.block_bytes())
                          : algorithm;
    // Cores that compute nothing move nothing.
    const bool moved = context_.functional || used != CollectiveAlgorithm::kAiv;
    const Bytes verify = moved ? context_.parameters.size("verify") : 0;
    const auto times = static_cast<unsigned>(context_.parameters.integer("iterations"));
    if (auto ok = ranks_.prepare(problem, verify); !ok) return ok;
    if (auto ok = warm_up(problem, algorithm, verify); !ok) return ok;
    const auto before = context_.simulator.peer_links();
    EngineShares shares(context_.trace);
    const auto time = [&] {
      const TraceSession session(context_.trace, shares);
      return ranks_.run(problem, algorithm, times);
    }();
    if (!time) return forward_error(time);
    Done done{problem.bytes(), problem.bus_factor(), problem.ranks, {}, *time, {}, {}};
    done.shares = shares.between(time->begin, time->end);
    done.busy = busiest(before, context_.simulator.peer_links());
    const auto compared = ranks_.compare(problem, verify);
    if (!compared) return forward_error(compared);
    compared_ += *compared;
    done.algorithm = to_string(used);
    const std::string operation(to_string(problem.operation)), wanted(to_string(algorithm));
    const auto type = name_of(problem.type);
    report_figures(context_,
                   fmt::format("collective.{}.{}.{}.{}.", operation, wanted, type, size_name(size)),
                   kFigures, done, &table_, {operation, wanted, type, size_name(size)});
    return {};
  }
  Bytes compared() const { return compared_; }

 private:
  // Translations are known then.
  Status warm_up(const CollectiveProblem& problem, CollectiveAlgorithm algorithm, Bytes verify) {
    const auto times = static_cast<unsigned>(context_.parameters.integer("warm_up"));
    if (times == 0) return {};
    if (auto ran = ranks_.run(problem, algorithm, times); !ran) return forward_error(ran);
    if (auto right = ranks_.compare(problem, verify); !right) return forward_error(right);
    const bool in_place = problem.operation == driver::CollectiveOperation::kBroadcast;
    return in_place ? ranks_.prepare(problem, verify) : Status();
  }

  Context& context_;
  CollectiveRanks& ranks_;
  Table& table_;
  Bytes compared_ = 0;
};

Result<driver::CommunicatorOptions> options_of(Context& context) {
  const auto& parameters = context.parameters;
  driver::CommunicatorOptions options;
  const auto vector = vector_collectives(context);
  if (!vector) return forward_error(vector);
  options.vector = *vector;
  options.buffer = parameters.size("buffer");
  options.one_shot = parameters.size("one_shot");
  options.timeout =
      Picoseconds(static_cast<std::int64_t>(parameters.integer("timeout")) * 1'000'000);
  return options;
}

Status run(Context& context) {
  const auto& parameters = context.parameters;
  const auto& sizes = parameters.sizes("sizes");
  const auto& operations = parameters.choices("op");
  const auto& algorithms = parameters.choices("algorithm");
  const auto& types = parameters.choices("type");
  for (const auto& operation : operations) {
    for (const auto& algorithm : algorithms) {
      if (driver::has_algorithm(collective_operation(operation), collective_algorithm(algorithm))) {
        continue;
      }
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("algorithm={}: {} cannot be done so", algorithm, operation));
    }
  }
  const auto options = options_of(context);
  if (!options) return forward_error(options);
  auto ranks = CollectiveRanks::open(context, static_cast<unsigned>(parameters.integer("ranks")),
                                     *std::max_element(sizes.begin(), sizes.end()), *options);
  if (!ranks) return forward_error(ranks);
  auto& table = add_figure_table(context.report, "collective operations",
                                 {"operation", "algorithm", "type", "size"}, kFigures);
  Bench bench(context, **ranks, table);
  const auto steps = operations.size() * algorithms.size() * types.size() * sizes.size();
  std::uint64_t done = 0;
  for (const auto& operation : operations) {
    for (const auto& algorithm : algorithms) {
      for (const auto& type : types) {
        for (const auto size : sizes) {
          context.step(fmt::format("{} {} {}", operation, algorithm, size_name(size)), done++,
                       steps);
          const auto problem = problem_of(context, operation, type, size);
          auto ok = bench.measure(problem, collective_algorithm(algorithm), size);
          if (!ok) return ok;
        }
      }
    }
  }
  report_figures(context, "collective.", kCompared, bench.compared());
  context.report.add_note(
      "size: the larger side of a rank. alg GB/s: size by time; bus GB/s: the same times what a "
      "link has to carry, 2(p-1)/p of an all-reduce, (p-1)/p of others, 1 of broadcast and reduce, "
      "as nccl-tests counts it. Card 0: transfer: an engine has a copy from or to another card; "
      "copy: "
      "none has, but one copies on the card; notify: none has any, records and waits. link busy: "
      "of "
      "the direction that was busy longest");
  context.report.add_note(fmt::format("{} bytes of results compared", bench.compared()));
  return (*ranks)->close();
}

}  // namespace
}  // namespace programs::collective

Workload collective() {
  return {
      "collective",
      "Collective operations of several cards: time and bandwidth by algorithm and size; compared",
      {choices_parameter("op", "all_reduce", "operations", collective_operations()),
       {"sizes", ParameterType::kSizeList, "B", "16KiB,256KiB,4MiB", "larger side of a rank", 0,
        8_GiB},
       choices_parameter("algorithm", "automatic", "how", collective_algorithms()),
       choices_parameter("type", "fp32", "of the elements", collective_types()),
       choice_parameter("reduction", "sum", "where the operation reduces", {"sum", "max", "min"}),
       {"ranks", ParameterType::kInteger, "", "2", "cards 0 .. ranks - 1 take part", 1,
        driver::kMaxRanks},
       {"iterations", ParameterType::kInteger, "", "4", "operations that are measured together", 1,
        1000},
       {"warm_up", ParameterType::kInteger, "", "1", "operations before those that are measured", 0,
        1000},
       {"buffer", ParameterType::kSize, "B", "16MiB", "a rank's, for data that peers read", 2_MiB,
        4_GiB},
       {"one_shot", ParameterType::kSize, "B", "256KiB",
        "largest size at which each rank reads everything, if it has the choice", 0, 4_GiB},
       {"blocks", ParameterType::kInteger, "", "24", "vector cores of each card, with aiv", 1, 64},
       {"timeout", ParameterType::kInteger, "us", "1000000", "of each wait for a peer", 1,
        3'600'000'000},
       {"verify", ParameterType::kSize, "B", "64KiB",
        "compared of each block of a result, in windows of 4 KiB; 0: nothing", 0, 8_GiB}},
      programs::collective::run,
      figure_rows(programs::collective::kFigures, programs::collective::kCompared)};
}

}  // namespace npu::workloads
