// SPDX-License-Identifier: Apache-2.0
// A step's operators as they are put together, one behind the other, each in the layer that is
// being made.
#pragma once

#include <string>
#include <vector>

#include "workloads/transformer/step.hpp"

namespace npu::workloads::transformer {

class OperationList {
 public:
  using Shape = std::vector<std::uint64_t>;

  // `fractals`: ModelMemory::fractals.
  OperationList(DataType type, bool fractals)
      : type_(operators::type_name(type)),
        element_(platform::bytes_of(type)),
        layout_(fractals ? "NZ" : "ND") {}

  void begin_layer(std::uint64_t layer) { layer_ = layer; }
  std::vector<Operation> take() { return std::move(operations_); }
  Bytes element() const { return element_; }
  const std::string& type() const { return type_; }
  const std::string& layout() const { return layout_; }  // of linear layers

  operators::OperatorCall& add(const char* part, const char* name, Shape shape,
                               const std::vector<std::uint64_t>& inputs,
                               const std::vector<std::uint64_t>& results);
  // to = from x weights of a linear layer, whose rows are outputs.
  operators::OperatorCall& multiply(const char* part, const Shape& sides, std::uint64_t from,
                                    std::uint64_t weights, std::uint64_t to);
  operators::OperatorCall& norm(const char* part, std::uint64_t rows, std::uint64_t columns,
                                std::uint64_t from, std::uint64_t gamma, std::uint64_t to);
  void gather(const char* part, const Shape& sides, std::uint64_t table, std::uint64_t indices,
              std::uint64_t to);
  // Columns `first` and so on of rows of `all` of them.
  struct Columns {
    std::uint64_t all = 0, first = 0, count = 0;
  };
  void slice(const char* part, std::uint64_t rows, const Columns& columns, std::uint64_t from,
             std::uint64_t to);
  // Axes of a, b and `inner` become b, a, inner.
  void exchange(const char* part, const Shape& sides, std::uint64_t from, std::uint64_t to);
  // Multiplications and additions of the last operator.
  void count(std::uint64_t operations) { operations_.back().operations = operations; }
  // Of all cards.
  Collective& collect(const char* part, driver::CollectiveOperation operation, std::uint64_t from,
                      std::uint64_t to);
  void exchange(const char* part, const TokenExchange& exchange);

 private:
  const std::string type_;
  const Bytes element_;
  const std::string layout_;
  std::uint64_t layer_ = kNoLayer;
  std::vector<Operation> operations_;
};

// What the operators of a step are made for.
struct StepPlace {
  const Model& model;
  const StepShape& shape;
  const ModelMemory& memory;
  StepMemory& step;
};
// Attention over a latent cache, up to what goes into the product `out` (latent.cpp).
void add_latent_attention(const StepPlace& place, std::uint64_t layer, OperationList& list);
// The feed-forward part of a layer with experts. What comes out is a card's term of the sum of all,
// or, if tokens are dispatched, the result (experts.cpp).
void add_experts(const StepPlace& place, std::uint64_t layer, unsigned rank, OperationList& list);

}  // namespace npu::workloads::transformer
