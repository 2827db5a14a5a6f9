// SPDX-License-Identifier: Apache-2.0
// Steps that nodes are made of: operators on tensors in the card's memory. Each step is launched
// and waited for when it is called.
//
// An error stays: later steps do nothing and give empty values, so that a node looks once, at its
// end.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "npu/base/byte_span.hpp"
#include "workloads/network/value.hpp"

namespace npu::network {

// The card that steps run on.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual Result<std::shared_ptr<CardMemory>> allocate(Bytes size) = 0;  // at least 1 byte
  virtual Status write(driver::DeviceAddress to, ConstByteSpan from) = 0;
  virtual Status read(driver::DeviceAddress from, ByteSpan to) = 0;
  // Until it has ended.
  virtual Status run(const operators::OperatorCall& call) = 0;
};

class Steps {
 public:
  // `runner` outlives it.
  explicit Steps(StepRunner& runner) : runner_(runner) {}

  const Status& status() const { return status_; }
  bool failed() const { return !status_; }
  // kUnsupported, unless something has failed before.
  void refuse(std::string why);
  // The next node begins.
  void forget_error() { status_ = Status(); }

  // --- between host and card
  Value upload(const Tensor& tensor);
  // With its elements known.
  Value constant(const Tensor& tensor);
  template <class T>
  Value constant(ElementType type, Sides sides, const std::vector<T>& values) {
    return constant(Tensor::of(type, std::move(sides), values));
  }
  Tensor download(const Value& value);

  // --- without a step: the same memory
  Value view(const Value& value, Sides sides);
  Value view_as(const Value& value, ElementType type);  // of the same size

  // --- computing; types are those that the card has (ElementRow::card)
  // `expression` over a, b, c, d (docs/writing-an-operator.md), of values of the same sides.
  Value elementwise(const std::string& expression, std::initializer_list<Value> values,
                    std::vector<float> scalars = {});
  // The same into another type.
  Value elementwise_into(ElementType type, const std::string& expression,
                         std::initializer_list<Value> values, std::vector<float> scalars = {});
  // Over a and b, with sides of 1 repeated.
  Value broadcast(const std::string& expression, const Value& a, const Value& b,
                  std::vector<float> scalars = {});
  Value broadcast_into(ElementType type, const std::string& expression, const Value& a,
                       const Value& b, std::vector<float> scalars = {});
  // C = A B of the last two axes; axes before them are the same ones. Of int8 into int32.
  Value product(const Value& a, const Value& b, bool transpose_a = false, bool transpose_b = false);
  // "sum", "mean", "max", "min", "prod" along the axes, which are given once each.
  Value reduce(const std::string& how, const Value& x, std::vector<std::size_t> axes, bool keep);
  Value softmax(const Value& x, std::size_t axis);
  // Where the largest is along the last axis, in int32.
  Value argmax(const Value& x);

  // --- moving; any type of a fixed size
  Value transpose(const Value& x, const std::vector<std::uint64_t>& order);
  // Rows of a matrix; -1: a row of zeros. `indices` are int32.
  Value gather_rows(const Value& table, const Value& indices);
  // A matrix of zeros with its row indices[i] from row i.
  Value scatter_rows(std::uint64_t rows, const Value& indices, const Value& values);
  Value concat(const std::vector<Value>& parts, std::size_t axis);
  Value widen(const Value& x);                       // int32 into int64
  Value repeat(const Value& x, const Sides& sides);  // sides of 1 repeated
  // By an element of the condition, of one byte: not 0, or 0; sides of 1 are repeated.
  Value choose(const Value& condition, const Value& a, const Value& b);

  // How many operators have run.
  std::uint64_t count() const { return count_; }

 private:
  Value make(ElementType type, Sides sides);
  void run(operators::OperatorCall& call, std::initializer_list<const Value*> inputs,
           const Value& result);
  void fail_with(const Error& error);
  const char* computes(const Value& value);
  const char* moves(const Value& value);

  StepRunner& runner_;
  Status status_;
  std::uint64_t count_ = 0;
};

}  // namespace npu::network
