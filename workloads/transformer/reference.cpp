// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/reference.hpp"

#include <algorithm>
#include <cmath>

namespace npu::workloads::transformer {
namespace {

void append_part(Numbers& to, const Numbers& from, std::uint64_t first, std::uint64_t count) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
}

// Columns of rows of `all` of them.
Numbers part_of_rows(const Numbers& rows, std::uint64_t all, std::uint64_t first,
                     std::uint64_t count) {
  Numbers part;
  part.reserve(rows.size() / all * count);
  for (std::uint64_t at = first; at < rows.size(); at += all) append_part(part, rows, at, count);
  return part;
}

void add_to(Numbers& x, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

}  // namespace

ReferenceDecoder::ReferenceDecoder(const Model& model, const HostModel& weights, DataType type,
                                   std::uint64_t batch)
    : model_(model),
      weights_(weights),
      arithmetic_(type),
      batch_(batch),
      keys_(weights.layers.size(), std::vector<Numbers>(batch)),
      values_(weights.layers.size(), std::vector<Numbers>(batch)) {}

// Pairs are elements i and i + half of what is turned, or with a latent cache neighbours.
void ReferenceDecoder::turn(Numbers& x, const Turned& which, std::uint64_t tokens) const {
  const std::uint64_t size = model_.turned(), half = size / 2;
  const bool neighbours = model_.has_latent();
  const std::uint64_t row_width = which.width * which.heads;
  for (std::uint64_t row = 0; row < x.size() / row_width; ++row) {
    const std::uint64_t position = cached_ + row % tokens;
    const double* const cos = weights_.cos.data() + position * size;
    const double* const sin = weights_.sin.data() + position * size;
    for (std::uint64_t h = 0; h < which.heads; ++h) {
      double* const at = x.data() + row * row_width + h * which.width + which.first;
      for (std::uint64_t i = 0; i < half; ++i) {
        const std::uint64_t first = neighbours ? 2 * i : i;
        const std::uint64_t second = neighbours ? 2 * i + 1 : half + i;
        const double u = at[first], v = at[second];
        at[first] = u * cos[first] - v * sin[first];
        at[second] = v * cos[second] + u * sin[second];
      }
    }
  }
  x = arithmetic_.rounded(std::move(x));
}

void ReferenceDecoder::keep(const Numbers& keys, const Numbers& values, std::uint64_t layer,
                            std::uint64_t tokens) {
  const std::uint64_t rows = batch_ * tokens;
  const std::uint64_t key = keys.size() / rows, value = values.size() / rows;
  for (std::uint64_t row = 0; row < rows; ++row) {
    append_part(keys_[layer][row / tokens], keys, row * key, key);
    append_part(values_[layer][row / tokens], values, row * value, value);
  }
}

Numbers ReferenceDecoder::heads(const Numbers& x, std::uint64_t layer, std::uint64_t tokens) {
  const auto& w = weights_.layers[layer];
  const std::uint64_t q_width = model_.q_width(), kv = model_.kv_width(), head = model_.head;
  const Numbers qkv = arithmetic_.multiplied(x, w.qkv, model_.hidden, w.qkv_bias);
  Numbers q = part_of_rows(qkv, model_.qkv_width(), 0, q_width);
  Numbers k = part_of_rows(qkv, model_.qkv_width(), q_width, kv);
  if (model_.qk_norm) {
    q = arithmetic_.normed(q, w.q_norm, model_.epsilon);
    k = arithmetic_.normed(k, w.k_norm, model_.epsilon);
  }
  turn(q, {head, 0, model_.heads}, tokens);
  turn(k, {head, 0, model_.kv_heads}, tokens);
  keep(k, part_of_rows(qkv, model_.qkv_width(), q_width + kv, kv), layer, tokens);
  return q;
}

// As the model is defined: keys and values of each head are made of the cache's rows. The card
// multiplies the matrices with queries and sums instead.
Numbers ReferenceDecoder::heads_of_rows(const Numbers& x, std::uint64_t layer,
                                        std::uint64_t tokens) {
  const auto& w = weights_.layers[layer];
  const auto& latent = model_.latent;
  const std::uint64_t all = latent.q + latent.row(), rows = batch_ * tokens;
  const Numbers both = arithmetic_.multiplied(x, w.q_kv, model_.hidden);
  const Numbers q_rows = latent.q == 0 ? x
                                       : arithmetic_.normed(part_of_rows(both, all, 0, latent.q),
                                                            w.q_norm, model_.epsilon);
  Numbers q = arithmetic_.multiplied(q_rows, w.q_rows, model_.query_inputs());
  turn(q, {latent.query(), latent.nope, model_.heads}, tokens);
  const Numbers kv =
      arithmetic_.normed(part_of_rows(both, all, latent.q, latent.kv), w.k_norm, model_.epsilon);
  Numbers rope = part_of_rows(both, all, latent.q + latent.kv, latent.rope);
  turn(rope, {latent.rope, 0, 1}, tokens);
  const Numbers nope = Arithmetic::products(kv, {w.keys, 0, model_.heads * latent.nope, latent.kv});
  const Numbers values =
      Arithmetic::products(kv, {w.values, 0, model_.heads * latent.value, latent.kv});
  Numbers k;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t h = 0; h < model_.heads; ++h) {
      append_part(k, nope, (row * model_.heads + h) * latent.nope, latent.nope);
      append_part(k, rope, row * latent.rope, latent.rope);
    }
  }
  keep(k, values, layer, tokens);
  return q;
}

Numbers ReferenceDecoder::attended(const Numbers& q, std::uint64_t layer,
                                   std::uint64_t tokens) const {
  const std::uint64_t head = model_.head, share = model_.heads / model_.kv_heads;
  const std::uint64_t width = model_.mixed_width(), value = width / model_.heads;
  const std::uint64_t rows = batch_ * tokens;
  Numbers mixed(rows * width);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const auto& keys = keys_[layer][row / tokens];
    const auto& values = values_[layer][row / tokens];
    const std::uint64_t seen = cached_ + row % tokens + 1;
    for (std::uint64_t h = 0; h < model_.heads; ++h) {
      const double* const x = q.data() + (row * model_.heads + h) * head;
      double* const to = mixed.data() + row * width + h * value;
      const std::uint64_t kv_head = h / share;
      Numbers scores(seen);
      for (std::uint64_t j = 0; j < seen; ++j) {
        const double* const k = keys.data() + (j * model_.kv_heads + kv_head) * head;
        for (std::uint64_t i = 0; i < head; ++i) scores[j] += x[i] * k[i];
        scores[j] *= model_.score_scale();
      }
      const double largest = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (auto& score : scores) sum += score = std::exp(score - largest);
      for (std::uint64_t j = 0; j < seen; ++j) {
        const double* const v = values.data() + (j * model_.kv_heads + kv_head) * value;
        for (std::uint64_t i = 0; i < value; ++i) to[i] += scores[j] / sum * v[i];
      }
    }
  }
  return arithmetic_.rounded(std::move(mixed));
}

Result<Numbers> ReferenceDecoder::fed_forward(const Numbers& x, std::uint64_t layer,
                                              const Choices& choices) const {
  const auto& w = weights_.layers[layer];
  if (model_.has_experts(layer)) return routed(arithmetic_, model_, w, x, layer, choices);
  const Numbers gate_up = arithmetic_.multiplied(x, w.gate_up, model_.hidden);
  return arithmetic_.multiplied(arithmetic_.activated(gate_up, model_.inner), w.down, model_.inner);
}

Result<Numbers> ReferenceDecoder::step(const std::vector<std::uint32_t>& ids,
                                       const std::vector<Choices>& choices) {
  const std::uint64_t tokens = ids.size() / batch_, hidden = model_.hidden;
  Numbers x;
  for (const auto id : ids) append_part(x, weights_.embedding, id * hidden, hidden);
  for (std::uint64_t layer = 0; layer < weights_.layers.size(); ++layer) {
    const auto& w = weights_.layers[layer];
    const Numbers normed = arithmetic_.normed(x, w.norm, model_.epsilon);
    const Numbers q =
        model_.has_latent() ? heads_of_rows(normed, layer, tokens) : heads(normed, layer, tokens);
    add_to(x, arithmetic_.multiplied(attended(q, layer, tokens), w.out, model_.mixed_width()));
    x = arithmetic_.rounded(std::move(x));
    const auto inner = fed_forward(arithmetic_.normed(x, w.mid_norm, model_.epsilon), layer,
                                   layer < choices.size() ? choices[layer] : Choices{});
    if (!inner)
      return fail(inner.error().code,
                  "layer " + std::to_string(layer) + ": " + inner.error().context);
    add_to(x, *inner);
    x = arithmetic_.rounded(std::move(x));
  }
  cached_ += tokens;
  const Numbers y = arithmetic_.normed(x, weights_.norm, model_.epsilon);
  Numbers last;
  for (std::uint64_t sequence = 0; sequence < batch_; ++sequence) {
    append_part(last, y, ((sequence + 1) * tokens - 1) * hidden, hidden);
  }
  return arithmetic_.multiplied(last, weights_.head, hidden);
}

}  // namespace npu::workloads::transformer
