// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/tensor_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "workloads/programs/support/described_tensors.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/plain_tensors.hpp"
#include "workloads/programs/support/row_reference.hpp"

namespace npu::workloads {
namespace plain_tensors {
namespace {

using operators::NormalisedCall;

std::vector<OperatorTensor> described(const std::vector<TensorOf>& tensors) {
  std::vector<OperatorTensor> all;
  all.reserve(tensors.size());
  for (const auto& t : tensors) {
    auto& added = all.emplace_back();
    added.rows = t.rows, added.columns = t.columns;
    added.type = t.type, added.lower = t.lower;
    added.indices_below = t.below;
  }
  return all;
}
TensorsOf copy_tensors(const NormalisedCall& call) {
  return {{{1, call.sides[0], call.type}}, {{1, call.sides[0], call.out_type}}};
}
Results copied(const NormalisedCall&, const Inputs& in) {
  return {in[0]};
}

TensorsOf hadamard_tensors(const NormalisedCall& call) {
  return {{{call.sides[0], call.sides[1], call.type}},
          {{call.sides[0], call.sides[1], call.out_type}}};
}
Results hadamard(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t columns = call.sides[1];
  TensorValues x = in[0];
  for (std::uint64_t row = 0; row < call.sides[0]; ++row) {
    double* const at = x.data() + row * columns;
    for (std::uint64_t half = 1; half < columns; half *= 2) {
      for (std::uint64_t i = 0; i < columns; ++i) {
        if ((i & half) != 0) continue;
        const double a = at[i], b = at[i + half];
        at[i] = a + b, at[i + half] = a - b;
      }
    }
  }
  return {x};
}

TensorsOf conv_tensors(const NormalisedCall& call) {
  const std::uint64_t tokens = call.sides[0] * call.sides[1], channels = call.sides[2];
  return {{{tokens, channels, call.type},
           {call.sides[3], channels, call.type},
           {1, channels, call.type}},
          {{tokens, channels, call.out_type}}};
}
Results conv(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t length = call.sides[1], channels = call.sides[2], width = call.sides[3];
  TensorValues y;
  y.reserve(in[0].size());
  for (std::uint64_t i = 0; i < in[0].size(); ++i) {
    const std::uint64_t channel = i % channels, token = i / channels % length;
    double sum = in[2][channel];
    for (std::uint64_t k = 0; k < width; ++k) {
      const std::uint64_t back = width - 1 - k;
      if (back <= token) sum += in[1][k * channels + channel] * in[0][i - back * channels];
    }
    y.push_back(sum / (1 + std::exp(-sum)));
  }
  return {y};
}

TensorsOf norm_cast_tensors(const NormalisedCall& call) {
  const std::uint64_t rows = call.sides[0], columns = call.sides[1];
  return {{{rows, columns, call.type}, {1, columns, call.type}},
          {{rows, columns, call.out_type}, {rows, columns, DataType::kFp32}}};
}
Results norm_cast(const NormalisedCall& call, const Inputs& in) {
  const TensorValues y = rms_norm(in[0], in[1], double{call.call.epsilon});
  TensorValues wide;
  wide.reserve(y.size());
  for (const double value : y) wide.push_back(rounded_to(call.out_type, value));
  return {y, wide};
}

// Of operators over chunks.
struct Chunked {
  explicit Chunked(const NormalisedCall& call)
      : tokens(call.sides[0]),
        kv_heads(call.sides[1]),
        heads(call.sides[2]),
        head(call.sides[3]),
        chunk(std::max<std::uint64_t>(call.sides[4], 1)) {}
  std::uint64_t tokens, kv_heads, heads, head, chunk;

  TensorOf keys(DataType type) const { return {tokens, kv_heads * head, type}; }
  TensorOf values(DataType type) const { return {tokens, heads * head, type}; }
  TensorOf squares(DataType type) const { return {tokens, heads * chunk, type}; }
  TensorOf numbers() const { return {heads, tokens, DataType::kFp32}; }
  std::uint64_t key(std::uint64_t token, std::uint64_t h) const {
    return (token * kv_heads + h / (heads / kv_heads)) * head;
  }
  std::uint64_t value(std::uint64_t token, std::uint64_t h) const {
    return (token * heads + h) * head;
  }
  std::uint64_t square(std::uint64_t token, std::uint64_t h) const {
    return (token * heads + h) * chunk;
  }
  std::uint64_t number(std::uint64_t token, std::uint64_t h) const { return h * tokens + token; }
  std::uint64_t first(std::uint64_t token) const { return token / chunk * chunk; }
  // Calls use(token, head).
  template <class Use>
  void each(Use use) const {
    for (std::uint64_t t = 0; t < tokens; ++t) {
      for (std::uint64_t h = 0; h < heads; ++h) use(t, h);
    }
  }
  double dot(const TensorValues& a, std::uint64_t at, const TensorValues& b,
             std::uint64_t to) const {
    double sum = 0;
    for (std::uint64_t d = 0; d < head; ++d) sum += a[at + d] * b[to + d];
    return sum;
  }
};

TensorsOf cumsum_tensors(const NormalisedCall& call) {
  const TensorOf g{call.sides[0], call.sides[1], DataType::kFp32};
  return {{g}, {g}};
}
Results cumsum(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t heads = call.sides[1], chunk = call.sides[2];
  TensorValues y = in[0];
  for (std::uint64_t i = heads; i < y.size(); ++i) {
    if (i / heads % chunk != 0) y[i] += y[i - heads];
  }
  return {y};
}

TensorsOf kkt_tensors(const NormalisedCall& call) {
  const Chunked of(call);
  return {{of.keys(call.type), of.numbers(), of.numbers()}, {of.squares(call.out_type)}};
}
Results kkt(const NormalisedCall& call, const Inputs& in) {
  const Chunked of(call);
  TensorValues a(of.tokens * of.heads * of.chunk);
  of.each([&](std::uint64_t i, std::uint64_t h) {
    for (std::uint64_t j = of.first(i); j < i; ++j) {
      a[of.square(i, h) + j % of.chunk] = in[1][of.number(i, h)] *
                                          of.dot(in[0], of.key(i, h), in[0], of.key(j, h)) *
                                          std::exp(in[2][of.number(i, h)] - in[2][of.number(j, h)]);
    }
  });
  return {a};
}

TensorsOf tril_tensors(const NormalisedCall& call) {
  const TensorOf a{call.sides[0], call.sides[1] * call.sides[2], call.type, call.sides[2]};
  return {{a}, {{a.rows, a.columns, call.out_type}}};
}
// Forward substitution, a row after the other: row i of the inverse is that of I less the sum of
// A[i][j] times its row j.
Results tril(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t heads = call.sides[1], chunk = std::max<std::uint64_t>(call.sides[2], 1);
  TensorValues x(in[0].size());
  for (std::uint64_t t = 0; t < call.sides[0]; ++t) {
    const std::uint64_t i = t % chunk;
    for (std::uint64_t h = 0; h < heads; ++h) {
      double* const row = x.data() + (t * heads + h) * chunk;
      row[i] = 1;
      for (std::uint64_t j = 0; j < i; ++j) {
        const double factor = in[0][(t * heads + h) * chunk + j];
        const double* const other = x.data() + ((t - i + j) * heads + h) * chunk;
        for (std::uint64_t c = 0; c <= j; ++c) row[c] -= factor * other[c];
      }
    }
  }
  return {x};
}

TensorsOf wy_tensors(const NormalisedCall& call) {
  const Chunked of(call);
  return {
      {of.keys(call.type), of.values(call.type), of.squares(call.type), of.numbers(), of.numbers()},
      {of.values(call.out_type), of.values(call.out_type)}};
}
Results wy(const NormalisedCall& call, const Inputs& in) {
  const Chunked of(call);
  TensorValues w(of.tokens * of.heads * of.head), u(w.size());
  of.each([&](std::uint64_t i, std::uint64_t h) {
    for (std::uint64_t j = 0; j < of.chunk; ++j) {
      const std::uint64_t other = of.first(i) + j;
      const double by = in[2][of.square(i, h) + j] * in[3][of.number(other, h)];
      const double gate = std::exp(in[4][of.number(other, h)]);
      for (std::uint64_t d = 0; d < of.head; ++d) {
        w[of.value(i, h) + d] += by * gate * in[0][of.key(other, h) + d];
        u[of.value(i, h) + d] += by * in[1][of.value(other, h) + d];
      }
    }
  });
  return {w, u};
}

TensorsOf output_tensors(const NormalisedCall& call) {
  const Chunked of(call);
  const std::uint64_t states = of.tokens / of.chunk * of.heads * of.head;
  return {{of.keys(call.type),
           of.keys(call.type),
           of.values(call.type),
           {states, of.head, call.type},
           of.numbers()},
          {of.values(call.out_type)}};
}
Results output(const NormalisedCall& call, const Inputs& in) {
  const Chunked of(call);
  TensorValues o(of.tokens * of.heads * of.head);
  of.each([&](std::uint64_t i, std::uint64_t h) {
    double* const to = o.data() + of.value(i, h);
    const double gate = in[4][of.number(i, h)];
    const std::uint64_t state = (i / of.chunk * of.heads + h) * of.head * of.head;
    for (std::uint64_t k = 0; k < of.head; ++k) {
      const double q = std::exp(gate) * in[0][of.key(i, h) + k];
      for (std::uint64_t d = 0; d < of.head; ++d) to[d] += q * in[3][state + k * of.head + d];
    }
    for (std::uint64_t j = of.first(i); j <= i; ++j) {
      const double weight = of.dot(in[0], of.key(i, h), in[1], of.key(j, h)) *
                            std::exp(gate - in[4][of.number(j, h)]);
      for (std::uint64_t d = 0; d < of.head; ++d) to[d] += weight * in[2][of.value(j, h) + d];
    }
    for (std::uint64_t d = 0; d < of.head; ++d) to[d] *= double{call.call.scale};
  });
  return {o};
}

// x, mix, and y with gates.
TensorsOf mixed_tensors(const NormalisedCall& call) {
  const std::uint64_t tokens = call.sides[0], streams = call.sides[1], columns = call.sides[2];
  const DataType fp32 = DataType::kFp32;
  TensorsOf all{{{tokens, streams * columns, fp32}, {tokens, streams * streams, fp32}},
                {{tokens, streams * columns, fp32}}};
  if (call.row->name == "mhc_post") {
    all.inputs.push_back({tokens, columns, fp32});
    all.inputs.push_back({tokens, streams, fp32});
  }
  return all;
}
Results mixed(const NormalisedCall& call, const Inputs& in) {
  const std::uint64_t streams = call.sides[1], columns = call.sides[2];
  TensorValues to;
  to.reserve(in[0].size());
  for (std::uint64_t k = 0; k < in[0].size(); ++k) {
    const std::uint64_t token = k / columns / streams, i = k / columns % streams, c = k % columns;
    double sum = in.size() > 2 ? in[3][token * streams + i] * in[2][token * columns + c] : 0;
    for (std::uint64_t j = 0; j < streams; ++j) {
      sum +=
          in[1][(token * streams + i) * streams + j] * in[0][(token * streams + j) * columns + c];
    }
    to.push_back(sum);
  }
  return {to};
}

// In bytes.
TensorsOf mx_tensors(const NormalisedCall& call) {
  const std::uint64_t m = call.sides[0], n = call.sides[1], k = call.sides[2];
  const std::uint64_t bytes = call.row->name == "mxfp4_matmul" ? k / 2 : k;
  return {{{m, bytes, call.type},
           {n, bytes, call.type},
           {m, k / 32, call.type},
           {n, k / 32, call.type}},
          {{m, n, call.out_type}}};
}

constexpr PlainOperator kPlainOperators[] = {
    {"copy", copy_tensors, copied},           {"hadamard", hadamard_tensors, hadamard},
    {"causal_conv1d", conv_tensors, conv},    {"rms_norm_cast", norm_cast_tensors, norm_cast},
    {"chunk_cumsum", cumsum_tensors, cumsum}, {"scaled_dot_kkt", kkt_tensors, kkt},
    {"solve_tril", tril_tensors, tril},       {"wy_fast", wy_tensors, wy},
    {"chunk_o", output_tensors, output},      {"mhc_post", mixed_tensors, mixed},
    {"mhc_res", mixed_tensors, mixed},        {"mxfp8_matmul", mx_tensors, nullptr},
    {"mxfp4_matmul", mx_tensors, nullptr}};

// The tables of operators have no other one.
const PlainOperator& reference_of(const NormalisedCall& call) {
  const auto named = [&](const PlainOperator& row) { return row.name == call.row->name; };
  for (const auto* others : {&choosing_operators(), &routing_operators()}) {
    const auto found = std::find_if(others->begin(), others->end(), named);
    if (found != others->end()) return *found;
  }
  return *std::find_if(std::begin(kPlainOperators), std::end(kPlainOperators) - 1, named);
}

}  // namespace
}  // namespace plain_tensors

OperatorTensors plain_tensors_of(const operators::NormalisedCall& call) {
  if (call.row->described()) return described_tensors(call);
  const auto tensors = plain_tensors::reference_of(call).tensors(call);
  return {plain_tensors::described(tensors.inputs), plain_tensors::described(tensors.results)};
}

bool has_arithmetic(const operators::NormalisedCall& call) {
  return call.row->family != operators::Family::kTensors || call.row->described() ||
         plain_tensors::reference_of(call).expected != nullptr;
}

std::vector<TensorValues> expected_tensors(
    const operators::NormalisedCall& call,
    const std::function<TensorValues(std::size_t)>& values_of) {
  const auto& known = plain_tensors::reference_of(call);
  const std::size_t count = known.tensors(call).inputs.size();
  std::vector<TensorValues> inputs;
  inputs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) inputs.push_back(values_of(i));
  return known.expected(call, inputs);
}

void keep_lower(const OperatorTensor& tensor, ByteSpan bytes) {
  for (std::uint64_t i = 0; tensor.lower != 0 && i < tensor.rows * tensor.columns; ++i) {
    const bool kept = i % tensor.lower < i / tensor.columns % tensor.lower;
    if (!kept) store_element(tensor.type, bytes.data, i, 0);
  }
}

namespace {

constexpr std::uint64_t kNotWritten = 0x7FF8'6E6F'7772'6974;  // no number, and not the usual one

}  // namespace

double not_written() {
  double value = 0;
  std::memcpy(&value, &kNotWritten, sizeof value);
  return value;
}

bool is_written(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits != kNotWritten;
}

}  // namespace npu::workloads
