// SPDX-License-Identifier: Apache-2.0
// A decoder-only transformer on one card or several: prefill of a prompt and decode of tokens
// behind it, each operator launched by the driver, one behind the other. The tokens that come out
// are compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "kernels/operators/sources.hpp"
#include "model/config/system_config.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/collective_ranks.hpp"
#include "workloads/programs/support/collective_values.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/measured_spans.hpp"
#include "workloads/transformer/cards.hpp"
#include "workloads/transformer/decoder.hpp"
#include "workloads/transformer/division.hpp"
#include "workloads/transformer/run_settings.hpp"

namespace npu::workloads {
namespace programs::transformer_run {
namespace {

using transformer::Decoder;
using transformer::Model;
using transformer::StepTimes;

// Of all steps of a kind. What is of one card is the first one's.
struct OfStep {
  std::string name;
  std::vector<StepTimes> cards;
  std::uint64_t steps = 1;

  const StepTimes& first() const { return cards.front(); }
  std::uint64_t launches() const { return first().launches / steps; }
  MeasuredTime duration() const { return measured(first().duration, steps); }
  MeasuredTime host() const { return measured(first().host, steps); }
  MeasuredTime card() const { return measured(first().card, steps); }
  MeasuredTime gap() const { return measured(first().gap, steps); }
  Number tflops() const {
    std::uint64_t operations = 0;
    for (const auto& card : cards) operations += card.operations;
    return Number::quotient(
        operations,
        static_cast<std::uint64_t>(std::max<std::int64_t>(first().duration.time().count(), 1)), 3);
  }
};

constexpr Figure<OfStep> kOfStep[] = {
    {"launches", "", from<&OfStep::launches>, {"launches"}},
    {"duration_us", "us", from<&OfStep::duration>, {"duration us"}},
    {"host_us", "us", from<&OfStep::host>, {"host us"}},
    {"card_us", "us", from<&OfStep::card>, {"card us"}},
    {"gap_us", "us", from<&OfStep::gap>, {"gap us"}},
    {"tflops", "TFLOP/s", from<&OfStep::tflops>, {"TFLOP/s"}}};

// Of one of several cards.
struct OfCard {
  const StepTimes& times;
  std::uint64_t steps = 1;

  std::uint64_t collectives() const { return times.collectives / steps; }
  MeasuredTime communication() const { return measured(times.communication, steps); }
  MeasuredTime exposed() const { return measured(times.exposed, steps); }
  MeasuredTime hidden() const { return measured(times.hidden, steps); }
  MeasuredTime busy() const { return measured(times.busy, steps); }
  MeasuredTime gap() const { return measured(times.gap, steps); }
};
constexpr Figure<OfCard> kOfCard[] = {
    {"collectives", "", from<&OfCard::collectives>, {"collectives"}},
    {"communication_us", "us", from<&OfCard::communication>, {"communication us"}},
    {"exposed_us", "us", from<&OfCard::exposed>, {"exposed us"}},
    {"hidden_us", "us", from<&OfCard::hidden>, {"hidden us"}, kNotJudged},
    {"busy_us", "us", from<&OfCard::busy>, {"busy us"}},
    {"gap_us", "us", from<&OfCard::gap>, {"gap us"}}};

struct OfPart {
  std::uint64_t launches = 0;
  MeasuredTime card;
};
constexpr Figure<OfPart> kOfPart[] = {{"launches", "", from<&OfPart::launches>, {"launches"}},
                                      {"card_us", "us", from<&OfPart::card>, {"card us"}}};

constexpr Figure<MeasuredTime> kOfLayer[] = {{"duration_us", "us", itself, {"us"}}};

struct OfModel {
  std::uint64_t layers = 0, simulated_layers = 0;
  Bytes weight_bytes = 0, cache_bytes = 0;
  std::optional<MeasuredTime> ttft, tpot;
  std::optional<Number> tokens_per_s;
};
constexpr Figure<OfModel> kOfModel[] = {
    {"layers", "", from<&OfModel::layers>, {"layers"}},
    {"simulated_layers", "", from<&OfModel::simulated_layers>, {"simulated"}},
    {"weight_bytes", "B", from<&OfModel::weight_bytes>, {"weights B"}},
    {"cache_bytes", "B", from<&OfModel::cache_bytes>, {"caches B"}},
    {"ttft_us", "us", from<&OfModel::ttft>, {"TTFT us"}},
    {"tpot_us", "us", from<&OfModel::tpot>, {"TPOT us"}},
    {"tokens_per_s", "/s", from<&OfModel::tokens_per_s>, {"tokens/s"}}};

// Of all layers. The last one that was simulated stands for those that were not, the last dense one
// for those in front of experts.
MeasuredTime estimated(const OfStep& step, const Model& model, const Model& simulated) {
  if (model.layers == simulated.layers) return step.duration();
  const auto& times = step.first();
  const std::uint64_t dense = model.experts.dense_layers, own = simulated.experts.dense_layers;
  const auto missing_dense = static_cast<std::int64_t>(dense - own);
  const auto missing = static_cast<std::int64_t>(model.layers - simulated.layers) - missing_dense;
  const Picoseconds of_dense = own == 0 ? Picoseconds{} : times.layers[own - 1].time();
  const auto all = times.duration.time() + missing_dense * of_dense + missing * times.last_layer();
  return {mean(all, step.steps), {}};
}

class TransformerRun {
 public:
  TransformerRun(Context& context, const Model& model, Decoder& decoder)
      : context_(context), model_(model), decoder_(decoder) {}

  Status run() {
    const auto& parameters = context_.parameters;
    const auto& phase = parameters.choice("phase");
    const auto tokens = parameters.integer("tokens");
    if (phase != "decode" || context_.functional) {
      auto times = decoder_.step(tokens);
      if (!times) return forward_error(times);
      if (phase != "decode") prefill_ = OfStep{"prefill", std::move(*times)};
    } else {
      decoder_.pretend_cached(tokens);
    }
    if (phase == "prefill") return {};
    const auto steps = parameters.integer("steps");
    for (std::uint64_t i = 0; i < steps; ++i) {
      auto times = decoder_.step(1);
      if (!times) return forward_error(times);
      if (!decode_) {
        decode_ = OfStep{"decode", std::move(*times), steps};
      } else {
        for (std::size_t card = 0; card < times->size(); ++card) {
          decode_->cards[card].add((*times)[card]);
        }
      }
      context_.step("tokens", i + 1, steps);
    }
    return {};
  }

  void report() {
    const auto layers = model_.layers, simulated = decoder_.model().layers;
    OfModel all{layers, simulated, decoder_.weight_bytes(), decoder_.cache_bytes(), {}, {}, {}};
    if (prefill_) all.ttft = estimated(*prefill_, model_, decoder_.model());
    if (decode_) {
      all.tpot = estimated(*decode_, model_, decoder_.model());
      all.tokens_per_s = Number::quotient(
          context_.parameters.integer("batch") * 1'000'000'000'000U,
          static_cast<std::uint64_t>(std::max<std::int64_t>(all.tpot->time.count(), 1)), 3);
    }
    auto& whole = add_figure_table(context_.report, model_.name, {}, kOfModel);
    report_figures(context_, "transformer.", kOfModel, all, &whole, {});
    report_steps();
    if (simulated != layers) {
      context_.report.add_note(fmt::format(
          "layers: {} of {} were simulated; in ttft_us and tpot_us the time of the last of them "
          "{}stands for each that was not",
          simulated, layers,
          decoder_.model().experts.dense_layers == 0
              ? ""
              : "with experts, or of the first, dense one, "));
    }
    context_.report.add_note(
        context_.functional
            ? "logits of every step are compared with plain arithmetic"
            : "not compared: the cores compute nothing, tokens are those of the seed");
    if (!context_.functional && model_.experts.count != 0) {
      context_.report.add_note("experts of each token are those of the seed, each equally likely");
    }
  }

 private:
  void report_steps() {
    auto& table = add_figure_table(context_.report, "steps", {"step"}, kOfStep);
    for (const auto* step : {&prefill_, &decode_}) {
      if (!*step) continue;
      const auto& name = (*step)->name;
      report_figures(context_, "transformer." + name + ".", kOfStep, **step, &table, {name});
    }
    for (const auto* step : {&prefill_, &decode_}) {
      if (!*step) continue;
      report_cards(**step);
      report_parts(**step);
      report_layers(**step);
    }
  }
  void report_cards(const OfStep& step) {
    if (step.cards.size() == 1) return;
    auto& table = add_figure_table(context_.report, step.name + " by card", {"card"}, kOfCard);
    for (std::size_t i = 0; i < step.cards.size(); ++i) {
      const auto card = std::to_string(decoder_.card(i));
      report_figures(context_, "transformer." + step.name + ".card" + card + ".", kOfCard,
                     {step.cards[i], step.steps}, &table, {card});
    }
  }
  void report_parts(const OfStep& step) {
    auto& table = add_figure_table(context_.report, step.name + " by part", {"part"}, kOfPart);
    for (const auto& [name, part] : step.first().parts) {
      const OfPart row{part.launches / step.steps, measured(part.card, step.steps)};
      report_figures(context_, "transformer." + step.name + "." + name + ".", kOfPart, row, &table,
                     {name});
    }
  }
  void report_layers(const OfStep& step) {
    auto& table = add_figure_table(context_.report, step.name + " by layer", {"layer"}, kOfLayer);
    for (std::size_t i = 0; i < step.first().layers.size(); ++i) {
      const auto layer = std::to_string(i);
      report_figures(context_, "transformer." + step.name + ".layer" + layer + ".", kOfLayer,
                     measured(step.first().layers[i], step.steps), &table, {layer});
    }
  }

  Context& context_;
  const Model& model_;
  Decoder& decoder_;
  std::optional<OfStep> prefill_, decode_;
};

// What is recorded for the cards ends with the decoder, before they are closed.
Status decode(Context& context, const Model& whole, const Model& part,
              transformer::DecoderCards& cards) {
  const Model model = transformer::simulated(context.parameters, whole);
  const auto options = transformer::options_of(context, part);
  if (!options) return forward_error(options);
  Decoder decoder(context, {model, part}, *options, cards.ranks());
  if (auto ok = decoder.prepare(); !ok) return ok;
  TransformerRun run(context, whole, decoder);
  if (auto ok = run.run(); !ok) return ok;
  run.report();
  return {};
}

Result<driver::CommunicatorOptions> communicator_options(Context& context, const Model& part,
                                                         driver::CollectiveAlgorithm algorithm) {
  driver::CommunicatorOptions options;
  options.timeout = kTimeout;
  options.algorithms[static_cast<std::size_t>(driver::CollectiveOperation::kAllReduce)] = algorithm;
  if (transformer::needs_equal_sums(part)) options.one_shot = 0;
  if (part.ranks * part.replicas == 1) return options;
  auto vector = vector_collectives(context);
  if (!vector) return forward_error(vector);
  options.vector = *vector;
  if (part.experts.dispatched) {
    const auto batch = context.parameters.integer("batch") / part.replicas;
    const auto rows = batch * transformer::largest_tokens(context);
    constexpr Bytes kElement = 2;
    options.vector.half =
        std::max(options.vector.half,
                 driver::expert_window(transformer::exchange_of(part, kElement, rows), kElement));
  }
  return options;
}

Status run_transformer(Context& context) {
  const auto& parameters = context.parameters;
  const auto model = transformer::read_model(parameters.choice("model"));
  if (!model) return forward_error(model);
  const auto part = transformer::part_of_run(parameters, *model);
  if (!part) return forward_error(part);
  const auto algorithm = transformer::algorithm_of(parameters, *part);
  if (!algorithm) return forward_error(algorithm);
  auto toolchain = operators::find_toolchain();
  if (!toolchain) return forward_error(toolchain);
  const bool keeps = parameters.choice("cache") == "folder";
  jit::KernelCache cache(std::move(*toolchain), {keeps ? jit::default_cache_folder() : ""});
  const auto communicator = communicator_options(context, *part, *algorithm);
  if (!communicator) return forward_error(communicator);
  const auto ranks = static_cast<unsigned>(part->ranks * part->replicas);
  auto cards = transformer::DecoderCards::open(context, cache, ranks, *communicator);
  if (!cards) return forward_error(cards);
  if (auto ok = decode(context, *model, *part, **cards); !ok) return ok;
  return (*cards)->close();
}

Status check_transformer(const ParameterSet& parameters,
                         const std::vector<std::string>& /*folders*/) {
  return transformer::check_run(parameters);
}

}  // namespace
}  // namespace programs::transformer_run

Workload transformer_run() {
  namespace run = programs::transformer_run;
  return {
      "transformer",
      "A decoder-only transformer: time to the first token and per token, by part and layer",
      {{"model", ParameterType::kText, "", "tiny",
        "a config.json, or tiny, llama-2-7b, llama-3-8b, llama-3.1-8b, llama-3-70b, qwen2.5-0.5b, "
        "qwen2.5-7b, qwen2.5-72b, qwen3-8b, qwen3-32b, tiny-moe, qwen3-30b-a3b, mixtral-8x7b, "
        "tiny-mla, deepseek-v3"},
       choice_parameter("phase", "both", "prompt, tokens behind it, or both",
                        {"both", "prefill", "decode"}),
       {"batch", ParameterType::kInteger, "", "1", "sequences", 1, 65'536},
       {"tokens", ParameterType::kInteger, "", "128",
        "of the prompt of each sequence; of decode alone: that are cached", 1,
        transformer::kMostTokens},
       {"steps", ParameterType::kInteger, "", "4", "tokens to decode", 0, transformer::kMostTokens},
       {"positions", ParameterType::kInteger, "", "0",
        "tokens that the caches of a sequence have room for; 0: tokens and steps", 0,
        2 * transformer::kMostTokens},
       choice_parameter("layers", "all",
                        "sampled: two layers are simulated, and the second one's time stands "
                        "for all others",
                        {"all", "sampled"}),
       choice_parameter("dtype", "bfloat16", "of weights and tensors", {"bfloat16", "float16"}),
       choice_parameter(
           "weights", "rows",
           "of linear layers: row by row; or nz: in fractals (FRACTAL_NZ), as they are "
           "loaded",
           {"rows", "nz"}),
       {"tensor_parallel", ParameterType::kInteger, "", "1",
        "cards that the model is divided over: this one and those behind it", 1, driver::kMaxRanks},
       {"expert_parallel", ParameterType::kInteger, "", "1",
        "of the cards of tensor_parallel, over which whole experts are divided; columns of each "
        "over the others",
        1, driver::kMaxRanks},
       {"data_parallel", ParameterType::kInteger, "", "1",
        "cards that have sequences of their own each, and experts together", 1, driver::kMaxRanks},
       choice_parameter("moe_comm", "allreduce",
                        "allreduce: cards with experts have all tokens, and sum; dispatch: tokens "
                        "are sent to the cards of their experts, and back",
                        {"allreduce", "dispatch"}),
       choice_parameter("algorithm", "automatic", "of the cards' all-reduce",
                        transformer::reduce_algorithms()),
       {"blocks", ParameterType::kInteger, "", "24", "vector cores of each card, with aiv", 1, 64},
       {"overlap", ParameterType::kInteger, "", "1",
        "pieces of products that the cards sum: the sum of one is made while the next is computed",
        1, 64},
       choice_parameter("launch", "eager",
                        "graph: a step of one token is recorded once and run again, with one "
                        "submission to each queue",
                        {"eager", "graph"}),
       choice_parameter("cache", "folder",
                        "folder: kernels are kept where NPUSIM_JIT_CACHE_DIR says, or in "
                        "~/.cache/npusim/jit",
                        {"none", "folder"}),
       card_parameter()},
      run::run_transformer,
      figure_rows(run::kOfStep, run::kOfCard, run::kOfPart, run::kOfLayer, run::kOfModel),
      run::check_transformer};
}

}  // namespace npu::workloads
