// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/steps.hpp"

#include <fmt/format.h>

namespace npu::network {

void Steps::refuse(std::string why) {
  if (!failed()) status_ = fail(ErrorCode::kUnsupported, std::move(why));
}

void Steps::fail_with(const Error& error) {
  if (!failed()) status_ = tl::unexpected(error);
}

Value Steps::make(ElementType type, Sides sides) {
  Value value{type, std::move(sides), nullptr, nullptr};
  if (failed() || value.bytes() == 0) return value;
  auto memory = runner_.allocate(value.bytes());
  if (!memory) {
    fail_with(memory.error());
    return value;
  }
  value.memory = std::move(*memory);
  return value;
}

Value Steps::zeros(ElementType type, Sides sides) {
  auto value = make(type, std::move(sides));
  if (failed() || value.memory == nullptr) return value;
  auto done = runner_.fill_zeros(value.memory->address(), value.bytes());
  if (!done) fail_with(done.error());
  return value;
}

Value Steps::upload(const Tensor& tensor) {
  if (tensor.type == ElementType::kString) {
    return {tensor.type, tensor.sides, nullptr, std::make_shared<const Tensor>(tensor)};
  }
  auto value = make(tensor.type, tensor.sides);
  if (failed() || value.memory == nullptr) return value;
  auto done = runner_.write(value.memory->address(), {tensor.bytes.data(), tensor.bytes.size()});
  if (!done) fail_with(done.error());
  return value;
}

Value Steps::constant(const Tensor& tensor) {
  auto value = upload(tensor);
  value.known = std::make_shared<const Tensor>(tensor);
  return value;
}

Tensor Steps::download(const Value& value) {
  if (value.known != nullptr) return *value.known;
  Tensor tensor{value.type, value.sides, {}, {}};
  tensor.bytes.resize(value.bytes());
  if (failed() || value.memory == nullptr) return tensor;
  auto done = runner_.read(value.memory->address(), {tensor.bytes.data(), tensor.bytes.size()});
  if (!done) fail_with(done.error());
  return tensor;
}

Value Steps::view(const Value& value, Sides sides) {
  Value other = value;
  if (elements_of(sides) != value.elements()) {
    refuse(fmt::format("{} as {}", text_of(value.sides), text_of(sides)));
    return other;
  }
  other.sides = std::move(sides);
  if (value.known != nullptr) {
    auto known = std::make_shared<Tensor>(*value.known);
    known->sides = other.sides;
    other.known = std::move(known);
  }
  return other;
}

Value Steps::view_as(const Value& value, ElementType type) {
  Value other = value;
  other.type = type;
  other.known = nullptr;
  return other;
}

std::string Steps::computes(const Value& value) {
  const auto& row = row_of(value.type);
  if (row.card) return std::string(operators::macro_name(*row.card));
  refuse(fmt::format("the cores have no instruction for {}", row.name));
  return {};
}

std::string Steps::moves(const Value& value) {
  switch (row_of(value.type).bytes) {
    case 1:
      return "int8";
    case 2:
      return "half";
    case 4:
      return "int32";
    case 8:
      return "int64";
    default:
      refuse(fmt::format("a card has no {}", row_of(value.type).name));
      return {};
  }
}

void Steps::run(operators::OperatorCall& call, const std::vector<const Value*>& inputs,
                const Value& result) {
  if (failed() || result.elements() == 0) return;
  for (std::size_t i = 0; i < inputs.size(); ++i) call.inputs[i] = inputs[i]->address();
  call.results[0] = result.address();
  if (auto done = runner_.run(call); !done) return fail_with(done.error());
  ++count_;
}

void Steps::run(const abi::TensorWork& work) {
  if (failed()) return;
  if (auto done = runner_.run(work); !done) return fail_with(done.error());
  ++count_;
}

}  // namespace npu::network
