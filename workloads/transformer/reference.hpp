// SPDX-License-Identifier: Apache-2.0
// The same decoder by plain arithmetic on the host, in double precision. What the card stores in
// between is rounded to its type here, too, so that results differ by a few roundings alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "workloads/transformer/memory.hpp"

namespace npu::workloads::transformer {

using Numbers = std::vector<double>;

struct HostLayer {
  Numbers norm, qkv, qkv_bias, q_norm, k_norm, out, mid_norm, gate_up, down;
};

// Weights by seed, as the card's type has them, and tables of sines and cosines.
struct HostModel {
  Numbers embedding, head, norm, cos, sin;
  std::vector<HostLayer> layers;
};
HostModel random_model(const Model& model, DataType type, std::uint64_t layers,
                       std::uint64_t positions, std::uint64_t seed);

using WriteNumbers = std::function<Status(std::uint64_t to, DataType type, const Numbers& from)>;
// All of it into device memory. Errors: those of `write`.
Status write_model(const HostModel& host, DataType type, const ModelMemory& memory,
                   const WriteNumbers& write);

class ReferenceDecoder {
 public:
  // Both outlive it.
  ReferenceDecoder(const Model& model, const HostModel& weights, DataType type,
                   std::uint64_t batch);

  // The logits of the last token of each sequence, batch x vocabulary. `tokens`: of sequence after
  // sequence, as many each; they stand behind those of the calls before.
  Numbers step(const std::vector<std::uint32_t>& tokens);

 private:
  Numbers rounded(Numbers numbers) const;
  Numbers multiplied(const Numbers& rows, const Numbers& weights, std::uint64_t inputs,
                     const Numbers& bias = {}) const;
  Numbers normed(const Numbers& x, const Numbers& gamma) const;
  void turn(Numbers& x, std::uint64_t width, std::uint64_t tokens) const;
  Numbers attended(const Numbers& q, std::uint64_t layer, std::uint64_t tokens) const;

  const Model& model_;
  const HostModel& weights_;
  const DataType type_;
  const std::uint64_t batch_;
  std::uint64_t cached_ = 0;
  std::vector<std::vector<Numbers>> keys_, values_;  // by layer and sequence
};

}  // namespace npu::workloads::transformer
