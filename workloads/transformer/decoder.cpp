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
// is made of rounds, and those of attention and of sums of several cards round in between.
constexpr double kRoundings = 32;

}  // namespace

Decoder::Decoder(Context& context, const Shapes& shapes, const DecoderOptions& options,
                 const std::vector<RankCard>& cards)
    : context_(context), model_(shapes.model), part_(shapes.part), options_(options) {
  for (const auto& card : cards) {
    ranks_.push_back(std::make_unique<DecoderRank>(context, part_, options_, card));
  }
}

Status Decoder::prepare() {
  const auto numbers = model_.weights(options_.layers);
  if (context_.functional && numbers > kMostFunctional) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("model: {} numbers are more than the host computes with ({}); "
                            "functional=off has the times",
                            numbers, kMostFunctional));
  }
  for (auto& rank : ranks_) {
    if (auto ok = rank->prepare(); !ok) return ok;
  }
  if (!context_.functional) {
    for (auto& rank : ranks_) {
      if (auto ok = rank->write_choices(); !ok) return ok;
    }
    return {};
  }
  host_ = random_model(model_, options_.type, options_.layers, options_.positions, context_.seed);
  reference_ = std::make_unique<ReferenceDecoder>(model_, host_, options_.type, sequences());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (auto ok = ranks_[i]->write(weights_of(host_, model_, part_, i)); !ok) return ok;
  }
  return {};
}

// What came out; at first tokens of the seed.
std::vector<std::uint32_t> Decoder::next_tokens(std::uint64_t tokens) const {
  if (tokens == 1 && !chosen_.empty()) return chosen_;
  std::vector<std::uint32_t> all(sequences() * tokens);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint32_t>((context_.seed * 7919 + i * 104'729 + i * i * 31) %
                                        model_.vocabulary);
  }
  return all;
}

// The error that came first: the others may be those of ranks that waited for this one.
Status Decoder::on_all_ranks(const std::function<Status(std::size_t rank)>& work) {
  if (ranks_.size() == 1) return work(0);
  struct Ended {
    Status status;
    Instant at;
  };
  std::vector<Ended> ended(ranks_.size());
  std::vector<std::unique_ptr<platform::Task>> tasks;
  Status status;
  for (std::size_t i = 0; i < ranks_.size() && status; ++i) {
    auto task = context_.platform.tasks().spawn(fmt::format("rank{}", i), [&, i] {
      ended[i].status = work(i);
      ended[i].at = context_.platform.clock().now();
    });
    if (!task) status = forward_error(task);
    if (task) tasks.push_back(std::move(*task));
  }
  for (auto& task : tasks) task->join();
  const Ended* first = nullptr;
  for (const auto& each : ended) {
    if (!each.status && (first == nullptr || each.at < first->at)) first = &each;
  }
  return first != nullptr ? first->status : status;
}

Result<std::vector<StepTimes>> Decoder::timed(const StepShape& shape,
                                              const std::vector<std::uint32_t>& given) {
  for (auto& rank : ranks_) {
    if (auto ok = rank->plan(shape); !ok) return forward_error(ok);
  }
  auto& clock = context_.platform.clock();
  operators::LaunchTimes times;
  const bool recorded = context_.platform.tracer().enabled();
  const TraceSession listening(context_.trace, times);
  const Instant begin = clock.now();
  const auto ran = on_all_ranks([&](std::size_t rank) {
    const auto first =
        given.begin() + static_cast<std::ptrdiff_t>(first_sequence(rank) * shape.tokens);
    const auto count = static_cast<std::ptrdiff_t>(shape.rows());
    return ranks_[rank]->run(shape, {first, first + count}, times);
  });
  if (!ran) return forward_error(ran);
  const operators::KernelSpan whole{begin, clock.now()};
  std::vector<StepTimes> all;
  for (const auto& rank : ranks_) {
    all.push_back(rank->times_of(whole, times));
    if (!recorded) all.back().keep_time_only();
  }
  return all;
}

Result<std::vector<StepTimes>> Decoder::step(std::uint64_t tokens) {
  const auto given = next_tokens(tokens);
  auto times = timed({options_.batch, tokens, cached_, options_.pieces}, given);
  if (!times) return times;
  cached_ += tokens;
  if (!context_.functional) return times;
  chosen_.resize(sequences());
  for (std::size_t i = 0; i < part_.replicas; ++i) {
    const auto& chosen = ranks_[i]->chosen();
    std::copy(chosen.begin(), chosen.end(),
              chosen_.begin() + static_cast<std::ptrdiff_t>(first_sequence(i)));
  }
  const auto choices = common_choices(options_.batch * tokens);
  if (!choices) return forward_error(choices);
  const auto wanted = reference_->step(given, *choices);
  if (!wanted) return forward_error(wanted);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (auto ok = check(i, *wanted); !ok) return forward_error(ok);
  }
  return times;
}

// Of each layer.
void Decoder::take_rows(const std::vector<Choices>& from, const RowRange& rows,
                        std::vector<Choices>& to) const {
  const auto begin = static_cast<std::ptrdiff_t>(rows.first * part_.experts.chosen);
  const std::uint64_t count = rows.count * part_.experts.chosen;
  for (std::size_t layer = 0; layer < from.size(); ++layer) {
    if (from[layer].empty()) continue;
    if (part_.replicas > 1) {
      to[layer].insert(to[layer].end(), from[layer].begin(), from[layer].end());
    } else {
      std::copy_n(from[layer].begin() + begin, count, to[layer].begin() + begin);
    }
  }
}

// Each card has chosen for its own tokens. Or all have chosen for all: cards that choose other
// experts then give terms of sums that nobody has.
Result<std::vector<Choices>> Decoder::common_choices(std::uint64_t rows) {
  auto first = ranks_.front()->choices(rows);
  if (!first) return first;
  for (std::size_t i = 1; i < ranks_.size(); ++i) {
    const auto other = ranks_[i]->choices(rows);
    if (!other) return other;
    if (part_.experts.dispatched) take_rows(*other, rows_of_rank(part_, rows, i), *first);
    if (part_.experts.dispatched || *other == *first) continue;
    return fail(ErrorCode::kWrongData, fmt::format("cards {} and {} have chosen different experts",
                                                   ranks_.front()->card(), ranks_[i]->card()));
  }
  return first;
}

Status Decoder::check(std::size_t number, const Numbers& all) const {
  auto& rank = *ranks_[number];
  const auto bytes = rank.logits();
  if (!bytes) return forward_error(bytes);
  const std::uint64_t first = first_sequence(number);
  const double* const wanted = all.data() + first * model_.vocabulary;
  double largest = 0;
  for (const double each : all) largest = std::max(largest, finite_size(each));
  const double allowed = kRoundings * rounding_error(options_.type) * largest;
  for (std::uint64_t i = 0; i < options_.batch * model_.vocabulary; ++i) {
    const double found = load_element(options_.type, bytes->data(), i);
    if (distance_of(found, wanted[i]) <= allowed) continue;
    return fail(
        ErrorCode::kWrongData,
        fmt::format("card {}: logit {} of sequence {} behind {} tokens is {}, expected {} within "
                    "{}",
                    rank.card(), i % model_.vocabulary, first + i / model_.vocabulary, cached_,
                    found, wanted[i], allowed));
  }
  for (std::uint64_t sequence = 0; sequence < options_.batch; ++sequence) {
    const double* const row = wanted + sequence * model_.vocabulary;
    const double best = *std::max_element(row, row + model_.vocabulary);
    const auto chosen = rank.chosen()[sequence];
    if (chosen < model_.vocabulary && row[chosen] >= best - 2 * allowed) continue;
    return fail(ErrorCode::kWrongData,
                fmt::format("card {}: token {} of sequence {} is not the likeliest one",
                            rank.card(), chosen, first + sequence));
  }
  return {};
}

}  // namespace npu::workloads::transformer
