// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/reference.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads::transformer {
namespace {

// Splitmix64 (Steele, Lea, Flood 2014): numbers from -1 to 1.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    z ^= z >> 31U;
    return static_cast<double>(z >> 11U) / 4503599627370496.0 - 1;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

HostModel random_model(const Model& model, DataType type, std::uint64_t layers,
                       std::uint64_t positions, std::uint64_t seed) {
  Random random(seed);
  const auto numbers = [&](std::uint64_t count, double middle, double size) {
    Numbers all(count);
    for (auto& each : all) each = rounded_to(type, middle + size * random.next());
    return all;
  };
  // Sums of `inputs` products of numbers of size 1 are of size 1.
  const auto matrix = [&](std::uint64_t outputs, std::uint64_t inputs) {
    return numbers(outputs * inputs, 0, std::sqrt(3.0 / static_cast<double>(inputs)));
  };
  HostModel host;
  host.embedding = numbers(model.vocabulary * model.hidden, 0, 1);
  host.head = matrix(model.vocabulary, model.hidden);
  host.norm = numbers(model.hidden, 1, 0.25);
  for (std::uint64_t i = 0; i < layers; ++i) {
    HostLayer layer;
    layer.norm = numbers(model.hidden, 1, 0.25);
    layer.mid_norm = numbers(model.hidden, 1, 0.25);
    layer.qkv = matrix(model.qkv_width(), model.hidden);
    if (model.qkv_bias) {
      layer.qkv_bias = numbers(model.qkv_width(), 0, 0.5);
    }
    if (model.qk_norm) {
      layer.q_norm = numbers(model.head, 1, 0.25);
      layer.k_norm = numbers(model.head, 1, 0.25);
    }
    layer.out = matrix(model.hidden, model.q_width());
    layer.gate_up = matrix(2 * model.inner, model.hidden);
    layer.down = matrix(model.hidden, model.inner);
    host.layers.push_back(std::move(layer));
  }
  const std::uint64_t half = model.head / 2;
  for (std::uint64_t position = 0; position < positions; ++position) {
    for (std::uint64_t i = 0; i < model.head; ++i) {
      const double exponent = -static_cast<double>(i % half) / static_cast<double>(half);
      const double angle = static_cast<double>(position) * std::pow(model.theta, exponent);
      host.cos.push_back(rounded_to(type, std::cos(angle)));
      host.sin.push_back(rounded_to(type, std::sin(angle)));
    }
  }
  return host;
}

Status write_model(const HostModel& host, DataType type, const ModelMemory& memory,
                   const WriteNumbers& write) {
  struct Part {
    std::uint64_t to;
    const Numbers* from;
    DataType type;
  };
  std::vector<Part> parts{{memory.embedding, &host.embedding, type},
                          {memory.head, &host.head, type},
                          {memory.norm, &host.norm, type},
                          {memory.cos, &host.cos, type},
                          {memory.sin, &host.sin, type}};
  for (std::size_t i = 0; i < host.layers.size(); ++i) {
    const auto& to = memory.layers[i];
    const auto& from = host.layers[i];
    parts.insert(parts.end(), {{to.norm, &from.norm, type},
                               {to.qkv, &from.qkv, type},
                               {to.qkv_bias, &from.qkv_bias, DataType::kFp32},
                               {to.q_norm, &from.q_norm, type},
                               {to.k_norm, &from.k_norm, type},
                               {to.out, &from.out, type},
                               {to.mid_norm, &from.mid_norm, type},
                               {to.gate_up, &from.gate_up, type},
                               {to.down, &from.down, type}});
  }
  for (const auto& part : parts) {
    if (part.from->empty()) continue;
    if (auto ok = write(part.to, part.type, *part.from); !ok) return ok;
  }
  return {};
}

ReferenceDecoder::ReferenceDecoder(const Model& model, const HostModel& weights, DataType type,
                                   std::uint64_t batch)
    : model_(model),
      weights_(weights),
      type_(type),
      batch_(batch),
      keys_(weights.layers.size(), std::vector<Numbers>(batch)),
      values_(weights.layers.size(), std::vector<Numbers>(batch)) {}

Numbers ReferenceDecoder::rounded(Numbers numbers) const {
  for (auto& each : numbers) each = rounded_to(type_, each);
  return numbers;
}

Numbers ReferenceDecoder::multiplied(const Numbers& rows, const Numbers& weights,
                                     std::uint64_t inputs, const Numbers& bias) const {
  const std::uint64_t outputs = weights.size() / inputs;
  Numbers products;
  products.reserve(rows.size() / inputs * outputs);
  for (std::uint64_t row = 0; row < rows.size() / inputs; ++row) {
    const double* const x = rows.data() + row * inputs;
    for (std::uint64_t i = 0; i < outputs; ++i) {
      const double* const w = weights.data() + i * inputs;
      double sum = bias.empty() ? 0 : bias[i];
      for (std::uint64_t k = 0; k < inputs; ++k) sum += x[k] * w[k];
      products.push_back(sum);
    }
  }
  return rounded(std::move(products));
}

Numbers ReferenceDecoder::normed(const Numbers& x, const Numbers& gamma) const {
  const std::uint64_t columns = gamma.size();
  Numbers y(x.size());
  for (std::uint64_t first = 0; first < x.size(); first += columns) {
    double squares = 0;
    for (std::uint64_t i = 0; i < columns; ++i) squares += x[first + i] * x[first + i];
    const double root = std::sqrt(squares / static_cast<double>(columns) + model_.epsilon);
    for (std::uint64_t i = 0; i < columns; ++i) y[first + i] = x[first + i] / root * gamma[i];
  }
  return rounded(std::move(y));
}

// Pairs are elements i and i + head / 2 of each head.
void ReferenceDecoder::turn(Numbers& x, std::uint64_t width, std::uint64_t tokens) const {
  const std::uint64_t head = model_.head, half = head / 2;
  for (std::uint64_t row = 0; row < x.size() / width; ++row) {
    const std::uint64_t position = cached_ + row % tokens;
    const double* const cos = weights_.cos.data() + position * head;
    const double* const sin = weights_.sin.data() + position * head;
    for (std::uint64_t at = row * width; at < (row + 1) * width; at += head) {
      for (std::uint64_t i = 0; i < half; ++i) {
        const double u = x[at + i], v = x[at + half + i];
        x[at + i] = u * cos[i] - v * sin[i];
        x[at + half + i] = v * cos[half + i] + u * sin[half + i];
      }
    }
  }
  x = rounded(std::move(x));
}

Numbers ReferenceDecoder::attended(const Numbers& q, std::uint64_t layer,
                                   std::uint64_t tokens) const {
  const std::uint64_t head = model_.head, share = model_.heads / model_.kv_heads;
  Numbers mixed(q.size());
  for (std::uint64_t row = 0; row < batch_ * tokens; ++row) {
    const auto& keys = keys_[layer][row / tokens];
    const auto& values = values_[layer][row / tokens];
    const std::uint64_t seen = cached_ + row % tokens + 1;
    for (std::uint64_t h = 0; h < model_.heads; ++h) {
      const double* const x = q.data() + row * model_.q_width() + h * head;
      double* const to = mixed.data() + row * model_.q_width() + h * head;
      const std::uint64_t first = h / share * head;
      Numbers scores(seen);
      for (std::uint64_t j = 0; j < seen; ++j) {
        const double* const k = keys.data() + j * model_.kv_width() + first;
        for (std::uint64_t i = 0; i < head; ++i) scores[j] += x[i] * k[i];
        scores[j] /= std::sqrt(static_cast<double>(head));
      }
      const double largest = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (auto& score : scores) sum += score = std::exp(score - largest);
      for (std::uint64_t j = 0; j < seen; ++j) {
        const double* const v = values.data() + j * model_.kv_width() + first;
        for (std::uint64_t i = 0; i < head; ++i) to[i] += scores[j] / sum * v[i];
      }
    }
  }
  return rounded(std::move(mixed));
}

Numbers ReferenceDecoder::step(const std::vector<std::uint32_t>& ids) {
  const std::uint64_t tokens = ids.size() / batch_, hidden = model_.hidden;
  Numbers x;
  for (const auto id : ids) {
    const auto row = weights_.embedding.begin() + static_cast<std::ptrdiff_t>(id * hidden);
    x.insert(x.end(), row, row + static_cast<std::ptrdiff_t>(hidden));
  }
  const std::uint64_t q_width = model_.q_width(), kv = model_.kv_width();
  for (std::uint64_t layer = 0; layer < weights_.layers.size(); ++layer) {
    const auto& w = weights_.layers[layer];
    const Numbers qkv = multiplied(normed(x, w.norm), w.qkv, hidden, w.qkv_bias);
    Numbers q, k;
    for (std::uint64_t row = 0; row < batch_ * tokens; ++row) {
      const double* const from = qkv.data() + row * model_.qkv_width();
      q.insert(q.end(), from, from + q_width);
      k.insert(k.end(), from + q_width, from + q_width + kv);
      auto& values = values_[layer][row / tokens];
      values.insert(values.end(), from + q_width + kv, from + q_width + 2 * kv);
    }
    if (model_.qk_norm) q = normed(q, w.q_norm), k = normed(k, w.k_norm);
    turn(q, q_width, tokens);
    turn(k, kv, tokens);
    for (std::uint64_t row = 0; row < batch_ * tokens; ++row) {
      auto& keys = keys_[layer][row / tokens];
      const double* const from = k.data() + row * kv;
      keys.insert(keys.end(), from, from + kv);
    }
    const Numbers out = multiplied(attended(q, layer, tokens), w.out, q_width);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += out[i];
    x = rounded(std::move(x));
    const Numbers gate_up = multiplied(normed(x, w.mid_norm), w.gate_up, hidden);
    Numbers inner;
    for (std::uint64_t row = 0; row < batch_ * tokens; ++row) {
      const double* const gate = gate_up.data() + row * 2 * model_.inner;
      for (std::uint64_t i = 0; i < model_.inner; ++i) {
        inner.push_back(gate[i] / (1 + std::exp(-gate[i])) * gate[model_.inner + i]);
      }
    }
    const Numbers down = multiplied(rounded(std::move(inner)), w.down, model_.inner);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += down[i];
    x = rounded(std::move(x));
  }
  cached_ += tokens;
  const Numbers y = normed(x, weights_.norm);
  Numbers last;
  for (std::uint64_t sequence = 0; sequence < batch_; ++sequence) {
    const double* const from = y.data() + ((sequence + 1) * tokens - 1) * hidden;
    last.insert(last.end(), from, from + hidden);
  }
  return multiplied(last, weights_.head, hidden);
}

}  // namespace npu::workloads::transformer
