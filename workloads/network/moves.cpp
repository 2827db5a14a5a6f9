// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/moves.hpp"

#include <algorithm>
#include <limits>

#include "kernels/operators/axes.hpp"
#include "workloads/network/arithmetic.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {

using operators::OperatorCall;

Value transpose(Steps& steps, const Value& x, const std::vector<std::uint64_t>& order) {
  Sides sides;
  for (const auto axis : order) sides.push_back(x.sides[axis]);
  if (std::is_sorted(order.begin(), order.end())) return steps.view(x, sides);
  auto result = steps.make(x.type, sides);
  OperatorCall call;
  call.name = "transpose";
  call.dtype = call.out_dtype = steps.moves(x);
  call.shape = x.sides;
  call.order = order;
  steps.run(call, {&x}, result);
  return result;
}

Value gather_rows(Steps& steps, const Value& table, const Value& indices) {
  const std::uint64_t columns = table.sides[1];
  // Rows with a negative index are left alone.
  const auto result = steps.zeros(table.type, {indices.elements(), columns});
  OperatorCall call;
  call.name = "gather";
  call.dtype = call.out_dtype = steps.moves(table);
  call.shape = {indices.elements(), columns, table.sides[0]};
  steps.run(call, {&table, &indices}, result);
  return result;
}

namespace {

// Row indices[i] of the table from row i.
void write_rows(Steps& steps, const Value& table, const Value& indices, const Value& values) {
  OperatorCall call;
  call.name = "kv_cache_write";
  call.dtype = call.out_dtype = steps.moves(values);
  call.shape = {indices.elements(), values.sides[1], table.sides[0]};
  if (values.elements() != 0) steps.run(call, {&table, &indices, &values}, table);
}

}  // namespace

Value scatter_rows(Steps& steps, std::uint64_t rows, const Value& indices, const Value& values) {
  const auto table = steps.zeros(values.type, {rows, values.sides[1]});
  write_rows(steps, table, indices, values);
  return table;
}

Value with_rows(Steps& steps, const Value& table, const Value& indices, const Value& values) {
  const auto whole = steps.view(table, {1, table.elements()});
  const auto copy = steps.view(gather_rows(steps, whole, int32s(steps, {0})), table.sides);
  write_rows(steps, copy, indices, values);
  return copy;
}

Value int32s(Steps& steps, const std::vector<std::int64_t>& values) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const auto each : values) {
    if (each > kMost) steps.refuse("more than 2^31 rows");
  }
  return steps.constant(ElementType::kInt32, {values.size()},
                        std::vector<std::int32_t>(values.begin(), values.end()));
}

Value rows_along(Steps& steps, const Value& x, std::size_t axis,
                 const std::vector<std::int64_t>& rows) {
  const std::uint64_t outer = product_of(x.sides, 0, axis);
  const auto side = static_cast<std::int64_t>(x.sides[axis]);
  std::vector<std::int64_t> all;
  for (std::uint64_t o = 0; o < outer; ++o) {
    for (const auto row : rows) {
      all.push_back(row < 0 ? -1 : static_cast<std::int64_t>(o) * side + row);
    }
  }
  const auto table =
      steps.view(x, {outer * x.sides[axis], product_of(x.sides, axis + 1, x.axes())});
  auto sides = x.sides;
  sides[axis] = rows.size();
  return steps.view(gather_rows(steps, table, int32s(steps, all)), sides);
}

Value rows_of_axis(Steps& steps, const Value& x, std::size_t axis, std::int64_t begin,
                   std::int64_t step, std::uint64_t count) {
  std::vector<std::int64_t> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    rows.push_back(begin + static_cast<std::int64_t>(i) * step);
  }
  return rows_along(steps, x, axis, rows);
}

Value concat(Steps& steps, const std::vector<Value>& parts, std::size_t axis) {
  Value whole = parts.front();
  for (std::size_t first = 1; first < parts.size();) {
    const std::size_t count =
        std::min<std::size_t>(parts.size() - first, operators::kMostParts - 1);
    Sides sides = whole.sides;
    OperatorCall call;
    call.name = "concat";
    call.dtype = call.out_dtype = steps.moves(whole);
    call.shape = {product_of(sides, 0, axis), product_of(sides, axis + 1, sides.size()),
                  sides[axis]};
    std::vector<const Value*> inputs{&whole};
    for (std::size_t i = 0; i < count; ++i) {
      call.shape.push_back(parts[first + i].sides[axis]);
      sides[axis] += parts[first + i].sides[axis];
      inputs.push_back(&parts[first + i]);
    }
    auto result = steps.make(whole.type, sides);
    steps.run(call, inputs, result);
    whole = std::move(result);
    first += count;
  }
  return whole;
}

// A word of the sign behind each number.
Value widen(Steps& steps, const Value& x) {
  const auto column = steps.view(x, {x.elements(), 1});
  const auto signs = elementwise(steps, "where(a<0,0-1,0)", {column});
  auto wide = concat(steps, {column, signs}, 1);
  wide.type = ElementType::kInt64;
  wide.sides = x.sides;
  return wide;
}

Value choose(Steps& steps, const Value& condition, const Value& a, const Value& b) {
  auto sides = operators::broadcast_sides(a.sides, b.sides);
  if (sides) sides = operators::broadcast_sides(*sides, condition.sides);
  if (!sides) {
    steps.fail_with(sides.error());
    return {};
  }
  if (row_of(a.type).bytes != row_of(b.type).bytes) steps.refuse("a choice of two types");
  auto result = steps.make(a.type, *sides);
  OperatorCall call;
  call.name = "where";
  call.dtype = call.out_dtype = steps.moves(a);
  call.shape = or_one(a.sides);
  call.other_shape = or_one(b.sides);
  call.condition_shape = or_one(condition.sides);
  steps.run(call, {&a, &b, &condition}, result);
  return result;
}

// By a choice, which moves; a sum would round. Both are the same, whatever the condition is.
Value repeat(Steps& steps, const Value& x, const Sides& sides) {
  if (x.sides == sides) return x;
  return choose(steps, steps.make(ElementType::kInt8, sides), x, x);
}

}  // namespace npu::network
