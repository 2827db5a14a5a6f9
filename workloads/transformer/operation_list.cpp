// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/operation_list.hpp"

#include <algorithm>

namespace npu::workloads::transformer {

operators::OperatorCall& OperationList::add(const char* part, const char* name, Shape shape,
                                            const std::vector<std::uint64_t>& inputs,
                                            const std::vector<std::uint64_t>& results) {
  auto& operation = operations_.emplace_back();
  operation.part = part;
  operation.layer = layer_;
  auto& call = operation.call;
  call.name = name;
  call.shape = std::move(shape);
  call.dtype = type_;
  std::copy(inputs.begin(), inputs.end(), call.inputs.begin());
  std::copy(results.begin(), results.end(), call.results.begin());
  return call;
}

operators::OperatorCall& OperationList::multiply(const char* part, const Shape& sides,
                                                 std::uint64_t from, std::uint64_t weights,
                                                 std::uint64_t to) {
  auto& call = add(part, "basic_matmul", sides, {from, weights}, {to});
  call.transpose_b = true;
  call.format_b = layout_;
  call.out_dtype = type_;
  count(2 * sides[0] * sides[1] * sides[2]);
  return call;
}

operators::OperatorCall& OperationList::norm(const char* part, std::uint64_t rows,
                                             std::uint64_t columns, std::uint64_t from,
                                             std::uint64_t gamma, std::uint64_t to) {
  return add(part, "rms_norm", {rows, columns}, {from, gamma}, {to});
}

void OperationList::gather(const char* part, const Shape& sides, std::uint64_t table,
                           std::uint64_t indices, std::uint64_t to) {
  add(part, "gather", sides, {table, indices}, {to});
}

void OperationList::slice(const char* part, std::uint64_t rows, const Columns& columns,
                          std::uint64_t from, std::uint64_t to) {
  add(part, "slice", {rows, columns.all, 1, columns.first, columns.count, 1}, {from}, {to});
}

void OperationList::exchange(const char* part, const Shape& sides, std::uint64_t from,
                             std::uint64_t to) {
  add(part, "transpose", sides, {from}, {to}).order = {1, 0, 2};
}

Collective& OperationList::collect(const char* part, driver::CollectiveOperation operation,
                                   std::uint64_t from, std::uint64_t to) {
  auto& added = operations_.emplace_back();
  added.part = part;
  added.layer = layer_;
  return added.collective.emplace(Collective{operation, from, to});
}

void OperationList::exchange(const char* part, const TokenExchange& exchange) {
  collect(part, driver::CollectiveOperation::kExchange, 0, 0).exchange = exchange;
}

}  // namespace npu::workloads::transformer
