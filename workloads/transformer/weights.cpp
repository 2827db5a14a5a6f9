// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/weights.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/operators/matrix_layout.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/transformer/memory.hpp"

namespace npu::workloads::transformer {
namespace {

// Splitmix64 (Steele, Lea, Flood 2014): numbers from -1 to 1.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double next() { return static_cast<double>(bits() >> 11U) / 4503599627370496.0 - 1; }
  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

constexpr std::string_view kRows = "ColumnMajor";

Numbers stored(const Numbers& rows, const Weight& weight, DataType type, std::string_view layout) {
  const std::uint64_t size =
      operators::stored_elements(layout, type, weight.inputs, weight.outputs);
  Numbers all(weight.matrices * size);
  std::size_t next = 0;
  for (std::uint64_t matrix = 0; matrix < weight.matrices; ++matrix) {
    for (std::uint64_t output = 0; output < weight.outputs; ++output) {
      for (std::uint64_t input = 0; input < weight.inputs; ++input) {
        const auto at =
            operators::stored_index(layout, type, weight.inputs, weight.outputs, input, output);
        all[matrix * size + at] = rows[next++];
      }
    }
  }
  return all;
}

// Of each element of a row of what is turned: neighbours are a pair, or elements i and i + half.
std::uint64_t pair_of(const Model& model, std::uint64_t i) {
  return model.has_latent() ? i / 2 : i % (model.turned() / 2);
}

void fill_tables(const Model& model, DataType type, std::uint64_t positions, HostModel& host) {
  const auto turns = turns_by_token(model.rope, model.theta, model.turned());
  const double size = amplitude(model.rope);
  for (std::uint64_t position = 0; position < positions; ++position) {
    for (std::uint64_t i = 0; i < model.turned(); ++i) {
      const double angle = static_cast<double>(position) * turns[pair_of(model, i)];
      host.cos.push_back(rounded_to(type, size * std::cos(angle)));
      host.sin.push_back(rounded_to(type, size * std::sin(angle)));
    }
  }
}

}  // namespace

std::string_view layout_of(const Weight& weight, bool fractals) {
  if (fractals && weight.kind == WeightKind::kMatrix) return "nZ";
  return fractals && weight.kind == WeightKind::kExperts ? "zN" : kRows;
}

std::uint64_t stored_elements(const Weight& weight, DataType type, bool fractals) {
  return weight.matrices * operators::stored_elements(layout_of(weight, fractals), type,
                                                      weight.inputs, weight.outputs);
}

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
  host.head = model.tied ? host.embedding : matrix(model.vocabulary, model.hidden);
  host.norm = numbers(model.hidden, 1, 0.25);
  for (std::uint64_t i = 0; i < layers; ++i) {
    HostLayer layer;
    for (const auto& weight : weights_of_layer(model, i)) {
      layer.*weight.numbers = weight.kind == WeightKind::kGamma ? numbers(weight.outputs, 1, 0.25)
                              : weight.kind == WeightKind::kBias
                                  ? numbers(weight.outputs, 0, 0.5)
                                  : matrix(weight.matrices * weight.outputs, weight.inputs);
    }
    host.layers.push_back(std::move(layer));
  }
  fill_tables(model, type, positions, host);
  return host;
}

std::vector<std::uint32_t> random_choices(const Experts& experts, std::uint64_t rows,
                                          std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> order(experts.count), all;
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t i = 0; i < experts.chosen; ++i) {
      std::swap(order[i], order[i + random.bits() % (experts.count - i)]);
      all.push_back(order[i]);
    }
  }
  return all;
}

Status write_model(const HostModel& host, const Model& model, DataType type,
                   const ModelMemory& memory, const WriteNumbers& write) {
  const std::pair<std::uint64_t, const Numbers*> parts[] = {{memory.embedding, &host.embedding},
                                                            {memory.head, &host.head},
                                                            {memory.norm, &host.norm},
                                                            {memory.cos, &host.cos},
                                                            {memory.sin, &host.sin}};
  for (const auto& part : parts) {
    if (part.second == &host.head && model.tied) continue;  // it is the embedding
    if (auto ok = write(part.first, type, *part.second); !ok) return ok;
  }
  for (std::size_t i = 0; i < host.layers.size(); ++i) {
    const auto put = [&](const Weight& weight) {
      const auto& from = host.layers[i].*weight.numbers;
      const auto of_card = weight.type(type);
      const auto to = memory.layers[i].*weight.address;
      const auto layout = layout_of(weight, memory.fractals);
      return layout == kRows ? write(to, of_card, from)
                             : write(to, of_card, stored(from, weight, of_card, layout));
    };
    // In the order in which operators read them: the norm behind attention is not the second.
    const auto weights = weights_of_layer(model, i);
    for (const auto& weight : weights) {
      if (weight.numbers == &HostLayer::mid_norm) continue;
      if (auto ok = put(weight); !ok) return ok;
      if (weight.numbers != &HostLayer::out) continue;
      if (auto ok = put(weights[1]); !ok) return ok;
    }
  }
  return {};
}

}  // namespace npu::workloads::transformer
