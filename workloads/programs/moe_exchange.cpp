// SPDX-License-Identifier: Apache-2.0
// Tokens to the cards of their experts, and what the experts make of them back
// (npu/driver/expert_exchange.hpp): time and rate by tokens of a rank; results compared.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/collective_ranks.hpp"
#include "workloads/programs/support/expert_tokens.hpp"

namespace npu::workloads {
namespace programs::moe_exchange {
namespace {

struct Done {
  Bytes bytes = 0;  // that a rank sends to experts
  MeasuredSpan time;

  Number rate() const { return Number::gb_per_s(bytes, mean(time.end - time.begin, time.count)); }
};

constexpr Figure<Done> kFigures[] = {{"time_us", "us", from<&Done::time>, {"us"}},
                                     {"gb_per_s", "GB/s", from<&Done::rate>, {"GB/s"}}};
constexpr Figure<std::uint64_t> kCompared[] = {{"elements_compared", "", itself}};

Result<driver::ExpertShape> shape_of(const ParameterSet& parameters) {
  driver::ExpertShape shape;
  const auto number = [&](const char* name) {
    return static_cast<std::uint32_t>(parameters.integer(name));
  };
  shape.hidden = number("hidden"), shape.experts = number("experts");
  shape.chosen = number("chosen"), shape.quantised = parameters.flag("quantised");
  const auto& tokens = parameters.integers("tokens");
  shape.most_tokens = static_cast<std::uint32_t>(*std::max_element(tokens.begin(), tokens.end()));
  const auto told = [](const std::string& what) { return fail(ErrorCode::kInvalidArgument, what); };
  if (shape.hidden % 32 != 0) {
    return told(fmt::format("hidden={}: no multiple of 32", shape.hidden));
  }
  if (shape.experts % number("ranks") != 0) {
    return told(fmt::format("experts={}: no multiple of ranks={}", shape.experts, number("ranks")));
  }
  if (shape.chosen > shape.experts) {
    return told(fmt::format("chosen={}: more than experts={}", shape.chosen, shape.experts));
  }
  return shape;
}

Result<driver::CommunicatorOptions> options_of(Context& context, const driver::ExpertShape& shape,
                                               Bytes element) {
  driver::CommunicatorOptions options;
  auto vector = vector_collectives(context);
  if (!vector) return forward_error(vector);
  options.vector = *vector;
  options.vector.expert_blocks = vector->blocks;
  options.vector.half = std::max<Bytes>(driver::expert_window(shape, element), 64_KiB);
  constexpr Bytes kMost = Bytes{1} << 30;
  if (options.vector.half > kMost) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("tokens={}: a window of {} bytes, of which there are 2, is more than "
                            "1 GiB",
                            shape.most_tokens, options.vector.half));
  }
  options.buffer = 2_MiB;
  options.timeout =
      Picoseconds(static_cast<std::int64_t>(context.parameters.integer("timeout")) * 1'000'000);
  return options;
}

class Bench {
 public:
  Bench(Context& context, CollectiveRanks& ranks, driver::CollectiveType type)
      : context_(context), ranks_(ranks), type_(type) {}

  Status measure(const driver::ExpertShape& shape, Table& table) {
    ExpertTokens tokens(context_, ranks_, shape, type_);
    if (auto ok = tokens.prepare(); !ok) return ok;
    const auto tell = [&](const char* operation, Bytes bytes, const MeasuredSpan& time) {
      report_figures(context_, fmt::format("moe_exchange.{}.{}.", shape.tokens, operation),
                     kFigures, Done{bytes, time}, &table,
                     {std::to_string(shape.tokens), operation});
    };
    const auto sent = run([&](unsigned rank) { return tokens.dispatch(rank); });
    if (!sent) return forward_error(sent);
    if (auto ok = tokens.compare_rows(); !ok) return ok;
    tell("dispatch", tokens.dispatched_bytes(), *sent);
    if (auto ok = tokens.give_back(); !ok) return ok;
    const auto back = run([&](unsigned rank) { return tokens.combine(rank); });
    if (!back) return forward_error(back);
    if (auto ok = tokens.compare_sums(); !ok) return ok;
    tell("combine", tokens.combined_bytes(), *back);
    compared_ += tokens.compared();
    return {};
  }
  std::uint64_t compared() const { return compared_; }

 private:
  Result<MeasuredSpan> run(const CollectiveRanks::Part& part) {
    constexpr Picoseconds kMost = 1'000_ms;
    const auto times = [&](const char* name) {
      return static_cast<unsigned>(context_.parameters.integer(name));
    };
    // Translations are known then.
    if (times("warm_up") != 0) {
      if (auto warm = ranks_.run(part, times("warm_up"), kMost); !warm) return warm;
    }
    return ranks_.run(part, times("iterations"), kMost);
  }

  Context& context_;
  CollectiveRanks& ranks_;
  const driver::CollectiveType type_;
  std::uint64_t compared_ = 0;
};

Status run(Context& context) {
  const auto& parameters = context.parameters;
  const auto shape = shape_of(parameters);
  if (!shape) return forward_error(shape);
  const auto type = collective_type(parameters.choice("type"));
  const auto options = options_of(context, *shape, abi::element_size(type));
  if (!options) return forward_error(options);
  auto ranks = CollectiveRanks::open(context, static_cast<unsigned>(parameters.integer("ranks")), 0,
                                     *options);
  if (!ranks) return forward_error(ranks);
  auto& table = add_figure_table(context.report, "experts on several cards",
                                 {"tokens", "operation"}, kFigures);
  Bench bench(context, **ranks, type);
  const auto& all = parameters.integers("tokens");
  for (std::size_t i = 0; i < all.size(); ++i) {
    context.step(fmt::format("{} tokens", all[i]), i, all.size());
    auto now = *shape;
    now.tokens = static_cast<std::uint32_t>(all[i]);
    if (auto ok = bench.measure(now, table); !ok) return ok;
  }
  report_figures(context, "moe_exchange.", kCompared, bench.compared());
  context.report.add_note(
      "GB/s: what a rank sends to experts, its own ones too, by time: tokens x chosen rows, of "
      "hidden x 1 byte and a scale of 4 bytes if they are quantised on the way");
  context.report.add_note(fmt::format("{} elements of results compared", bench.compared()));
  return (*ranks)->close();
}

}  // namespace
}  // namespace programs::moe_exchange

Workload moe_exchange() {
  using abi::ExpertExchange;
  return {"moe_exchange",
          "Experts on several cards: time of dispatch and combine by tokens of a rank; compared",
          {{"tokens", ParameterType::kIntegerList, "", "8,128", "of each rank", 1,
            ExpertExchange::kMostTokens},
           {"hidden", ParameterType::kInteger, "", "7168", "elements of a token", 32,
            ExpertExchange::kMostHidden},
           {"experts", ParameterType::kInteger, "", "256", "of all ranks", 1,
            ExpertExchange::kMostExperts},
           {"chosen", ParameterType::kInteger, "", "8", "experts of a token", 1,
            ExpertExchange::kMostChosen},
           {"quantised", ParameterType::kFlag, "", "on",
            "dispatch brings int8 with a scale for each row"},
           choice_parameter("type", "bf16", "of tokens and sums", {"fp16", "bf16", "fp32"}),
           {"ranks", ParameterType::kInteger, "", "2", "cards 0 .. ranks - 1 take part", 1,
            abi::VectorCollective::kMostRanks},
           {"iterations", ParameterType::kInteger, "", "4", "operations that are measured together",
            1, 1000},
           {"warm_up", ParameterType::kInteger, "", "1",
            "operations before those that are measured", 0, 1000},
           {"blocks", ParameterType::kInteger, "", "64",
            "vector cores of each card; no more than it has", 1, 64},
           {"timeout", ParameterType::kInteger, "us", "1000000", "of each wait for a peer", 1,
            3'600'000'000}},
          programs::moe_exchange::run,
          figure_rows(programs::moe_exchange::kFigures, programs::moe_exchange::kCompared)};
}

}  // namespace npu::workloads
