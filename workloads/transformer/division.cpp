// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/division.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/abi/expert_exchange.hpp"
#include "npu/base/checked.hpp"
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

bool divide(std::uint64_t& count, std::uint64_t by) {
  const bool whole = count % by == 0;
  count /= by;
  return whole;
}

// What tokens can be sent for at all.
Status check_dispatched(const Model& model, std::uint64_t cards) {
  using abi::ExpertExchange;
  constexpr std::uint64_t kMostRanks = abi::VectorCollective::kMostRanks;
  const auto told = [](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("moe_comm=dispatch: {}", why));
  };
  const auto name = shortened(model.name, kShownPath);
  const auto& experts = model.experts;
  if (experts.count == 0) return told(fmt::format("{} has no experts", name));
  if (cards == 1 || cards > kMostRanks) {
    return told(fmt::format("experts are on 2 to {} cards, not on {}", kMostRanks, cards));
  }
  if (model.hidden % 32 != 0 || model.hidden > ExpertExchange::kMostHidden) {
    return told(fmt::format("{} has a hidden size of {}: multiples of 32 up to {}", name,
                            model.hidden, ExpertExchange::kMostHidden));
  }
  if (experts.count <= ExpertExchange::kMostExperts &&
      experts.chosen <= ExpertExchange::kMostChosen) {
    return {};
  }
  return told(fmt::format("{} has {} experts, {} of a token: up to {} and {}", name, experts.count,
                          experts.chosen, ExpertExchange::kMostExperts,
                          ExpertExchange::kMostChosen));
}

Status divide_experts(const Model& model, std::uint64_t ranks, std::uint64_t expert_ranks,
                      Model& part) {
  const auto told = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("expert_parallel={}: {}", expert_ranks, why));
  };
  auto& experts = part.experts;
  if (experts.dispatched) {
    if (expert_ranks != ranks) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("moe_comm=dispatch: expert_parallel={} and tensor_parallel={} are to "
                              "be equal",
                              expert_ranks, ranks));
    }
    if (auto can = check_dispatched(model, ranks); !can) return can;
  }
  const auto name = shortened(model.name, kShownPath);
  if (model.experts.count == 0) {
    return expert_ranks == 1 ? Status() : told(fmt::format("{} has no experts", name));
  }
  if (ranks % expert_ranks != 0) {
    return told(fmt::format("it does not divide the {} cards of tensor_parallel", ranks));
  }
  experts.cards = expert_ranks;
  if (experts.count % expert_ranks != 0) {
    return told(fmt::format("{} has {} experts, which it does not divide", name, experts.count));
  }
  if (!divide(experts.inner, ranks / expert_ranks)) {
    return undivided(ranks / expert_ranks, model, model.experts.inner, "columns of an expert");
  }
  if (experts.dispatched || divide(experts.shared_inner, ranks)) return {};
  return undivided(ranks, model, model.experts.shared_inner, "columns of the shared expert");
}

// Rows of each of the matrices that lie one behind the other: halves of `inner`, or one.
struct Stack {
  std::uint64_t first = 0, count = 0;  // of matrices
  std::uint64_t hidden = 0, inner = 0;
};
Numbers gate_ups(const Numbers& all, const Stack& stack, const Share& inner) {
  Numbers part;
  if (all.empty()) return part;
  for (std::uint64_t half = 2 * stack.first; half < 2 * (stack.first + stack.count); ++half) {
    append_rows(part, all, stack.hidden, {half * stack.inner + inner.first, inner.count});
  }
  return part;
}
Numbers downs(const Numbers& all, const Stack& stack, const Share& inner) {
  if (all.empty()) return {};
  Numbers matrices;
  append_rows(matrices, all, stack.inner, {stack.first * stack.hidden, stack.count * stack.hidden});
  return columns_of(matrices, stack.inner, inner);
}

void experts_of_rank(const HostLayer& from, const Model& model, const Model& part,
                     std::uint64_t rank, HostLayer& to) {
  const auto& experts = model.experts;
  // Cards with the same experts.
  const std::uint64_t same = part.ranks * part.replicas / part.experts.cards;
  const std::uint64_t own = part.experts.own(), inner = part.experts.inner;
  const Stack stack{rank / same * own, own, model.hidden, experts.inner};
  const Share columns{rank % same * inner, inner};
  to.expert_gate_up = gate_ups(from.expert_gate_up, stack, columns);
  to.expert_down = downs(from.expert_down, stack, columns);
  const Stack shared{0, 1, model.hidden, experts.shared_inner};
  const std::uint64_t first = part.experts.dispatched ? 0 : rank * part.experts.shared_inner;
  const Share of_shared{first, part.experts.shared_inner};
  to.gate_up = gate_ups(from.gate_up, shared, of_shared);
  to.down = downs(from.down, shared, of_shared);
}

// Its heads of a latent cache.
void heads_of_rank(const HostLayer& from, const Model& part, std::uint64_t rank, HostLayer& to) {
  const auto& latent = part.latent;
  const auto heads = [&](const Numbers& matrix, std::uint64_t size, std::uint64_t inputs) {
    Numbers rows;
    append_rows(rows, matrix, inputs, {rank * part.heads * size, part.heads * size});
    return rows;
  };
  to.q_rows = heads(from.q_rows, latent.query(), part.query_inputs());
  to.keys = heads(from.keys, latent.nope, latent.kv);
  to.values = heads(from.values, latent.value, latent.kv);
}

}  // namespace

std::uint64_t rows_of_any_rank(const Model& part, std::uint64_t rows) {
  return ceil_div(rows, part.ranks);
}

RowRange rows_of_rank(const Model& part, std::uint64_t rows, std::uint64_t rank) {
  if (part.replicas > 1) return {0, rows};
  const std::uint64_t each = rows_of_any_rank(part, rows);
  const std::uint64_t first = std::min(rows, rank * each);
  return {first, std::min(each, rows - first)};
}

driver::ExpertShape exchange_of(const Model& part, Bytes element, std::uint64_t rows) {
  constexpr Bytes kMostWindow = Bytes{1} << 30;
  driver::ExpertShape shape;
  shape.hidden = static_cast<std::uint32_t>(part.hidden);
  shape.experts = static_cast<std::uint32_t>(part.experts.count);
  shape.chosen = static_cast<std::uint32_t>(part.experts.chosen);
  const Bytes of_token = driver::expert_window(shape, element);
  const std::uint64_t most = std::min<std::uint64_t>(
      abi::ExpertExchange::kMostTokens, std::max<std::uint64_t>(kMostWindow / of_token, 1));
  shape.most_tokens =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows_of_any_rank(part, rows), 1, most));
  return shape;
}

Result<Model> part_of(const Model& model, std::uint64_t ranks, std::uint64_t expert_ranks,
                      bool dispatched) {
  Model part = model;
  part.ranks = ranks;
  part.experts.dispatched = dispatched;
  if (auto ok = divide_experts(model, ranks, expert_ranks, part); !ok) return forward_error(ok);
  if (!divide(part.heads, ranks)) return undivided(ranks, model, model.heads, "heads");
  const bool shared = ranks > model.kv_heads && !model.has_latent();
  if (shared) part.kv_heads = 1;
  if (shared ? ranks % model.kv_heads != 0 : !divide(part.kv_heads, ranks)) {
    return undivided(ranks, model, model.kv_heads, "heads of keys and values");
  }
  const bool dense = model.experts.count == 0 || model.experts.dense_layers != 0;
  if (!divide(part.inner, ranks) && dense) {
    return undivided(ranks, model, model.inner, "columns of the feed-forward part");
  }
  if (model.vocabulary % ranks != 0) return undivided(ranks, model, model.vocabulary, "words");
  return part;
}

namespace {

HostModel of_replica(const HostModel& whole, const Model& model, const Model& part,
                     std::uint64_t rank) {
  HostModel mine = whole;
  for (std::size_t i = 0; part.replicas > 1 && i < whole.layers.size(); ++i) {
    if (model.has_experts(i)) experts_of_rank(whole.layers[i], model, part, rank, mine.layers[i]);
  }
  return mine;
}

}  // namespace

Result<Model> replica_of(const Model& model, std::uint64_t replicas) {
  if (auto can = check_dispatched(model, replicas); !can) return forward_error(can);
  Model part = model;
  part.replicas = replicas;
  part.experts.dispatched = true;
  part.experts.cards = replicas;
  if (model.experts.count % replicas == 0) return part;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("data_parallel={}: {} has {} experts, which it does not divide", replicas,
                          shortened(model.name, kShownPath), model.experts.count));
}

HostModel weights_of(const HostModel& whole, const Model& model, const Model& part,
                     std::uint64_t rank) {
  if (part.ranks == 1) return of_replica(whole, model, part, rank);
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
    if (part.has_latent()) heads_of_rank(from, part, rank, layer);
    layer.out =
        columns_of(from.out, model.mixed_width(), {rank * part.mixed_width(), part.mixed_width()});
    if (model.has_experts(i)) {
      experts_of_rank(from, model, part, rank, layer);
      continue;
    }
    const Stack one{0, 1, model.hidden, model.inner};
    layer.gate_up = gate_ups(from.gate_up, one, inner);
    layer.down = downs(from.down, one, inner);
  }
  return mine;
}

}  // namespace npu::workloads::transformer
