// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads::transformer {
namespace {

// Numbers of a model that the host computes with: about half a minute a step.
constexpr std::uint64_t kMostFunctional = std::uint64_t{1} << 26;
// Roundings of its type that a logit may be off by, of the largest one: each of the steps that it
// is made of rounds, and those of attention round in between.
constexpr double kRoundings = 32;

template <class T>
ConstByteSpan bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
ByteSpan bytes_to(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

StepTimes Decoder::times_of(const std::vector<Operation>& operations,
                            const operators::LaunchTimes& times,
                            const std::vector<Launched>& launched) const {
  StepTimes all;
  all.layers.resize(options_.layers);
  Instant end;                    // of kernels so far
  std::optional<Instant> before;  // the end of what came before a layer
  std::uint64_t layer = kNoLayer;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto& operation = operations[i];
    all.launches += launched[i].launches;
    all.operations += operation.operations;
    if (operation.layer != layer) before = end, layer = operation.layer;
    const auto kernels = times.kernels(launched[i].first, launched[i].end);
    auto& part = all.parts[operation.part];
    part.launches += launched[i].launches;
    if (!kernels) continue;
    const Picoseconds card = kernels->end - kernels->begin;
    part.card += card;
    all.card += card;
    all.busy += std::max(kernels->end, end) - std::min(std::max(kernels->begin, end), kernels->end);
    end = std::max(end, kernels->end);
    if (layer != kNoLayer) all.layers[layer] = end - *before;
  }
  return all;
}

void StepTimes::add(const StepTimes& other) {
  launches += other.launches, operations += other.operations;
  duration += other.duration, host += other.host;
  card += other.card, busy += other.busy;
  for (const auto& [name, part] : other.parts) {
    parts[name].launches += part.launches;
    parts[name].card += part.card;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i] += other.layers[i];
}

Decoder::Decoder(Context& context, const Model& model, const DecoderOptions& options,
                 const Card& card)
    : context_(context), model_(model), options_(options), card_(card) {}

Result<std::uint64_t> Decoder::allocate(Bytes bytes) {
  const auto memory = card_.session.allocate(bytes);
  if (!memory) return forward_error(memory);
  return memory->value;
}

Status Decoder::prepare() {
  const auto numbers = model_.weights(options_.layers);
  if (context_.functional && numbers > kMostFunctional) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("model: {} numbers are more than the host computes with ({}); "
                            "functional=off has the times",
                            numbers, kMostFunctional));
  }
  const auto take = [this](Bytes bytes) { return allocate(bytes); };
  auto memory = allocate_model(model_, options_.type, options_.layers, options_.batch,
                               options_.positions, take);
  if (!memory) return forward_error(memory);
  memory_ = std::move(*memory);
  auto step = allocate_step(model_, options_.type, {options_.batch, options_.largest_tokens, 0},
                            options_.batch * memory_.pages_of_sequence, take);
  if (!step) return forward_error(step);
  step_ = *step;
  std::vector<std::uint32_t> pages(options_.batch * memory_.pages_of_sequence);
  for (std::uint64_t i = 0; i < pages.size(); ++i) {
    pages[i] = static_cast<std::uint32_t>(memory_.page_of(
        options_.batch, i / memory_.pages_of_sequence, i % memory_.pages_of_sequence));
  }
  if (auto ok = write_words(step_.pages, pages); !ok) return ok;
  if (!context_.functional) return {};
  host_ = random_model(model_, options_.type, options_.layers, options_.positions, context_.seed);
  reference_ = std::make_unique<ReferenceDecoder>(model_, host_, options_.type, options_.batch);
  return write_model(host_, options_.type, memory_,
                     [this](std::uint64_t to, DataType type, const Numbers& from) {
                       std::vector<std::byte> bytes(from.size() * platform::bytes_of(type));
                       store_elements(type, bytes.data(), from.size(), from.data());
                       return card_.session.write({to}, bytes_of(bytes));
                     });
}

Status Decoder::write_words(std::uint64_t to, const std::vector<std::uint32_t>& words) {
  return card_.session.write({to}, bytes_of(words));
}

// What came out; at first tokens of the seed.
std::vector<std::uint32_t> Decoder::next_tokens(std::uint64_t tokens) const {
  if (tokens == 1 && !chosen_.empty()) return chosen_;
  std::vector<std::uint32_t> all(options_.batch * tokens);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint32_t>((context_.seed * 7919 + i * 104'729 + i * i * 31) %
                                        model_.vocabulary);
  }
  return all;
}

Status Decoder::write_inputs(const StepShape& shape, const std::vector<std::uint32_t>& tokens) {
  std::vector<std::uint32_t> positions, slots, last;
  for (std::uint64_t sequence = 0; sequence < shape.batch; ++sequence) {
    for (std::uint64_t i = 0; i < shape.tokens; ++i) {
      const std::uint64_t position = shape.cached + i;
      const auto page = memory_.page_of(shape.batch, sequence, position / kPage);
      positions.push_back(static_cast<std::uint32_t>(position));
      slots.push_back(static_cast<std::uint32_t>(page * kPage + position % kPage));
    }
    last.push_back(static_cast<std::uint32_t>((sequence + 1) * shape.tokens - 1));
  }
  if (auto ok = write_words(step_.tokens, tokens); !ok) return ok;
  if (auto ok = write_words(step_.positions, positions); !ok) return ok;
  if (auto ok = write_words(step_.slots, slots); !ok) return ok;
  return write_words(step_.last, last);
}

// Kernels are on the card before a step is timed: an engine has warmed up.
Status Decoder::upload(const std::vector<Operation>& operations) {
  for (const auto& operation : operations) {
    const auto kernel = card_.runner.find(operation.call, context_.interrupted);
    if (!kernel) return forward_error(kernel);
    if (auto ok = card_.launcher.upload(*kernel->kernel); !ok) return ok;
  }
  return {};
}

Status Decoder::launch(const std::vector<Operation>& operations,
                       const operators::LaunchTimes& times, std::vector<Launched>& launched) {
  for (const auto& operation : operations) {
    auto kernel = card_.runner.find(operation.call, context_.interrupted);
    if (!kernel) return forward_error(kernel);
    const std::size_t first = times.submitted();
    const auto ran = card_.runner.run(operation.call, std::move(*kernel));
    if (!ran) {
      return fail(ran.error().code, fmt::format("{}: {}: {}", operation.part, operation.call.name,
                                                ran.error().context));
    }
    launched.push_back({first, times.submitted(), ran->launches});
  }
  return {};
}

Result<StepTimes> Decoder::timed(const StepShape& shape, const std::vector<std::uint32_t>& given,
                                 std::vector<std::uint32_t>& chosen) {
  const auto operations = operations_of(model_, options_.type, shape, memory_, step_);
  if (auto ok = upload(operations); !ok) return forward_error(ok);
  auto& clock = context_.platform.clock();
  operators::LaunchTimes times;
  std::vector<Launched> launched;
  const TraceSession listening(context_.trace, times);
  const Instant begin = clock.now();
  if (auto ok = write_inputs(shape, given); !ok) return forward_error(ok);
  const Instant called = clock.now();
  if (auto ok = launch(operations, times, launched); !ok) return forward_error(ok);
  const Instant rung = clock.now();
  if (auto ok = card_.launcher.wait(); !ok) return forward_error(ok);
  if (auto ok = card_.session.read({step_.chosen}, bytes_to(chosen)); !ok) {
    return forward_error(ok);
  }
  auto all = times_of(operations, times, launched);
  all.duration = clock.now() - begin;
  all.host = rung - called;
  return all;
}

Result<StepTimes> Decoder::step(std::uint64_t tokens) {
  const auto given = next_tokens(tokens);
  std::vector<std::uint32_t> chosen(options_.batch);
  auto times = timed({options_.batch, tokens, cached_}, given, chosen);
  if (!times) return times;
  cached_ += tokens;
  if (!context_.functional) return times;
  chosen_ = std::move(chosen);
  if (auto ok = check(given); !ok) return forward_error(ok);
  return times;
}

Status Decoder::check(const std::vector<std::uint32_t>& tokens) {
  const Numbers wanted = reference_->step(tokens);
  std::vector<std::byte> bytes(wanted.size() * platform::bytes_of(options_.type));
  if (auto ok = card_.session.read({step_.logits}, bytes_to(bytes)); !ok) return ok;
  double largest = 0;
  for (const double each : wanted) largest = std::max(largest, std::abs(each));
  const double allowed = kRoundings * rounding_error(options_.type) * largest;
  for (std::uint64_t i = 0; i < wanted.size(); ++i) {
    const double found = load_element(options_.type, bytes.data(), i);
    if (std::abs(found - wanted[i]) <= allowed) continue;
    return fail(ErrorCode::kWrongData,
                fmt::format("logit {} of sequence {} behind {} tokens is {}, expected {} within {}",
                            i % model_.vocabulary, i / model_.vocabulary, cached_, found, wanted[i],
                            allowed));
  }
  for (std::uint64_t sequence = 0; sequence < options_.batch; ++sequence) {
    const double* const row = wanted.data() + sequence * model_.vocabulary;
    const double best = *std::max_element(row, row + model_.vocabulary);
    const auto chosen = chosen_[sequence];
    if (chosen < model_.vocabulary && row[chosen] >= best - 2 * allowed) continue;
    return fail(ErrorCode::kWrongData,
                fmt::format("token {} of sequence {} is not the likeliest one", chosen, sequence));
  }
  return {};
}

}  // namespace npu::workloads::transformer
