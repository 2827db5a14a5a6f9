// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/weights.hpp"

#include <cmath>
#include <numeric>
#include <utility>

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

// Of each element of a row of what is turned: neighbours are a pair, or elements i and i + half.
double exponent_of(const Model& model, std::uint64_t i) {
  const std::uint64_t half = model.turned() / 2;
  const std::uint64_t pair = model.has_latent() ? i / 2 : i % half;
  return -static_cast<double>(pair) / static_cast<double>(half);
}

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
    for (const auto& weight : weights_of_layer(model, i)) {
      layer.*weight.numbers = weight.kind == WeightKind::kMatrix
                                  ? matrix(weight.outputs, weight.inputs)
                              : weight.kind == WeightKind::kGamma ? numbers(weight.outputs, 1, 0.25)
                                                                  : numbers(weight.outputs, 0, 0.5);
    }
    host.layers.push_back(std::move(layer));
  }
  for (std::uint64_t position = 0; position < positions; ++position) {
    for (std::uint64_t i = 0; i < model.turned(); ++i) {
      const double angle =
          static_cast<double>(position) * std::pow(model.theta, exponent_of(model, i));
      host.cos.push_back(rounded_to(type, std::cos(angle)));
      host.sin.push_back(rounded_to(type, std::sin(angle)));
    }
  }
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
    const auto add = [&](const Weight& weight) {
      parts.push_back(
          {memory.layers[i].*weight.address, &(host.layers[i].*weight.numbers), weight.type(type)});
    };
    // In the order in which operators read them: the norm behind attention is not the second.
    const auto weights = weights_of_layer(model, i);
    for (const auto& weight : weights) {
      if (weight.numbers != &HostLayer::mid_norm) add(weight);
      if (weight.numbers == &HostLayer::out) add(weights[1]);
    }
  }
  for (const auto& part : parts) {
    if (part.from->empty()) continue;
    if (auto ok = write(part.to, part.type, *part.from); !ok) return ok;
  }
  return {};
}

}  // namespace npu::workloads::transformer
