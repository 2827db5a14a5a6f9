// SPDX-License-Identifier: Apache-2.0
// Operators that are compiled on demand: those that descriptions have shapes for.
#include <fmt/format.h>

#include <cstring>

#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/operator_launches.hpp"
#include "kernels/operators/launcher/host_entry.hpp"
#include "kernels/operators/table.hpp"

namespace npu::exec::acl {
namespace {

using operators::DataType;

constexpr int kNoOperator = 100024;
constexpr int kWrongInput = 100021;
constexpr int kWrongOutput = 100022;

// aclDataType; empty: none that cores know.
const char* type_of(std::uint64_t type) {
  constexpr const char* kTypes[] = {"float32", "float16", "int8", "int32"};
  constexpr std::uint64_t kInt64 = 9, kBf16 = 27;
  return type < std::size(kTypes) ? kTypes[type]
         : type == kInt64         ? "int64"
         : type == kBf16          ? "bfloat16"
                                  : "";
}

float float_of(std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  float number = 0;
  std::memcpy(&number, &word, sizeof number);
  return number;
}

// The program's own copy may change at any time.
struct Tensors {
  std::vector<wire::OperatorTensor> inputs, results;
  std::string name;
};

std::vector<wire::OperatorTensor> copied(const std::byte* from, std::size_t count) {
  std::vector<wire::OperatorTensor> tensors(count);
  if (count != 0) std::memcpy(tensors.data(), from, count * sizeof tensors.front());
  return tensors;
}

Value<Tensors> tensors_of(const CallOf<Call::kRunOperator>& call) {
  if (call.inputs > wire::kMostTensors || call.results > wire::kMostTensors - call.inputs ||
      call.name_bytes > wire::kLongestOperator) {
    return fault(kInvalidParameter, "more tensors than an operator has, or a longer name");
  }
  const Bytes inputs = call.inputs * sizeof(wire::OperatorTensor);
  const Bytes results = call.results * sizeof(wire::OperatorTensor);
  const auto given = call.first(inputs + results + call.name_bytes);
  if (!given) return forward_fault(given);
  Tensors all;
  all.inputs = copied(given->data, call.inputs);
  all.results = copied(given->data + inputs, call.results);
  all.name.assign(reinterpret_cast<const char*>(given->data) + inputs + results, call.name_bytes);
  for (const auto* tensors : {&all.inputs, &all.results}) {
    for (const auto& tensor : *tensors) {
      if (tensor.dimensions <= wire::kMostDimensions) continue;
      return fault(kInvalidParameter, "a tensor of too many dimensions");
    }
  }
  return all;
}

std::vector<std::uint64_t> shape_of(const wire::OperatorTensor& tensor) {
  return {tensor.sides, tensor.sides + tensor.dimensions};
}

// Whether a tensor is what the operator has there.
Outcome check(const wire::OperatorTensor& given, const operators::TensorRow& wanted, DataType type,
              const std::vector<std::uint64_t>& shape, int code) {
  const std::string name = given.type == UINT64_MAX ? "" : type_of(given.type);
  if (name != operators::type_name(type)) {
    return fault(code, fmt::format("{}: {}; the operator has {}", wanted.name,
                                   name.empty() ? "no type of the cores" : name,
                                   operators::type_name(type)));
  }
  if (shape_of(given) != shape) {
    return fault(code,
                 fmt::format("{}: another shape than [{}]", wanted.name, fmt::join(shape, ", ")));
  }
  Bytes bytes = platform::bytes_of(type);
  for (const auto side : shape) bytes *= side;
  if (given.bytes >= bytes) return {};
  return fault(code, fmt::format("{}: {} bytes; it has {}", wanted.name, given.bytes, bytes));
}

Value<operators::NormalisedCall> call_of(const CallOf<Call::kRunOperator>& call,
                                         const Tensors& tensors) {
  const auto row = operators::find_operator(tensors.name);
  if (!row) return fault(kNoOperator, row.error().context);
  if (!(*row)->described()) {
    return fault(kNoOperator, tensors.name + " is called by its name in acl/acl_op.h");
  }
  if (tensors.results.size() != (*row)->results.size()) {
    return fault(kWrongOutput, fmt::format("{} outputs; {} are wanted", tensors.results.size(),
                                           (*row)->results.size()));
  }
  std::vector<std::vector<std::uint64_t>> shapes;
  for (const auto& tensor : tensors.inputs) shapes.push_back(shape_of(tensor));
  const auto sides = operators::sides_of(**row, shapes, {});
  if (!sides) return fault(kWrongInput, sides.error().context);
  operators::OperatorCall wanted;
  wanted.name = tensors.name;
  wanted.shape = *sides;
  wanted.epsilon = float_of(call.epsilon_and_scale);
  wanted.scale = float_of(call.epsilon_and_scale >> 32U);
  wanted.scalars[0] = float_of(call.value);
  wanted.dtype.clear();
  for (std::size_t i = 0; i < tensors.inputs.size(); ++i) {
    wanted.inputs[i] = tensors.inputs[i].address;
    const bool free = (*row)->inputs[i].dtype.empty();
    if (free && wanted.dtype.empty()) wanted.dtype = type_of(tensors.inputs[i].type);
  }
  if (wanted.dtype.empty()) wanted.dtype = type_of(tensors.inputs.front().type);
  for (std::size_t i = 0; i < tensors.results.size(); ++i) {
    wanted.results[i] = tensors.results[i].address;
  }
  auto normalised = operators::normalise(wanted);
  if (!normalised) return fault(kWrongInput, normalised.error().context);
  return *normalised;
}

Outcome check_tensors(const Tensors& tensors, const operators::NormalisedCall& call) {
  const auto& row = *call.row;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const auto ok = check(tensors.inputs[i], row.inputs[i], operators::type_of_input(call, i),
                          shape_of(tensors.inputs[i]), kWrongInput);
    if (!ok) return ok;
  }
  for (std::size_t i = 0; i < row.results.size(); ++i) {
    const auto shape = operators::numbers_of(row.results[i].shape, row, call.sides);
    if (!shape) return fault(kWrongOutput, shape.error().context);
    const auto ok = check(tensors.results[i], row.results[i], operators::type_of_result(call, i),
                          *shape, kWrongOutput);
    if (!ok) return ok;
  }
  return {};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kRunOperator>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  const auto tensors = tensors_of(call);
  if (!tensors) return forward_fault(tensors);
  const auto wanted = call_of(call, *tensors);
  if (!wanted) return forward_fault(wanted);
  if (auto ok = check_tensors(*tensors, *wanted); !ok) return ok;
  auto& all = caller.process().machine().operators;
  const auto binding = operators::bind(*wanted);
  const auto kernel = all.find(binding.request);
  if (!kernel) return fault(kernel.error());
  auto& card = *caller.process().card((*stream)->device);
  const auto module = card.module("operator " + (*kernel)->key() + wanted->row->folder,
                                  (*kernel)->image(), caller.number(), operators::kImageBytes);
  if (!module) return forward_fault(module);
  const auto cores = all.cores(card.index());
  OperatorLaunches launches(card, **stream, *module, cores);
  Status called;
  {
    const ProfiledLaunch profiled(caller.process().profile, card, **stream, tensors->name);
    called = operators::call_host(**kernel, 0, launches, binding.params_address());
  }
  const auto ended = launches.end();
  if (called) return ended;
  return fault(kFeature,
               wanted->row->folder + "/" + wanted->row->file + ": " + called.error().context);
}

}  // namespace npu::exec::acl
