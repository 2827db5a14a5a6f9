// SPDX-License-Identifier: Apache-2.0
// Steps that nodes are made of: tensors in the card's memory, and what runs on them. Each step is
// submitted when it is called, and runs behind those before it. arithmetic.hpp, moves.hpp and
// on_aicpu.hpp have them.
//
// An error stays: later steps do nothing and give empty values, so that a node looks once, at its
// end.
#pragma once

#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "npu/abi/tensor_work.hpp"
#include "npu/base/byte_span.hpp"
#include "workloads/network/value.hpp"

namespace npu::network {

// The card that steps run on, one behind the other. Calls need not wait for their end: errors of
// the card may come later. Memory that is given back may be in use by steps before.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual Result<std::shared_ptr<CardMemory>> allocate(Bytes size) = 0;  // at least 1 byte
  virtual Status write(driver::DeviceAddress to, ConstByteSpan from) = 0;
  // Of allocated memory, up to the next multiple of four bytes.
  virtual Status fill_zeros(driver::DeviceAddress at, Bytes size) = 0;
  // Waits for all steps before.
  virtual Status read(driver::DeviceAddress from, ByteSpan to) = 0;
  virtual Status run(const operators::OperatorCall& call) = 0;
  // The same on the AICPUs.
  virtual Status run(const abi::TensorWork& work) = 0;
  // The host computes with so many instructions.
  virtual void compute(std::uint64_t instructions) = 0;
  // Behind an error of the card: how many of the steps that run() took had ended before it.
  virtual std::uint64_t ended() const = 0;
};

class Steps {
 public:
  // `runner` outlives it.
  explicit Steps(StepRunner& runner) : runner_(runner) {}

  const Status& status() const { return status_; }
  bool failed() const { return !status_; }
  // Later steps run again.
  void forget_error() { status_ = Status(); }
  // kUnsupported, unless something has failed before.
  void refuse(std::string why);
  void fail_with(const Error& error);

  // --- tensors in the card's memory
  Value make(ElementType type, Sides sides);  // of any elements
  Value zeros(ElementType type, Sides sides);
  // Strings stay on the host, with their elements known.
  Value upload(const Tensor& tensor);
  // With its elements known.
  Value constant(const Tensor& tensor);
  template <class T>
  Value constant(ElementType type, Sides sides, const std::vector<T>& values) {
    return constant(Tensor::of(type, std::move(sides), values));
  }
  Tensor download(const Value& value);
  // The same memory.
  Value view(const Value& value, Sides sides);
  Value view_as(const Value& value, ElementType type);  // of the same size

  // --- what runs on them
  // The name of the type for operators that compute with it. Refused: they cannot.
  std::string computes(const Value& value);
  // For those that move it: of a type of that size. Refused: it is of no fixed size.
  std::string moves(const Value& value);
  // `call` with these inputs, unless the result has no elements.
  void run(operators::OperatorCall& call, const std::vector<const Value*>& inputs,
           const Value& result);
  void run(const abi::TensorWork& work);
  // On the host.
  void compute(std::uint64_t instructions) { runner_.compute(instructions); }
  // How many have been submitted.
  std::uint64_t count() const { return count_; }
  // Behind an error of the card: how many had ended before it.
  std::uint64_t ended() const { return runner_.ended(); }

 private:
  StepRunner& runner_;
  Status status_;
  std::uint64_t count_ = 0;
};

}  // namespace npu::network
