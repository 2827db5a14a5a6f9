// SPDX-License-Identifier: Apache-2.0
// Steps of whole models, by `run transformer`: two layers are simulated, the second stands for all
// behind it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/validate/network_row.hpp"
#include "tools/cli/validate/network_text.hpp"
#include "tools/cli/validate/recipe.hpp"

namespace npu::validate::network {
namespace {

constexpr std::uint64_t kMostTokens = 8192;  // of a prompt of all sequences
constexpr std::uint64_t kMostSequences = 256;
constexpr std::uint64_t kSimulated = 2;         // layers
constexpr std::uint64_t kAssumedPrompt = 1024;  // tokens, as the serving benchmark's own default
constexpr std::uint64_t kAssumedContext = 128;  // tokens of a run that decodes alone

enum class StepFigure : std::uint8_t { kToken, kPrompt, kBusy, kExposed, kFree, kRate };
struct StepMetric {
  std::string_view begin;
  StepFigure figure;
};
constexpr StepMetric kStepMetrics[] = {
    {"TPOT", StepFigure::kToken},           {"mean TPOT", StepFigure::kToken},
    {"median TPOT", StepFigure::kToken},    {"step wall", StepFigure::kToken},
    {"eval", StepFigure::kToken},           {"TTFT", StepFigure::kPrompt},
    {"mean TTFT", StepFigure::kPrompt},     {"median TTFT", StepFigure::kPrompt},
    {"prefill", StepFigure::kPrompt},       {"kernel-busy", StepFigure::kBusy},
    {"exposed comm", StepFigure::kExposed}, {"free", StepFigure::kFree},
    {"throughput", StepFigure::kRate}};

// Tokens in front of the one that is decoded, of the prompt, and sequences.
struct StepWork {
  std::uint64_t context = 0, prompt = 0, sequences = 0;
  bool assumed = false;
};

// "1024/128": tokens in and out.
std::optional<std::pair<std::uint64_t, std::uint64_t>> in_and_out(const std::string& text) {
  for (auto slash = text.find('/'); slash != std::string::npos; slash = text.find('/', slash + 1)) {
    auto begin = slash;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    const auto in = number_behind(text.substr(begin, slash - begin), "");
    const auto out = number_behind(text.substr(slash + 1, 9), "");
    if (in && out && *in != 0) return {{*in, *out}};
  }
  return std::nullopt;
}

StepWork work_of(const Measurement& row) {
  StepWork work;
  const auto& shape = row.shape;
  for (const auto* name : {"concurrency", "conc", "c", "B", "b"}) {
    if (work.sequences == 0) work.sequences = number_behind(shape, name).value_or(0);
  }
  if (work.sequences == 0) work.sequences = 1;
  work.context = middle_behind(shape, "ctx").value_or(0);
  auto lengths = in_and_out(shape);
  if (!lengths) lengths = in_and_out(row.note);
  const auto out = number_behind(row.note, "out");
  if (!lengths && out) {
    lengths = {kAssumedPrompt, *out};
    work.assumed = work.context == 0;
  }
  if (lengths) {
    work.prompt = lengths->first;
    if (work.context == 0) work.context = lengths->first + lengths->second / 2;
  }
  if (work.prompt == 0) work.prompt = number_behind(shape, "T").value_or(work.context);
  if (work.context == 0) work.context = kAssumedContext, work.assumed = true;
  return work;
}

// Parts of a layer, each so many times a layer as simulated; the norm of the end is beside them.
constexpr const char* kLayerParts[] = {"attention", "cache", "down",  "gate_up", "out",
                                       "qkv",       "rope",  "split", "swi_glu"};

// Of all layers: what the simulated ones take, and for each layer more the mean of their parts.
std::vector<std::pair<std::string, double>> busy_of(const Model& model) {
  const auto more = static_cast<double>(model.layers - std::min(model.layers, kSimulated));
  const auto each = more / static_cast<double>(std::min(model.layers, kSimulated));
  std::vector<std::pair<std::string, double>> terms{{"transformer.decode.card0.busy_us", 1}};
  const auto add = [&](const std::string& part, double factor) {
    terms.emplace_back("transformer.decode." + part + ".card_us", factor);
  };
  for (const auto* part : kLayerParts) add(part, each);
  if (model.qk_norm) add("qk_norm", each);
  add("norm", more * 2 / static_cast<double>(2 * kSimulated + 1));
  return terms;
}
std::vector<std::pair<std::string, double>> exposed_of(const Model& model) {
  const auto more = static_cast<double>(model.layers - std::min(model.layers, kSimulated));
  return {{"transformer.decode.card0.exposed_us", 1},
          {"transformer.decode.allreduce.card_us", more / static_cast<double>(kSimulated)}};
}
// What is neither: the gaps between the simulated layers, and for each layer more the mean of them.
std::vector<std::pair<std::string, double>> free_of(const Model& model) {
  const auto more = static_cast<double>(model.layers - std::min(model.layers, kSimulated));
  return {{"transformer.decode.card0.gap_us", 1 + more / static_cast<double>(kSimulated)}};
}

// Sets what is compared.
Made with_figure(Operation made, const Measurement& row, const Facts& facts, StepFigure figure) {
  const double unit = microseconds_in(row.unit);
  const bool rate = figure == StepFigure::kRate;
  if (rate ? row.unit != "tok/s" : unit == 0) {
    return refuse(fmt::format("the unit '{}' is not the figure's", row.unit));
  }
  made.scale = rate ? 1 : 1 / unit;
  made.metric = rate                            ? "transformer.tokens_per_s"
                : figure == StepFigure::kPrompt ? "transformer.ttft_us"
                                                : "transformer.tpot_us";
  const bool parts =
      figure == StepFigure::kBusy || figure == StepFigure::kExposed || figure == StepFigure::kFree;
  if (parts && facts.divided < 2) return refuse("one card has no such parts of a step");
  if (figure == StepFigure::kBusy) made.terms = busy_of(*facts.model);
  if (figure == StepFigure::kExposed) made.terms = exposed_of(*facts.model);
  if (figure == StepFigure::kFree) made.terms = free_of(*facts.model);
  return made;
}

Made step_run(const Measurement& row, const Facts& facts, StepFigure figure) {
  const auto work = work_of(row);
  const bool prompt = figure == StepFigure::kPrompt;
  const auto sequences = prompt ? 1 : work.sequences;
  const auto tokens = prompt ? work.prompt : work.context;
  if (tokens == 0) return refuse("the length of the prompt is not published");
  if (sequences > kMostSequences || (prompt && tokens > kMostTokens)) {
    return refuse("the step is too large to simulate");
  }
  std::string configuration = facts.part;
  std::vector<std::pair<std::string, std::string>> keys;
  if (facts.divided > 1) {
    const auto system = system_of(facts.part, facts.divided);
    if (!system) return refuse(fmt::format("no system of {} dies of this part", facts.divided));
    configuration = system->name, keys = system->keys;
  }
  Operation made;
  made.configuration = configuration;
  made.workload = "transformer";
  made.settings = {{"model", facts.model->name},
                   {"phase", prompt ? "prefill" : "decode"},
                   {"layers", "sampled"},
                   {"batch", std::to_string(sequences)},
                   {"tokens", std::to_string(tokens)},
                   {"steps", prompt ? "0" : "1"},
                   {"dtype", facts.type == "float16" ? "float16" : "bfloat16"},
                   {"tensor_parallel", std::to_string(facts.divided)},
                   {"launch", prompt ? "eager" : "graph"},
                   {"functional", "off"}};
  made.settings.insert(made.settings.end(), keys.begin(), keys.end());
  if (says(row.note, "NZ")) made.settings.emplace_back("weights", "nz");
  made.left_out = "the host's framework";
  if (work.assumed) made.left_out += fmt::format(", {} tokens are assumed", tokens);
  if (says(row.shape, "16 rows") && sequences < 16) made.left_out += ", padding to 16 rows";
  return with_figure(std::move(made), row, facts, figure);
}

}  // namespace

std::optional<Made> step(const Measurement& row, const Facts& facts) {
  const auto* const metric =
      std::find_if(std::begin(kStepMetrics), std::end(kStepMetrics), [&](const StepMetric& known) {
        return row.metric.compare(0, known.begin.size(), known.begin) == 0;
      });
  if (metric == std::end(kStepMetrics)) {
    if (!facts.model) return std::nullopt;
    return Made(refuse(fmt::format("the metric '{}' is none of a step", row.metric)));
  }
  if (!facts.model) {
    constexpr const char* kExperts[] = {"A3B", "LongCat", "DeepSeek", "MoE", "Mixtral", "Pangu"};
    for (const auto* word : kExperts) {
      if (lower(row.op).find(lower(word)) == std::string::npos) continue;
      return Made(refuse("models with experts are not modelled"));
    }
    return Made(refuse("no such model"));
  }
  return step_run(row, facts, metric->figure);
}

}  // namespace npu::validate::network
