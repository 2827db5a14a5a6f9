// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/expert_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/framework/random.hpp"

namespace npu::workloads {
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

ExpertTokens::ExpertTokens(Context& context, CollectiveRanks& ranks,
                           const driver::ExpertShape& shape, driver::CollectiveType type)
    : context_(context),
      ranks_(ranks),
      shape_(shape),
      call_type_(type),
      type_(type_of(name_of(type))),
      data_(ranks.count()) {}

Bytes ExpertTokens::dispatched_bytes() const {
  const Bytes row = shape_.quantised ? shape_.hidden + sizeof(float) : row_bytes();
  return Bytes{shape_.tokens} * shape_.chosen * row;
}
Bytes ExpertTokens::combined_bytes() const {
  return Bytes{shape_.tokens} * shape_.chosen * row_bytes();
}

// Different experts of a token, each equally likely.
void ExpertTokens::draw(Rank& rank, unsigned number) const {
  Random random(context_.seed + number);
  rank.values.resize(shape_.tokens * row_bytes());
  fill_exact(type_, bytes_to(rank.values), context_.seed + number);
  std::vector<std::uint32_t> experts(shape_.experts);
  for (std::uint32_t i = 0; i < shape_.experts; ++i) experts[i] = i;
  for (std::uint32_t token = 0; token < shape_.tokens; ++token) {
    for (std::uint32_t k = 0; k < shape_.chosen; ++k) {
      std::swap(experts[k], experts[random.between(k, shape_.experts - 1)]);
      rank.choices.push_back(experts[k]);
      rank.weights.push_back(std::ldexp(1.0F, -static_cast<int>(random.below(4))));
    }
  }
}

Status ExpertTokens::prepare() {
  for (unsigned i = 0; i < ranks_.count(); ++i) {
    if (auto ok = prepare(i); !ok) return ok;
  }
  return {};
}

Status ExpertTokens::prepare(unsigned number) {
  auto& rank = data_[number];
  draw(rank, number);
  auto& session = ranks_.session(number);
  const std::uint64_t rows = shape_.most_rows(ranks_.count());
  const Bytes places = Bytes{shape_.tokens} * shape_.place_pitch() * 4;
  auto& sent = rank.sent;
  auto& back = rank.back;
  const std::pair<driver::DeviceAddress*, Bytes> memory[] = {
      {&sent.tokens, rank.values.size()},
      {&sent.choices, rank.choices.size() * 4},
      {&sent.rows, rows * row_bytes()},
      {&sent.scales, rows * 4},
      {&sent.ends, shape_.experts * 8},
      {&sent.groups, shape_.experts * 8},
      {&sent.places, places},
      {&back.rows, rows * row_bytes()},
      {&back.weights, rank.weights.size() * 4},
      {&back.result, rank.values.size()}};
  for (const auto& [at, bytes] : memory) {
    const auto made = session.allocate(std::max<Bytes>(bytes, 64));
    if (!made) return forward_error(made);
    *at = *made;
  }
  back.groups = sent.groups, back.places = sent.places, back.addend = sent.tokens;
  if (auto ok = session.write(sent.tokens, bytes_of(rank.values)); !ok) return ok;
  if (auto ok = session.write(sent.choices, bytes_of(rank.choices)); !ok) return ok;
  return session.write(back.weights, bytes_of(rank.weights));
}

Result<driver::StreamMark> ExpertTokens::dispatch(unsigned rank) {
  return ranks_.communicator().moe_dispatch(rank, {&ranks_.stream(rank), call_type_}, shape_,
                                            data_[rank].sent);
}
Result<driver::StreamMark> ExpertTokens::combine(unsigned rank) {
  return ranks_.communicator().moe_combine(rank, {&ranks_.stream(rank), call_type_}, shape_,
                                           data_[rank].back);
}

std::vector<ExpertTokens::Origin> ExpertTokens::origins(unsigned number) const {
  const std::uint32_t own = shape_.experts / ranks_.count(), first = number * own;
  std::vector<std::vector<Origin>> experts(own);
  for (unsigned from = 0; from < ranks_.count(); ++from) {
    const auto& choices = data_[from].choices;
    for (std::uint32_t i = 0; i < choices.size(); ++i) {
      const std::uint32_t expert = choices[i] - first;
      if (expert < own) experts[expert].push_back({from, i / shape_.chosen});
    }
  }
  std::vector<Origin> all;
  for (const auto& each : experts) all.insert(all.end(), each.begin(), each.end());
  return all;
}

const std::byte* ExpertTokens::row_of(const Origin& origin) const {
  return data_[origin.rank].values.data() + origin.token * row_bytes();
}

Status ExpertTokens::give_back() {
  if (!context_.functional) return {};
  for (unsigned number = 0; number < ranks_.count(); ++number) {
    std::vector<std::byte> rows;
    for (const auto& origin : origins(number)) {
      const std::byte* const row = row_of(origin);
      rows.insert(rows.end(), row, row + row_bytes());
    }
    if (rows.empty()) continue;
    const auto& to = data_[number].back.rows;
    if (auto ok = ranks_.session(number).write(to, bytes_of(rows)); !ok) return ok;
  }
  return {};
}

Status ExpertTokens::compare_rows() {
  if (!context_.functional) return {};
  for (unsigned number = 0; number < ranks_.count(); ++number) {
    if (auto ok = compare_rows(number); !ok) return ok;
  }
  return {};
}

Status ExpertTokens::compare_rows(unsigned number) {
  const auto all = origins(number);
  const std::uint64_t row = shape_.quantised ? shape_.hidden : row_bytes();
  std::vector<std::byte> found(all.size() * row);
  std::vector<float> scales(all.size());
  auto& session = ranks_.session(number);
  const auto& sent = data_[number].sent;
  if (all.empty()) return {};
  if (auto ok = session.read(sent.rows, bytes_to(found)); !ok) return ok;
  if (shape_.quantised) {
    if (auto ok = session.read(sent.scales, bytes_to(scales)); !ok) return ok;
  }
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    auto ok = compare_row(number, i, all[i], found.data() + i * row, scales[i]);
    if (!ok) return ok;
  }
  compared_ += all.size() * shape_.hidden;
  return {};
}

// A quantised one may be off by half a step, and by what the card's rounding of the factor adds.
Status ExpertTokens::compare_row(unsigned number, std::uint64_t row, const Origin& origin,
                                 const std::byte* found, float scale) {
  constexpr double kStep = 0.51;
  const std::byte* const wanted = row_of(origin);
  for (std::uint64_t i = 0; i < shape_.hidden; ++i) {
    const double expected = load_element(type_, wanted, i);
    const double value = shape_.quantised ? load_element(DataType::kInt8, found, i) * scale
                                          : load_element(type_, found, i);
    const double allowed = shape_.quantised ? kStep * scale : 0;
    if (distance_of(value, expected) <= allowed) continue;
    return fail(ErrorCode::kWrongData,
                fmt::format("dispatch: rank {}, row {}, element {}: {}, expected {} (rank {}, "
                            "token {})",
                            number, row, i, value, expected, origin.rank, origin.token));
  }
  return {};
}

// Weights are powers of two, so that sums are exact before they are rounded.
Status ExpertTokens::compare_sums() {
  if (!context_.functional) return {};
  for (unsigned number = 0; number < ranks_.count(); ++number) {
    const auto& rank = data_[number];
    std::vector<std::byte> found(rank.values.size());
    if (auto ok = ranks_.session(number).read(rank.back.result, bytes_to(found)); !ok) return ok;
    for (std::uint64_t i = 0; i < std::uint64_t{shape_.tokens} * shape_.hidden; ++i) {
      const std::uint64_t token = i / shape_.hidden;
      double weight = 1;
      for (std::uint32_t k = 0; k < shape_.chosen; ++k) {
        weight += double{rank.weights[token * shape_.chosen + k]};
      }
      const double expected =
          rounded_to(type_, weight * load_element(type_, rank.values.data(), i));
      const double value = load_element(type_, found.data(), i);
      if (value == expected) continue;
      return fail(ErrorCode::kWrongData,
                  fmt::format("combine: rank {}, token {}, element {}: {}, expected {}", number,
                              token, i % shape_.hidden, value, expected));
    }
    compared_ += std::uint64_t{shape_.tokens} * shape_.hidden;
  }
  return {};
}

}  // namespace npu::workloads
