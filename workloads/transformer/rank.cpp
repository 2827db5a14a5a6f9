// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/rank.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads::transformer {
namespace {

template <class T>
ConstByteSpan bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
ByteSpan bytes_to(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

DecoderRank::DecoderRank(Context& context, const Model& model, const DecoderOptions& options,
                         const RankCard& card)
    : context_(context), model_(model), options_(options), card_(card) {}

Result<std::uint64_t> DecoderRank::allocate(Bytes bytes) {
  const auto memory = card_.session.allocate(bytes);
  if (!memory) return forward_error(memory);
  return memory->value;
}

Status DecoderRank::write_words(std::uint64_t to, const std::vector<std::uint32_t>& words) {
  return card_.session.write({to}, bytes_of(words));
}

Status DecoderRank::prepare() {
  const auto take = [this](Bytes bytes) { return allocate(bytes); };
  const ModelRoom room{options_.layers,    options_.batch,
                       options_.positions, options_.batch * options_.largest_tokens,
                       options_.fractals,  model_.ranks == 1 ? 0 : card_.rank};
  auto memory = allocate_model(model_, options_.type, room, take);
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
  return write_words(step_.pages, pages);
}

Status DecoderRank::write(const HostModel& weights) {
  return write_model(weights, model_, options_.type, memory_,
                     [this](std::uint64_t to, DataType type, const Numbers& from) {
                       std::vector<std::byte> bytes(from.size() * platform::bytes_of(type));
                       store_elements(type, bytes.data(), from.size(), from.data());
                       return card_.session.write({to}, bytes_of(bytes));
                     });
}

Status DecoderRank::write_choices() {
  const auto& experts = model_.experts;
  const std::uint64_t rows = options_.batch * options_.largest_tokens;
  for (std::uint64_t layer = 0; layer < memory_.choices.size(); ++layer) {
    if (memory_.choices[layer] == 0) continue;
    // Cards with sequences of their own have other ones.
    const std::uint64_t of_card = model_.replicas == 1 ? 0 : card_.rank;
    const auto chosen =
        random_choices(experts, rows, context_.seed + layer + of_card * model_.layers);
    if (auto ok = write_words(memory_.choices[layer], chosen); !ok) return ok;
  }
  return {};
}

Status DecoderRank::write_inputs(const StepShape& shape, const std::vector<std::uint32_t>& tokens) {
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

Status DecoderRank::plan(const StepShape& shape) {
  operations_ = operations_of(model_, card_.rank, options_.type, shape, memory_, step_);
  for (const auto& operation : operations_) {
    if (operation.collective) continue;
    const auto kernel = card_.runner.find(operation.call, context_.interrupted);
    if (!kernel) return forward_error(kernel);
    if (auto ok = card_.launcher.upload(*kernel->kernel); !ok) return ok;
  }
  if (!from_graph(shape) || graph_ != nullptr) return {};
  graph_ = std::make_unique<StepGraph>(context_, card_.runner, card_.launcher);
  return graph_->record(operations_);
}

Status DecoderRank::run(const StepShape& shape, const std::vector<std::uint32_t>& given,
                        operators::LaunchTimes& times) {
  auto& clock = context_.platform.clock();
  if (auto ok = write_inputs(shape, given); !ok) return ok;
  const Instant called = clock.now();
  const bool graph = from_graph(shape);
  if (auto ok = graph ? launch_graph(times) : launch(times); !ok) return ok;
  host_ = {called, clock.now()};
  if (auto ok = card_.launcher.wait(); !ok) return ok;
  chosen_.resize(shape.batch);
  return card_.session.read({step_.chosen}, bytes_to(chosen_));
}

Status DecoderRank::launch(const operators::LaunchTimes& times) {
  launched_.clear();
  for (const auto& operation : operations_) {
    const std::size_t first = times.submitted(card_.card);
    auto launched =
        operation.collective ? collect(*operation.collective, times) : launch(operation);
    if (!launched) {
      return fail(launched.error().code, fmt::format("card {}: {}: {}", card_.card, operation.part,
                                                     launched.error().context));
    }
    launched->first = first, launched->end = times.submitted(card_.card);
    launched_.push_back(*launched);
  }
  return {};
}

// Operations of all cards are submitted between the parts of the graph.
Status DecoderRank::launch_graph(const operators::LaunchTimes& times) {
  launched_.clear();
  if (auto ok = graph_->change_to(operations_); !ok) return ok;
  std::size_t part = 0;
  if (auto ok = graph_->run(part++); !ok) return ok;
  for (const auto& operation : operations_) {
    auto& launched = launched_.emplace_back();
    if (!operation.collective) continue;
    const auto collected = collect(*operation.collective, times);
    if (!collected) return forward_error(collected);
    launched = *collected;
    if (auto ok = graph_->run(part++); !ok) return ok;
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].collective) continue;
    auto& launched = launched_[i];
    for (const auto& ticket : graph_->tickets_of(i)) launched.causes.push_back(cause_of(ticket));
    launched.launches = static_cast<unsigned>(launched.causes.size());
  }
  return {};
}

std::uint64_t DecoderRank::cause_of(const driver::QueueTicket& ticket) const {
  return platform::queue_cause(card_.card, ticket.queue.value, ticket.index);
}

Result<DecoderRank::Launched> DecoderRank::launch(const Operation& operation) {
  auto kernel = card_.runner.find(operation.call, context_.interrupted);
  if (!kernel) return forward_error(kernel);
  const auto ran = card_.runner.run(operation.call, std::move(*kernel));
  if (!ran) {
    return fail(ran.error().code, fmt::format("{}: {}", operation.call.name, ran.error().context));
  }
  return Launched{0, 0, ran->launches, 0, {}};
}

// On a stream of its own, what is computed behind it does not wait.
Result<DecoderRank::Launched> DecoderRank::collect(const Collective& collective,
                                                   const operators::LaunchTimes& times) {
  const std::size_t first = times.submitted(card_.card);
  auto& own = card_.launcher.stream();
  if (collective.beside) {
    if (auto ok = follow(*card_.side, own); !ok) return forward_error(ok);
  }
  const auto mark = call(collective, collective.beside ? *card_.side : own);
  if (!mark) return forward_error(mark);
  if (collective.beside && collective.last) {
    if (auto ok = follow(own, *card_.side); !ok) return forward_error(ok);
  }
  return Launched{first, times.submitted(card_.card), 1, cause_of(mark->ticket()), {}};
}

Result<driver::StreamMark> DecoderRank::call(const Collective& collective,
                                             driver::ExecutionStream& stream) {
  const driver::CollectiveCall how{&stream, options_.type == DataType::kFp16
                                                ? driver::CollectiveType::kFp16
                                                : driver::CollectiveType::kBf16};
  if (const auto& exchange = collective.exchange) {
    auto& all = *card_.communicator;
    return exchange->back ? all.moe_combine(card_.rank, how, exchange->shape, *exchange->back)
                          : all.moe_dispatch(card_.rank, how, exchange->shape, exchange->sent);
  }
  const driver::DeviceAddress from{collective.from}, to{collective.to};
  if (collective.operation == driver::CollectiveOperation::kAllGather) {
    return card_.communicator->all_gather(card_.rank, how, from, to, collective.count);
  }
  return card_.communicator->all_reduce(card_.rank, how, from, to, collective.count,
                                        driver::Reduction::kSum);
}

Status DecoderRank::follow(driver::ExecutionStream& later, driver::ExecutionStream& earlier) {
  const auto record = earlier.record(card_.time);
  return record ? later.wait_for(*record) : Status(forward_error(record));
}

StepTimes DecoderRank::times_of(const operators::KernelSpan& step,
                                const operators::LaunchTimes& times) const {
  StepTimes all;
  all.host = Spans(host_);
  all.layers.resize(options_.layers);
  Spans kernels, collectives;
  Instant end;                    // of what has been done so far
  std::optional<Instant> before;  // the end of what came before a layer
  std::uint64_t layer = kNoLayer;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto& operation = operations_[i];
    const auto& launched = launched_[i];
    all.launches += launched.launches;
    all.operations += operation.operations;
    if (operation.layer != layer) before = end, layer = operation.layer;
    auto span = launched.causes.empty() ? times.kernels(card_.card, launched.first, launched.end)
                                        : times.kernels(launched.causes);
    // Engines carry out an operation of all cards without a kernel.
    if (operation.collective && !span) span = times.wait(launched.wait);
    auto& part = all.parts[operation.part];
    part.launches += launched.launches;
    if (!span) continue;
    part.card.add(*span);
    (operation.collective ? collectives : kernels).add(*span);
    if (operation.collective) ++all.collectives;
    end = std::max(end, span->end);
    if (layer != kNoLayer) all.layers[layer] = Spans({*before, end});
  }
  all.set_spans(step, kernels, collectives);
  return all;
}

Result<std::vector<std::byte>> DecoderRank::logits() {
  std::vector<std::byte> bytes(options_.batch * model_.vocabulary *
                               platform::bytes_of(options_.type));
  if (auto ok = card_.session.read({step_.logits}, bytes_to(bytes)); !ok) return forward_error(ok);
  return bytes;
}

Result<std::vector<Choices>> DecoderRank::choices(std::uint64_t rows) {
  std::vector<Choices> all;
  if (model_.experts.count == 0) return all;
  for (const auto at : memory_.choices) {
    auto& layer = all.emplace_back(at == 0 ? 0 : rows * model_.experts.chosen);
    if (layer.empty()) continue;
    if (auto ok = card_.session.read({at}, bytes_to(layer)); !ok) return forward_error(ok);
  }
  return all;
}

}  // namespace npu::workloads::transformer
