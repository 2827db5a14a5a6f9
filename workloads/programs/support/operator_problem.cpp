// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/operator_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/operators/launcher/host_entry.hpp"
#include "kernels/operators/matrix_layout.hpp"
#include "workloads/programs/support/attention_reference.hpp"
#include "workloads/programs/support/axes_reference.hpp"
#include "workloads/programs/support/described_tensors.hpp"
#include "workloads/programs/support/row_reference.hpp"
#include "workloads/programs/support/tensor_reference.hpp"

namespace npu::workloads {
namespace {

using operators::Family;

constexpr std::uint64_t kFullCheckOf = std::uint64_t{1} << 27;  // multiplications
constexpr std::uint64_t kSamplesOfLarge = 4096;

ConstByteSpan span_of(const std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

}  // namespace

OperatorProblem::OperatorProblem(operators::NormalisedCall call, std::uint64_t seed,
                                 const OperatorOptions& options)
    : call_(std::move(call)), seed_(seed), options_(options) {
  auto tensors = tensors_of(call_, options_);
  inputs_ = std::move(tensors.inputs);
  results_ = std::move(tensors.results);
  in_place_ = tensors.in_place;
  if (!computes()) return;
  if (auto parsed = ElementExpression::parse(call_.call.expression)) expression_ = *parsed;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].given = !expression_ || expression_->uses(i);
  }
}

Bytes OperatorProblem::input_bytes(std::size_t i) const {
  const OperatorTensor& t = inputs_[i];
  if (!t.given) return 0;
  return t.count * operators::stored_elements(t.layout, t.type, t.rows, t.columns) *
         platform::bytes_of(t.type);
}

Bytes OperatorProblem::result_bytes(std::size_t i) const {
  const OperatorTensor& t = results_[i];
  return t.count * t.rows * t.columns * platform::bytes_of(t.type);
}

bool OperatorProblem::steers(std::size_t i) const {
  return inputs_[i].indices_below != 0 || (call_.row->family == Family::kGrouped && i == 2);
}

std::uint64_t OperatorProblem::group_begin(std::uint64_t group) const {
  if (!options_.group_ends.empty()) return group == 0 ? 0 : options_.group_ends[group - 1];
  const std::uint64_t side = call_.call.slice_k ? call_.k : call_.m;
  return side * group / call_.batch;
}

// One matrix, row by row.
std::vector<std::byte> OperatorProblem::rows_of(std::size_t i, std::uint64_t matrix) const {
  const OperatorTensor& t = inputs_[i];
  const std::uint64_t elements = t.rows * t.columns;
  std::vector<std::byte> bytes(elements * platform::bytes_of(t.type));
  if (t.indices_below != 0) {
    for (std::uint64_t k = 0; k < elements; ++k) {
      const auto index = static_cast<double>(index_of(k, t.indices_below, in_place_));
      store_element(t.type, bytes.data(), k, index);
    }
    return bytes;
  }
  if (steers(i)) {
    for (std::uint64_t group = 0; group < elements; ++group) {
      const std::uint64_t end = group_begin(group + 1);
      std::memcpy(bytes.data() + group * sizeof end, &end, sizeof end);
    }
    return bytes;
  }
  fill_exact(t.type, {bytes.data(), bytes.size()}, seed_ + i, matrix * elements);
  for (std::uint64_t k = 0; (t.positive || t.number) && k < elements; ++k) {
    const double size = std::abs(load_element(t.type, bytes.data(), k)) + 1.0 / 64;
    store_element(t.type, bytes.data(), k, t.number.value_or(size));
  }
  keep_lower(t, {bytes.data(), bytes.size()});
  return bytes;
}

std::vector<std::byte> OperatorProblem::input(std::size_t i) const {
  const OperatorTensor& t = inputs_[i];
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
  const OperatorTensor& t = inputs_[i];
  const std::uint64_t elements = t.rows * t.columns;
  Values all(t.count * elements);
  for (std::uint64_t matrix = 0; matrix < t.count; ++matrix) {
    load_elements(t.type, rows_of(i, matrix).data(), elements, all.data() + matrix * elements);
  }
  return all;
}

Status OperatorProblem::check(const std::vector<std::vector<std::byte>>& results,
                              jit::Reference reference) const {
  const Family family = call_.row->family;
  if (family == Family::kMatmul || family == Family::kBatched || family == Family::kSplitK) {
    return check_products(results[0]);
  }
  if (family == Family::kGrouped) return check_groups(results[0]);
  if (computes()) return check_elementwise(results[0]);
  const bool own = call_.row->described();
  if (own && reference == nullptr) return {};
  const auto all = [this](std::size_t i) { return values(i); };
  std::vector<Values> wanted;
  if (own) {
    auto ok = operators::without_exceptions("the reference",
                                            [&] { wanted = expected_by(reference, call_, all); });
    if (!ok)
      return fail(ok.error().code,
                  call_.row->folder + "/" + call_.row->file + ": " + ok.error().context);
  } else {
    wanted = expected();
  }
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (auto ok = check_result(i, wanted[i], results[i]); !ok) return ok;
  }
  return {};
}

Status OperatorProblem::check_result(std::size_t i, const Values& wanted,
                                     const std::vector<std::byte>& result) const {
  const DataType type = results_[i].type;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, finite_size(value));
  // What is quantised may fall to either side.
  const Family family = call_.row->family;
  const bool own = call_.row->described() && rounding_error(call_.type) != 0;
  const bool quantises = own || family == Family::kDynamicQuant ||
                         family == Family::kDequantSwigluQuant ||
                         family == Family::kAddRmsNormDynamicQuant;
  double step = quantises && rounding_error(type) == 0 ? 1 : least_distance(type);
  // The error is one of the values, of up to 1/8, whose weighted mean may be far less.
  if (family == Family::kAttention) step += rounding_error(DataType::kFp32);
  for (std::uint64_t k = 0; k < wanted.size(); ++k) {
    if (!is_written(wanted[k])) continue;
    const double found = load_element(type, result.data(), k);
    const double allowed = step + tolerance(type) * std::max(finite_size(wanted[k]), largest / 16);
    if (distance_of(found, wanted[k]) <= allowed) continue;
    if (std::isinf(found) && found == rounded_to(type, wanted[k])) continue;
    const std::string which = i == 0 ? "" : fmt::format(" of result {}", i + 1);
    return fail(ErrorCode::kWrongData, fmt::format("element {} of {}{} is {}, expected {}", k,
                                                   wanted.size(), which, found, wanted[k]));
  }
  return {};
}

// Of each step a few roundings of what is stored in between, or of fp32.
double OperatorProblem::tolerance(DataType type) const {
  const double stored = std::max(rounding_error(call_.type), rounding_error(type));
  const Family family = call_.row->family;
  // fp16 is computed in fp16 there, step after step.
  const double all = family == Family::kAdamW ? 16 * static_cast<double>(options_.calls) : 4;
  // Sums of what was stored in between.
  const bool summed = family == Family::kAttention ||
                      (family == Family::kTensors && call_.row->type == jit::KernelType::kMixed);
  const double steps = call_.row->described() ? call_.row->roundings : summed ? 16 : all;
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
    MatrixProduct product{call_.m,        call_.n,    call_.k,    call_.type,
                          call_.out_type, span_of(a), span_of(b), {result.data() + i * size, size}};
    const auto bias = given(2) ? rows_of(2, 0) : std::vector<std::byte>{};
    product.bias = span_of(bias);
    product.bias_type = call_.bias_type;
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
    const auto bias = given(3) ? rows_of(3, i) : std::vector<std::byte>{};
    const ConstByteSpan right{b.data() + (by_k ? begin * call_.n * element : 0),
                              k * Bytes{call_.n} * element};
    const ConstByteSpan sum{result.data() + (by_k ? i * m : begin) * out_row, m * out_row};
    MatrixProduct product{m, call_.n, k, call_.type, call_.out_type, span_of(a), right, sum};
    product.bias = span_of(bias);
    product.bias_type = call_.bias_type;
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
    case Family::kAttention:
      return {attention_reference(call_, values(0), values(1), values(2))};
    case Family::kTranspose:
      return {transposed(values(0), call_.sides, call_.call.order)};
    case Family::kSoftmaxAxis:
      return {softmax_axis(values(0), call_.sides)};
    case Family::kGroupNorm:
      return {group_norm(values(0), values(1), values(2), call_.sides, {call_.call.epsilon})};
    case Family::kAdamW:
      return expected_steps();
    case Family::kLayerNorm:
      return {layer_norm(values(0), values(1), values(2), {call_.call.epsilon})};
    case Family::kGather:
      return {gathered(values(0), values(1), call_.sides[1])};
    case Family::kCacheWrite:
      return {scattered(values(0), values(1), values(2), call_.sides[1])};
    case Family::kTensors:
      return expected_tensors(call_, [this](std::size_t i) { return values(i); });
    default:
      return expected_rows();
  }
}

std::vector<OperatorProblem::Values> OperatorProblem::expected_steps() const {
  std::vector<Values> tensors;
  tensors.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) tensors.push_back(values(i));
  for (std::uint64_t i = 0; i < options_.calls; ++i) {
    adam_w(tensors, call_.call.maximize, call_.type);
  }
  tensors.resize(results_.size());
  return tensors;
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

// Of tensor `i`, or as many times `none` as it is wide.
OperatorProblem::Values OperatorProblem::numbers(std::size_t i, double none) const {
  return given(i) ? values(i) : Values(inputs_[i].columns, none);
}

OperatorProblem::Values OperatorProblem::expected_quantised() const {
  const Values a = values(0), b = values(1), channels = numbers(2, 1), tokens = numbers(3, 1),
               bias = numbers(4, 0);
  const bool last = call_.bias_type != DataType::kInt32;  // else a part of the sum
  const std::uint64_t k = call_.k, n = call_.n;
  Values c;
  for (std::uint64_t i = 0; i < std::uint64_t{call_.batch} * call_.m; ++i) {
    const double* const right = b.data() + i / call_.m * k * n;
    for (std::uint64_t j = 0; j < n; ++j) {
      const double sum = dot(a.data() + i * k, 1, right + j, n, k) + (last ? 0 : bias[j]);
      c.push_back(call_.call.scale * tokens[i % call_.m] * channels[j] * sum +
                  (last ? bias[j] : 0));
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

// Where input `i` has what element `index` of the result is made of.
std::uint64_t OperatorProblem::place_of(std::size_t i, std::uint64_t index) const {
  if (call_.row->family == Family::kVector) return index;
  const auto& call = call_.call;
  const std::vector<std::uint64_t>* const sides[] = {&call.shape, &call.other_shape,
                                                     &call.condition_shape};
  return repeated_place(index, call_.sides, *sides[i]);
}

// Numbers beyond what the type holds are not looked at; integers have neither infinities nor what
// is no number.
Status OperatorProblem::check_elementwise(const std::vector<std::byte>& result) const {
  const DataType type = results_[0].type;
  const auto most = [](DataType of) { return of == DataType::kFp16 ? 65'504.0 : 1e38; };
  const double limit = std::min(most(type), most(call_.type));
  std::array<Values, 4> inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (given(i)) inputs[i] = values(i);
  }
  ElementInputs element;
  for (std::size_t i = 0; i < element.scalars.size(); ++i) {
    const double scalar{call_.call.scalars[i]};
    element.scalars[i] = rounding_error(call_.type) == 0 ? std::nearbyint(scalar) : scalar;
  }
  element.unit = rounding_error(call_.type);
  for (std::uint64_t k = 0; k < results_[0].columns; ++k) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (given(i)) element.inputs[i] = inputs[i][place_of(i, k)];
    }
    const auto wanted = expression_->of(element);
    const bool rounds = rounding_error(type) == 0;  // what is no integer becomes one
    const bool special = !std::isfinite(wanted.value) && !rounds;
    if (!special && !(std::abs(wanted.value) + wanted.error < limit)) continue;
    const double found = load_element(type, result.data(), k);
    const double stored = rounds ? rounded_to(type, wanted.value) : wanted.value;
    const double error = special ? 0 : wanted.error;
    const double allowed = error + tolerance(type) * std::max(finite_size(wanted.value), 1e-2) +
                           (rounds && error != 0 ? 1 : 0);
    if (distance_of(found, stored) <= allowed) continue;
    return fail(ErrorCode::kWrongData, fmt::format("element {} of {} is {}, expected {} within {}",
                                                   k, results_[0].columns, found, stored, allowed));
  }
  return {};
}

}  // namespace npu::workloads
