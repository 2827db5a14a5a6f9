// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/operators/axes.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::network {
namespace {

using operators::OperatorCall;

// A type of that size that operators move.
std::string_view moved_as(Bytes size) {
  switch (size) {
    case 1:
      return "int8";
    case 2:
      return "half";
    case 4:
      return "int32";
    default:
      return "int64";
  }
}

void take_scalars(const std::vector<float>& scalars, OperatorCall& call) {
  std::copy(scalars.begin(), scalars.end(), call.scalars.begin());
}

Sides or_one(Sides sides) {
  return sides.empty() ? Sides{1} : sides;
}

std::uint64_t product_of(const Sides& sides, std::size_t begin, std::size_t end) {
  return std::accumulate(sides.begin() + static_cast<std::ptrdiff_t>(begin),
                         sides.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{1},
                         std::multiplies<>());
}

}  // namespace

void Steps::refuse(std::string why) {
  if (!failed()) status_ = fail(ErrorCode::kUnsupported, std::move(why));
}

void Steps::fail_with(const Error& error) {
  if (!failed()) status_ = tl::unexpected(error);
}

// Of a value that is computed with.
const char* Steps::computes(const Value& value) {
  const auto& row = row_of(value.type);
  if (row.card) return operators::macro_name(*row.card).data();
  refuse(fmt::format("the cores have no instruction for {}", row.name));
  return "";
}

const char* Steps::moves(const Value& value) {
  const auto& row = row_of(value.type);
  if (row.bytes == 0) refuse(fmt::format("a card has no {}", row.name));
  return moved_as(row.bytes).data();
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

void Steps::run(OperatorCall& call, std::initializer_list<const Value*> inputs,
                const Value& result) {
  if (failed() || result.elements() == 0) return;
  std::size_t place = 0;
  for (const auto* input : inputs) call.inputs[place++] = input->address();
  call.results[0] = result.address();
  if (auto done = runner_.run(call); !done) return fail_with(done.error());
  ++count_;
}

// --- between host and card -----------------------------------------------------------------

Value Steps::upload(const Tensor& tensor) {
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

// --- computing -----------------------------------------------------------------------------

Value Steps::elementwise(const std::string& expression, std::initializer_list<Value> values,
                         std::vector<float> scalars) {
  return elementwise_into(values.begin()->type, expression, values, std::move(scalars));
}

Value Steps::elementwise_into(ElementType type, const std::string& expression,
                              std::initializer_list<Value> values, std::vector<float> scalars) {
  const Value& first = *values.begin();
  auto result = make(type, first.sides);
  OperatorCall call;
  call.name = "elementwise";
  call.dtype = computes(first);
  call.out_dtype = computes(result);
  call.shape = {first.elements()};
  call.expression = expression;
  take_scalars(scalars, call);
  if (failed() || result.elements() == 0) return result;
  std::size_t place = 0;
  for (const auto& value : values) call.inputs[place++] = value.address();
  call.results[0] = result.address();
  if (auto done = runner_.run(call); !done) fail_with(done.error());
  ++count_;
  return result;
}

Value Steps::broadcast(const std::string& expression, const Value& a, const Value& b,
                       std::vector<float> scalars) {
  return broadcast_into(a.type, expression, a, b, std::move(scalars));
}

Value Steps::broadcast_into(ElementType type, const std::string& expression, const Value& a,
                            const Value& b, std::vector<float> scalars) {
  const auto sides = operators::broadcast_sides(a.sides, b.sides);
  if (!sides) {
    fail_with(sides.error());
    return {};
  }
  auto result = make(type, *sides);
  OperatorCall call;
  call.name = "broadcast";
  call.dtype = computes(a);
  call.out_dtype = computes(result);
  call.shape = or_one(a.sides);
  call.other_shape = or_one(b.sides);
  call.expression = expression;
  take_scalars(scalars, call);
  run(call, {&a, &b}, result);
  return result;
}

Value Steps::product(const Value& a, const Value& b, bool transpose_a, bool transpose_b) {
  if (a.axes() < 2 || a.axes() != b.axes()) {
    refuse(fmt::format("a product of {} and {}", text_of(a.sides), text_of(b.sides)));
    return {};
  }
  const std::size_t last = a.axes() - 1;
  const std::uint64_t m = a.sides[transpose_a ? last : last - 1];
  const std::uint64_t k = a.sides[transpose_a ? last - 1 : last];
  const std::uint64_t n = b.sides[transpose_b ? last - 1 : last];
  const bool fits = b.sides[transpose_b ? last : last - 1] == k &&
                    std::equal(a.sides.begin(), a.sides.end() - 2, b.sides.begin());
  if (!fits) refuse(fmt::format("a product of {} and {}", text_of(a.sides), text_of(b.sides)));
  Sides sides(a.sides.begin(), a.sides.end() - 2);
  sides.insert(sides.end(), {m, n});
  auto result = make(a.type == ElementType::kInt8 ? ElementType::kInt32 : a.type, sides);
  OperatorCall call;
  call.dtype = computes(a);
  call.out_dtype = computes(result);
  call.transpose_a = transpose_a;
  call.transpose_b = transpose_b;
  if (a.axes() == 2) {
    call.name = "basic_matmul";
    call.shape = {m, n, k};
  } else {
    call.name = "batched_matmul";
    call.shape = {product_of(a.sides, 0, last - 1), m, n, k};
  }
  run(call, {&a, &b}, result);
  return result;
}

Value Steps::reduce(const std::string& how, const Value& x, std::vector<std::size_t> axes,
                    bool keep) {
  std::sort(axes.begin(), axes.end());
  Sides kept, result_sides;
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone) {
      order.push_back(i);
      kept.push_back(x.sides[i]);
    }
    if (!gone || keep) result_sides.push_back(gone ? 1 : x.sides[i]);
  }
  const bool together = axes.empty() || axes.back() - axes.front() + 1 == axes.size();
  Value turned = x;
  std::size_t first = axes.empty() ? x.axes() : axes.front();
  if (!together) {
    order.insert(order.end(), axes.begin(), axes.end());
    turned = transpose(x, order);
    first = kept.size();
  }
  auto result = make(x.type, result_sides);
  OperatorCall call;
  call.name = "reduce_" + how;
  call.dtype = call.out_dtype = computes(x);
  call.shape = {product_of(turned.sides, 0, first),
                product_of(turned.sides, first, first + axes.size()),
                product_of(turned.sides, first + axes.size(), turned.axes())};
  run(call, {&turned}, result);
  return result;
}

Value Steps::softmax(const Value& x, std::size_t axis) {
  auto result = make(x.type, x.sides);
  OperatorCall call;
  call.dtype = call.out_dtype = computes(x);
  const std::uint64_t outer = product_of(x.sides, 0, axis);
  const bool is_last = axis + 1 == x.axes();
  call.name = is_last ? "softmax" : "softmax_axis";
  call.shape = {outer, x.sides[axis]};
  if (!is_last) call.shape.push_back(product_of(x.sides, axis + 1, x.axes()));
  run(call, {&x}, result);
  return result;
}

Value Steps::argmax(const Value& x) {
  auto result = make(ElementType::kInt32, Sides(x.sides.begin(), x.sides.end() - 1));
  OperatorCall call;
  call.name = "argmax";
  call.dtype = computes(x);
  call.out_dtype = "int32";
  call.shape = {product_of(x.sides, 0, x.axes() - 1), x.sides.back()};
  run(call, {&x}, result);
  return result;
}

// --- moving --------------------------------------------------------------------------------

Value Steps::transpose(const Value& x, const std::vector<std::uint64_t>& order) {
  Sides sides;
  for (const auto axis : order) sides.push_back(x.sides[axis]);
  if (std::is_sorted(order.begin(), order.end())) return view(x, sides);
  auto result = make(x.type, sides);
  OperatorCall call;
  call.name = "transpose";
  call.dtype = call.out_dtype = moves(x);
  call.shape = x.sides;
  call.order = order;
  run(call, {&x}, result);
  return result;
}

Value Steps::gather_rows(const Value& table, const Value& indices) {
  const std::uint64_t columns = table.sides[1];
  auto result = make(table.type, {indices.elements(), columns});
  if (failed() || result.memory == nullptr) return result;
  // Rows with a negative index are left alone.
  const std::vector<std::byte> zeros(result.bytes());
  if (auto done = runner_.write(result.memory->address(), {zeros.data(), zeros.size()}); !done) {
    fail_with(done.error());
  }
  OperatorCall call;
  call.name = "gather";
  call.dtype = call.out_dtype = moves(table);
  call.shape = {indices.elements(), columns, table.sides[0]};
  run(call, {&table, &indices}, result);
  return result;
}

Value Steps::scatter_rows(std::uint64_t rows, const Value& indices, const Value& values) {
  auto table =
      upload(Tensor{values.type,
                    {rows, values.sides[1]},
                    std::vector<std::byte>(rows * values.sides[1] * row_of(values.type).bytes),
                    {}});
  OperatorCall call;
  call.name = "kv_cache_write";
  call.dtype = call.out_dtype = moves(values);
  call.shape = {indices.elements(), values.sides[1], rows};
  run(call, {&table, &indices, &values}, table);
  return table;
}

Value Steps::concat(const std::vector<Value>& parts, std::size_t axis) {
  Value whole = parts.front();
  for (std::size_t first = 1; first < parts.size();) {
    const std::size_t count =
        std::min<std::size_t>(parts.size() - first, operators::kTensorInputs - 1);
    Sides sides = whole.sides;
    OperatorCall call;
    call.name = "concat";
    call.dtype = call.out_dtype = moves(whole);
    call.shape = {product_of(sides, 0, axis), product_of(sides, axis + 1, sides.size()),
                  sides[axis]};
    call.inputs[0] = whole.address();
    for (std::size_t i = 0; i < count; ++i) {
      call.shape.push_back(parts[first + i].sides[axis]);
      sides[axis] += parts[first + i].sides[axis];
      call.inputs[1 + i] = parts[first + i].address();
    }
    auto result = make(whole.type, sides);
    call.results[0] = result.address();
    if (!failed() && result.elements() != 0) {
      if (auto done = runner_.run(call); !done) fail_with(done.error());
      ++count_;
    }
    whole = std::move(result);
    first += count;
  }
  return whole;
}

// A word of the sign behind each number.
Value Steps::widen(const Value& x) {
  const auto column = view(x, {x.elements(), 1});
  const auto signs = elementwise("where(a<0,0-1,0)", {column});
  auto wide = concat({column, signs}, 1);
  wide.type = ElementType::kInt64;
  wide.sides = x.sides;
  return wide;
}

Value Steps::choose(const Value& condition, const Value& a, const Value& b) {
  auto sides = operators::broadcast_sides(a.sides, b.sides);
  if (sides) sides = operators::broadcast_sides(*sides, condition.sides);
  if (!sides) {
    fail_with(sides.error());
    return {};
  }
  if (row_of(a.type).bytes != row_of(b.type).bytes) refuse("a choice of two types");
  auto result = make(a.type, *sides);
  OperatorCall call;
  call.name = "where";
  call.dtype = call.out_dtype = moves(a);
  call.shape = or_one(a.sides);
  call.other_shape = or_one(b.sides);
  call.condition_shape = or_one(condition.sides);
  run(call, {&a, &b, &condition}, result);
  return result;
}

// By a choice, which moves; a sum would round.
Value Steps::repeat(const Value& x, const Sides& sides) {
  if (x.sides == sides) return x;
  const auto zero = constant<std::int8_t>(ElementType::kInt8, sides,
                                          std::vector<std::int8_t>(elements_of(sides)));
  return choose(zero, x, x);
}

}  // namespace npu::network
