// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/division.hpp"

#include <fmt/format.h>

#include "npu/base/shortened.hpp"

namespace npu::workloads::transformer {
namespace {

// Rows or columns of a matrix that a rank has.
struct Share {
  std::uint64_t first = 0, count = 0;
};

void append_rows(Numbers& to, const Numbers& matrix, std::uint64_t columns, const Share& rows) {
  const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(rows.first * columns);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(rows.count * columns));
}

Numbers columns_of(const Numbers& matrix, std::uint64_t all, const Share& columns) {
  Numbers part;
  part.reserve(matrix.size() / all * columns.count);
  for (std::uint64_t at = columns.first; at < matrix.size(); at += all) {
    append_rows(part, matrix, 1, {at, columns.count});
  }
  return part;
}

tl::unexpected<Error> undivided(std::uint64_t ranks, const Model& model, std::uint64_t count,
                                const char* what) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("tensor_parallel={}: {} has {} {}, which it does not divide", ranks,
                          shortened(model.name, kShownPath), count, what));
}

}  // namespace

Result<Model> part_of(const Model& model, std::uint64_t ranks) {
  Model part = model;
  part.ranks = ranks;
  const auto divide = [ranks](std::uint64_t& count) {
    const bool whole = count % ranks == 0;
    count /= ranks;
    return whole;
  };
  if (!divide(part.heads)) return undivided(ranks, model, model.heads, "heads");
  const bool shared = ranks > model.kv_heads;
  if (shared) part.kv_heads = 1;
  if (shared ? ranks % model.kv_heads != 0 : !divide(part.kv_heads)) {
    return undivided(ranks, model, model.kv_heads, "heads of keys and values");
  }
  if (!divide(part.inner)) {
    return undivided(ranks, model, model.inner, "columns of the feed-forward part");
  }
  if (model.vocabulary % ranks != 0) return undivided(ranks, model, model.vocabulary, "words");
  return part;
}

HostModel weights_of(const HostModel& whole, const Model& model, const Model& part,
                     std::uint64_t rank) {
  if (part.ranks == 1) return whole;
  const Share q{rank * part.q_width(), part.q_width()};
  // The head that a rank's heads of queries look at, where several ranks share it.
  const Share kv{rank * model.kv_heads / part.ranks * model.head, part.kv_width()};
  const Share inner{rank * part.inner, part.inner};
  const auto qkv_rows = [&](const Numbers& matrix, std::uint64_t columns) {
    Numbers rows;
    if (matrix.empty()) return rows;
    append_rows(rows, matrix, columns, q);
    append_rows(rows, matrix, columns, {model.q_width() + kv.first, kv.count});
    append_rows(rows, matrix, columns, {model.q_width() + model.kv_width() + kv.first, kv.count});
    return rows;
  };
  HostModel mine = whole;
  mine.head.clear();
  append_rows(mine.head, whole.head, model.hidden, {rank * part.head_rows(), part.head_rows()});
  for (std::size_t i = 0; i < whole.layers.size(); ++i) {
    const auto& from = whole.layers[i];
    auto& layer = mine.layers[i];
    layer.qkv = qkv_rows(from.qkv, model.hidden);
    layer.qkv_bias = qkv_rows(from.qkv_bias, 1);
    layer.out = columns_of(from.out, model.q_width(), q);
    layer.gate_up.clear();
    append_rows(layer.gate_up, from.gate_up, model.hidden, inner);
    append_rows(layer.gate_up, from.gate_up, model.hidden,
                {model.inner + inner.first, inner.count});
    layer.down = columns_of(from.down, model.inner, inner);
  }
  return mine;
}

}  // namespace npu::workloads::transformer
