// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/operator_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "kernels/operators/matrix_layout.hpp"
#include "workloads/programs/support/row_reference.hpp"

namespace npu::workloads {

namespace {

using operators::Family;

constexpr std::uint64_t kFullCheckOf = std::uint64_t{1} << 27;  // multiplications
constexpr std::uint64_t kSamplesOfLarge = 4096;

double dot(const double* a, std::uint64_t step_a, const double* b, std::uint64_t step_b,
           std::uint64_t count) {
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += a[i * step_a] * b[i * step_b];
  return sum;
}

}  // namespace

OperatorProblem::OperatorProblem(operators::NormalisedCall call, std::uint64_t seed,
                                 std::vector<std::uint64_t> group_ends, bool quant_scales)
    : call_(std::move(call)),
      seed_(seed),
      group_ends_(std::move(group_ends)),
      quant_scales_(quant_scales) {
  describe();
}

void OperatorProblem::describe() {
  const auto& side = call_.sides;
  const auto type = call_.type;
  switch (call_.row->family) {
    case Family::kMatmul:
    case Family::kBatched:
    case Family::kSplitK:
    case Family::kQuant:
      inputs_ = {{call_.m, call_.k, call_.layout_a, type, call_.batch},
                 {call_.k, call_.n, call_.layout_b, type, call_.batch}};
      results_ = {{call_.m, call_.n, "RowMajor", call_.out_type, call_.batch}};
      if (call_.row->family != Family::kQuant) break;
      inputs_.push_back({1, call_.n, "RowMajor", DataType::kFp32});
      inputs_.push_back({1, call_.m, "RowMajor", DataType::kFp32});
      break;
    case Family::kGrouped:
      inputs_ = {{call_.m, call_.k, call_.layout_a, type},
                 {call_.k, call_.n, call_.layout_b, type, call_.call.slice_k ? 1U : call_.batch},
                 {1, call_.batch, "RowMajor", DataType::kInt64}};
      results_ = {
          {call_.m, call_.n, "RowMajor", call_.out_type, call_.call.slice_k ? call_.batch : 1U}};
      break;
    case Family::kGemv:
      inputs_ = {{side[0], side[1], call_.layout_a, type}, {1, side[1], "RowMajor", type}};
      results_ = {{1, side[0], "RowMajor", call_.out_type}};
      break;
    case Family::kVector:
      inputs_.assign(4, {1, side[0], "RowMajor", type});
      results_ = {{1, side[0], "RowMajor", call_.out_type}};
      break;
    case Family::kAttention:
      inputs_ = {{side[3], side[5], "RowMajor", type, side[0] * side[1]},
                 {side[4], side[5], "RowMajor", type, side[0] * side[2]},
                 {side[4], side[5], "RowMajor", type, side[0] * side[2]}};
      results_ = {{side[3], side[5], "RowMajor", call_.out_type, side[0] * side[1]}};
      break;
    default:
      describe_rows();
  }
}

// Operators on rows, each by itself.
void OperatorProblem::describe_rows() {
  const std::uint64_t rows = call_.sides[0], columns = call_.sides[1];
  const auto type = call_.type;
  const Tensor x{rows, columns, "RowMajor", type};
  const Tensor gamma{1, columns, "RowMajor", type};
  const Tensor scales{1, rows, "RowMajor", DataType::kFp32};
  inputs_ = {x};
  results_ = {{rows, columns, "RowMajor", call_.out_type}};
  const bool integers = type == DataType::kInt32;
  switch (call_.row->family) {
    case Family::kRmsNorm:
      inputs_.push_back(gamma);
      break;
    case Family::kSwiGlu:
      results_[0].columns = columns / 2;
      break;
    case Family::kDynamicQuant:
      results_.push_back(scales);
      break;
    case Family::kAddRmsNorm:
    case Family::kAddRmsNormDynamicQuant:
      inputs_ = {x, x, gamma};
      results_.push_back(x);
      if (call_.row->family == Family::kAddRmsNormDynamicQuant) results_.push_back(scales);
      break;
    case Family::kDequantSwigluQuant:
      inputs_.push_back({1, columns, "RowMajor", DataType::kFp32, 1, integers});
      inputs_.push_back({1, rows, "RowMajor", DataType::kFp32, 1, integers});
      inputs_.push_back({1, columns / 2, "RowMajor", DataType::kFp32, 1, quant_scales_});
      results_[0].columns = columns / 2;
      results_.push_back(scales);
      break;
    default:  // one tensor, one result of its shape
      break;
  }
}

Bytes OperatorProblem::input_bytes(std::size_t i) const {
  const Tensor& t = inputs_[i];
  if (!t.given) return 0;
  return t.count * operators::stored_elements(t.layout, t.type, t.rows, t.columns) *
         platform::bytes_of(t.type);
}

Bytes OperatorProblem::result_bytes(std::size_t i) const {
  const Tensor& t = results_[i];
  return t.count * t.rows * t.columns * platform::bytes_of(t.type);
}

bool OperatorProblem::steers(std::size_t i) const {
  return call_.row->family == Family::kGrouped && i == 2;
}

std::uint64_t OperatorProblem::group_begin(std::uint64_t group) const {
  if (!group_ends_.empty()) return group == 0 ? 0 : group_ends_[group - 1];
  const std::uint64_t side = call_.call.slice_k ? call_.k : call_.m;
  return side * group / call_.batch;
}

// One matrix, row by row.
std::vector<std::byte> OperatorProblem::rows_of(std::size_t i, std::uint64_t matrix) const {
  const Tensor& t = inputs_[i];
  const std::uint64_t elements = t.rows * t.columns;
  std::vector<std::byte> bytes(elements * platform::bytes_of(t.type));
  if (steers(i)) {
    for (std::uint64_t group = 0; group < elements; ++group) {
      const std::uint64_t end = group_begin(group + 1);
      std::memcpy(bytes.data() + group * sizeof end, &end, sizeof end);
    }
    return bytes;
  }
  fill_exact(t.type, {bytes.data(), bytes.size()}, seed_ + i, matrix * elements);
  return bytes;
}

std::vector<std::byte> OperatorProblem::input(std::size_t i) const {
  const Tensor& t = inputs_[i];
  const std::size_t element = platform::bytes_of(t.type);
  std::vector<std::byte> stored(input_bytes(i));
  for (std::uint64_t matrix = 0; matrix < t.count; ++matrix) {
    const auto rows = rows_of(i, matrix);
    std::byte* const to = stored.data() + matrix * (stored.size() / t.count);
    for (std::uint64_t row = 0; row < t.rows; ++row) {
      for (std::uint64_t column = 0; column < t.columns; ++column) {
        const auto at = operators::stored_index(t.layout, t.type, t.rows, t.columns, row, column);
        std::copy_n(rows.data() + (row * t.columns + column) * element, element, to + at * element);
      }
    }
  }
  return stored;
}

// All matrices, row by row.
OperatorProblem::Values OperatorProblem::values(std::size_t i) const {
  const Tensor& t = inputs_[i];
  Values all;
  for (std::uint64_t matrix = 0; matrix < t.count; ++matrix) {
    const auto rows = rows_of(i, matrix);
    for (std::uint64_t k = 0; k < t.rows * t.columns; ++k) {
      all.push_back(load_element(t.type, rows.data(), k));
    }
  }
  return all;
}

Status OperatorProblem::check(const std::vector<std::vector<std::byte>>& results) const {
  const Family family = call_.row->family;
  if (family == Family::kMatmul || family == Family::kBatched || family == Family::kSplitK) {
    return check_products(results[0]);
  }
  if (family == Family::kGrouped) return check_groups(results[0]);
  const std::vector<Values> wanted = expected();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (auto ok = check_result(i, wanted[i], results[i]); !ok) return ok;
  }
  return {};
}

Status OperatorProblem::check_result(std::size_t i, const Values& wanted,
                                     const std::vector<std::byte>& result) const {
  const DataType type = results_[i].type;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  // What is quantised may fall to either side.
  const double step = type == DataType::kInt8 ? 1 : 0;
  for (std::uint64_t k = 0; k < wanted.size(); ++k) {
    const double found = load_element(type, result.data(), k);
    const double allowed = step + tolerance(type) * std::max(std::abs(wanted[k]), largest / 16);
    if (std::abs(found - wanted[k]) <= allowed) continue;
    const std::string which = i == 0 ? "" : fmt::format(" of result {}", i + 1);
    return fail(ErrorCode::kWrongData, fmt::format("element {} of {}{} is {}, expected {}", k,
                                                   wanted.size(), which, found, wanted[k]));
  }
  return {};
}

// Of each step a few roundings of what is stored in between, or of fp32.
double OperatorProblem::tolerance(DataType type) const {
  const double stored = std::max(rounding_error(call_.type), rounding_error(type));
  const double steps = call_.row->family == Family::kAttention ? 16 : 4;
  return std::max(steps * stored, 1e-5);
}

Status OperatorProblem::check_one(const MatrixProduct& product) const {
  const std::uint64_t work = std::uint64_t{product.m} * product.n * product.k;
  const auto error = check_product(product, work <= kFullCheckOf ? 0 : kSamplesOfLarge, seed_);
  return error ? Status{} : forward_error(error);
}

Status OperatorProblem::check_products(const std::vector<std::byte>& result) const {
  const Bytes size = result.size() / std::max<std::uint64_t>(call_.batch, 1);
  for (std::uint64_t i = 0; i < call_.batch; ++i) {
    const auto a = rows_of(0, i), b = rows_of(1, i);
    const MatrixProduct product{call_.m,
                                call_.n,
                                call_.k,
                                call_.type,
                                call_.out_type,
                                {a.data(), a.size()},
                                {b.data(), b.size()},
                                {result.data() + i * size, size}};
    if (auto ok = check_one(product); !ok) return ok;
  }
  return {};
}

// Groups of rows have their rows of A and C and a B each; groups of k a C each.
Status OperatorProblem::check_groups(const std::vector<std::byte>& result) const {
  const bool by_k = call_.call.slice_k;
  const Bytes element = platform::bytes_of(call_.type);
  const Bytes out_row = Bytes{call_.n} * platform::bytes_of(call_.out_type);
  const auto all_a = rows_of(0, 0);
  for (std::uint64_t i = 0; i < call_.batch; ++i) {
    const std::uint64_t begin = group_begin(i);
    const auto length = static_cast<std::uint32_t>(group_begin(i + 1) - begin);
    const auto b = rows_of(1, by_k ? 0 : i);
    const std::uint32_t m = by_k ? call_.m : length, k = by_k ? length : call_.k;
    std::vector<std::byte> a(std::size_t{m} * k * element);
    for (std::uint64_t row = 0; row < m; ++row) {
      const std::uint64_t from = by_k ? row * call_.k + begin : (begin + row) * k;
      std::copy_n(all_a.data() + from * element, k * element, a.data() + row * k * element);
    }
    const MatrixProduct product{
        m,
        call_.n,
        k,
        call_.type,
        call_.out_type,
        {a.data(), a.size()},
        {b.data() + (by_k ? begin * call_.n * element : 0), k * Bytes{call_.n} * element},
        {result.data() + (by_k ? i * m : begin) * out_row, m * out_row}};
    if (auto ok = check_one(product); !ok) return ok;
  }
  return {};
}

std::vector<OperatorProblem::Values> OperatorProblem::expected() const {
  switch (call_.row->family) {
    case Family::kQuant:
      return {expected_quantised()};
    case Family::kGemv:
      return {expected_gemv()};
    case Family::kVector:
      return {expected_elementwise()};
    case Family::kAttention:
      return {expected_attention()};
    default:
      return expected_rows();
  }
}

std::vector<OperatorProblem::Values> OperatorProblem::expected_rows() const {
  const std::uint64_t columns = call_.sides[1];
  Values x = values(0);
  const double epsilon{call_.call.epsilon};
  switch (call_.row->family) {
    case Family::kSoftmax:
      return {softmax(x, columns)};
    case Family::kRmsNorm:
      return {rms_norm(x, values(1), epsilon)};
    case Family::kSwiGlu:
      return {swi_glu(x, columns)};
    case Family::kDynamicQuant: {
      auto q = quantised(x, columns);
      return {q.rows, q.scales};
    }
    case Family::kDequantSwigluQuant: {
      if (given(1)) x = times_rows(times_columns(x, values(1)), values(2), columns);
      Values y = swi_glu(x, columns, call_.call.activate_left);
      if (given(3)) y = times_columns(y, values(3));
      auto q = quantised(y, columns / 2);
      return {q.rows, q.scales};
    }
    default: {
      const Values sum = sums(x, values(1));
      const Values y = rms_norm(sum, values(2), epsilon);
      if (call_.row->family == Family::kAddRmsNorm) return {y, sum};
      auto q = quantised(y, columns);
      return {q.rows, sum, q.scales};
    }
  }
}

OperatorProblem::Values OperatorProblem::expected_quantised() const {
  const Values a = values(0), b = values(1), channels = values(2), tokens = values(3);
  Values c;
  for (std::uint64_t i = 0; i < call_.m; ++i) {
    for (std::uint64_t j = 0; j < call_.n; ++j) {
      c.push_back(call_.call.scale * tokens[i] * channels[j] *
                  dot(a.data() + i * call_.k, 1, b.data() + j, call_.n, call_.k));
    }
  }
  return c;
}

OperatorProblem::Values OperatorProblem::expected_gemv() const {
  const Values a = values(0), x = values(1);
  Values y;
  for (std::uint64_t i = 0; i < call_.sides[0]; ++i) {
    y.push_back(dot(a.data() + i * call_.sides[1], 1, x.data(), 1, call_.sides[1]));
  }
  return y;
}

OperatorProblem::Values OperatorProblem::expected_elementwise() const {
  using Formula = double (*)(double a, double b, double s);
  static const std::map<std::string, Formula> kFormulas{
      {"a+b", [](double a, double b, double) { return a + b; }},
      {"a*s+b", [](double a, double b, double s) { return a * s + b; }},
      {"max(a,b)", [](double a, double b, double) { return std::max(a, b); }}};
  const Formula formula = kFormulas.at(call_.call.expression);
  const Values a = values(0), b = values(1);
  Values to;
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    to.push_back(formula(a[i], b[i], call_.call.scalars[0]));
  }
  return to;
}

OperatorProblem::Values OperatorProblem::expected_attention() const {
  const auto& side = call_.sides;
  const std::uint64_t heads = side[1], kv = side[2], queries = side[3], keys = side[4],
                      width = side[5];
  const Values q = values(0), k = values(1), v = values(2);
  const bool inside = call_.call.heads_inside;
  const std::uint64_t key_pitch = inside ? kv * width : width;
  Values to;
  for (std::uint64_t row = 0; row < side[0] * heads * queries; ++row) {
    const std::uint64_t batch = row / (heads * queries);
    const std::uint64_t head = inside ? row % heads : row / queries % heads;
    const std::uint64_t query = inside ? row / heads % queries : row % queries;
    const std::uint64_t group = head / (heads / kv);
    const std::uint64_t seen =
        call_.call.causal ? std::max(query + 1 + keys, queries) - queries : keys;
    const std::uint64_t first = (batch * kv * keys + group * (inside ? 1 : keys)) * width;
    const double* const group_keys = k.data() + first;
    const double* const group_values = v.data() + first;
    Values part;
    for (std::uint64_t key = 0; key < seen; ++key) {
      const double score = dot(q.data() + row * width, 1, group_keys + key * key_pitch, 1, width);
      part.push_back(call_.call.scale * score);
    }
    const double sum = seen == 0 ? 1 : exponentials(part);
    for (std::uint64_t i = 0; i < width; ++i) {
      to.push_back(dot(part.data(), 1, group_values + i, key_pitch, seen) / sum);
    }
  }
  return to;
}

}  // namespace npu::workloads
