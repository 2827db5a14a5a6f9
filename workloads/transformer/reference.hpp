// SPDX-License-Identifier: Apache-2.0
// The same decoder by plain arithmetic on the host, in double precision. What the card stores in
// between is rounded to its type here, too, so that results differ by a few roundings alone.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/transformer/arithmetic.hpp"

namespace npu::workloads::transformer {

class ReferenceDecoder {
 public:
  // Both outlive it.
  ReferenceDecoder(const Model& model, const HostModel& weights, DataType type,
                   std::uint64_t batch);

  // The logits of the last token of each sequence, batch x vocabulary. `tokens`: of sequence after
  // sequence, as many each; they stand behind those of the calls before. `choices`: of each layer,
  // as routed() takes them; none: experts are chosen here. kWrongData: that of routed().
  Result<Numbers> step(const std::vector<std::uint32_t>& tokens,
                       const std::vector<Choices>& choices = {});

 private:
  // Of each row, queries, keys and values; keys and values go behind those before.
  Numbers heads(const Numbers& x, std::uint64_t layer, std::uint64_t tokens);
  Numbers heads_of_rows(const Numbers& x, std::uint64_t layer, std::uint64_t tokens);
  void keep(const Numbers& keys, const Numbers& values, std::uint64_t layer, std::uint64_t tokens);
  // Elements `first` and so on of heads of `width`.
  struct Turned {
    std::uint64_t width = 0, first = 0, heads = 0;
  };
  void turn(Numbers& x, const Turned& which, std::uint64_t tokens) const;
  Numbers attended(const Numbers& q, std::uint64_t layer, std::uint64_t tokens) const;
  Result<Numbers> fed_forward(const Numbers& x, std::uint64_t layer, const Choices& choices) const;

  const Model& model_;
  const HostModel& weights_;
  const Arithmetic arithmetic_;
  const std::uint64_t batch_;
  std::uint64_t cached_ = 0;
  std::vector<std::vector<Numbers>> keys_, values_;  // by layer and sequence
};

}  // namespace npu::workloads::transformer
