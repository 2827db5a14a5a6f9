// SPDX-License-Identifier: Apache-2.0
// C = A x B on the card: matrices to device memory, one task of many blocks, the result back and
// compared with plain arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/device/shipped/matmul.hpp"
#include "npu/aicore/kernel.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/binary_operation.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/core_limits.hpp"
#include "workloads/programs/support/matrix_check.hpp"

namespace npu::workloads {
namespace programs::matmul {
namespace {

namespace gemm = kernels::gemm;

// With check=auto, products of more multiplications than this are looked at in samples.
constexpr std::uint64_t kFullCheck = std::uint64_t{1} << 27;
constexpr std::uint64_t kSamples = 4096;

constexpr Figure<MatrixError> kChecked[] = {
    {"elements_compared", "", from<&MatrixError::compared>},
    {"max_relative_error",
     "",
     [](const MatrixError& error) -> FigureValue {
       return Number::scaled(static_cast<std::int64_t>(std::llround(error.largest * 1e9)), 9);
     },
     {},
     kNoMore}};
constexpr Figure<Number> kRate[] = {{"tflops", "TFLOP/s", itself}};

class Matmul {
 public:
  Matmul(Context& context, RuntimeSession& session)
      : context_(context),
        device_(session.device()),
        operation_(context, session),
        type_(type_of(context.parameters.choice("type"))),
        to_type_(type_ == DataType::kInt8 ? DataType::kInt32 : type_) {
    const auto size = [&](const char* name) {
      return static_cast<std::uint32_t>(context.parameters.integer(name));
    };
    p_.m = size("m"), p_.n = size("n"), p_.k = size("k");
    p_.lda = p_.k;
    p_.ldb = p_.ldc = p_.n;
    p_.type = type_;
    p_.to_type = to_type_;
    const auto& copies = context.parameters.choice("copies");
    copies_ = copies == "on" || (copies == "auto" && context.functional);
  }

  Status prepare() {
    const auto ok = operation_.prepare(type_, bytes(p_.m, p_.k, type_), bytes(p_.k, p_.n, type_),
                                       bytes(p_.m, p_.n, to_type_), copies_);
    if (!ok) return ok;
    if (auto room =
            require_host_memory(fmt::format("m={} n={} k={}", p_.m, p_.n, p_.k), host_memory());
        !room) {
      return room;
    }
    p_.a = operation_.a().address.value;
    p_.b = operation_.b().address.value;
    p_.c = operation_.c().address.value;
    gemm::choose_tiles(p_, operation_.clusters(), core_limits(context_, gemm::kA2));
    const std::uint64_t tiles = kernels::matmul::scheduler_of(p_.m, p_.n, p_.tiling).tiles();
    blocks_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles, operation_.clusters()));
    return {};
  }

  // From matrices in host memory to the product there.
  Status multiply() {
    return operation_.run([this] {
      if (empty()) return Status{};
      if (p_.k == 0) return zero_result();
      const auto words = gemm::to_words(p_);
      return operation_.launch(driver::TaskShape::kAic, {words.begin(), words.end()}, blocks_);
    });
  }

  Status check() {
    if (!is_checked()) return {};
    const bool all = is_checked_fully();
    const auto a = operation_.contents(operation_.a()), b = operation_.contents(operation_.b());
    const MatrixProduct product{p_.m,
                                p_.n,
                                p_.k,
                                type_,
                                to_type_,
                                {a.data(), a.size()},
                                {b.data(), b.size()},
                                {operation_.result(), operation_.c().size}};
    auto error = check_product(product, all ? 0 : kSamples, context_.seed);
    if (!error) return forward_error(error);
    report_figures(context_, "matmul.", kChecked, *error);
    return {};
  }

  void report() {
    auto& out = context_.report;
    const auto duration = static_cast<std::uint64_t>(operation_.breakdown().cores().count());
    const std::uint64_t operations = 2 * std::uint64_t{p_.m} * p_.n * p_.k;
    // Operations per picosecond are 10^12 of them per second.
    operation_.report("matmul.", kRate, Number::quotient(operations, duration, 3),
                      empty() ? 0 : blocks_);
    if (!empty()) operation_.breakdown().report("matmul.", context_);
    operation_.report_host_parts("matmul.");
    operation_.report_limits("matmul", operations);
    out.add_note(fmt::format(
        "{} x {} x {} {}: tiles {} x {} x {} in L1, {} in L0 along K, {} blocks", p_.m, p_.n, p_.k,
        name_of(type_), p_.tiling.m, p_.tiling.n, p_.tiling.k, p_.tiling.l0_k, blocks_));
  }

 private:
  static Bytes bytes(std::uint64_t rows, std::uint64_t columns, DataType type) {
    return rows * columns * platform::bytes_of(type);
  }
  bool empty() const { return p_.m == 0 || p_.n == 0; }

  bool is_checked() const {
    return context_.functional && copies_ && context_.parameters.choice("check") != "none";
  }
  bool is_checked_fully() const {
    const auto& how = context_.parameters.choice("check");
    const std::uint64_t work = std::uint64_t{p_.m} * p_.n * p_.k;
    return how == "full" || (how == "auto" && work <= kFullCheck);
  }

  // What the simulator keeps of the matrices: in device memory, C in host memory, and what the
  // check makes of A and B once more, in full as doubles, too.
  Bytes host_memory() const {
    const Bytes a = bytes(p_.m, p_.k, type_), b = bytes(p_.k, p_.n, type_);
    const Bytes c = bytes(p_.m, p_.n, to_type_);
    Bytes all = 0;
    if (copies_) all += a + b + c + (context_.functional ? c : 0);
    if (!is_checked()) return all;
    const Bytes elements = Bytes{p_.m} * p_.k + Bytes{p_.k} * p_.n;
    return all + a + b + (is_checked_fully() ? elements * sizeof(double) : 0);
  }

  // A sum of nothing.
  Status zero_result() {
    const std::vector<std::byte> zeros(bytes(p_.m, p_.n, to_type_));
    return device_.copy_to_device({p_.c}, {zeros.data(), zeros.size()});
  }

  Context& context_;
  driver::DeviceContext& device_;
  BinaryOperation operation_;
  DataType type_, to_type_;
  bool copies_ = false;
  gemm::Problem p_;
  std::uint32_t blocks_ = 0;
};

Status run(Context& context) {
  auto session = RuntimeSession::open(context, {"matmul"});
  if (!session) return forward_error(session);
  Matmul matmul(context, **session);
  if (auto ok = matmul.prepare(); !ok) return ok;
  if (auto ok = matmul.multiply(); !ok) return ok;
  if (auto ok = matmul.check(); !ok) return ok;
  matmul.report();
  return (*session)->close();
}

}  // namespace
}  // namespace programs::matmul

Workload matmul() {
  constexpr std::uint64_t kLargest = 1 << 20;
  std::vector<ParameterSpec> parameters = {
      {"m", ParameterType::kInteger, "", "1024", "rows of A and C", 0, kLargest},
      {"n", ParameterType::kInteger, "", "1024", "columns of B and C", 0, kLargest},
      {"k", ParameterType::kInteger, "", "1024", "columns of A, rows of B", 0, 262'144},
      choice_parameter("type", "fp16", "of A and B; C is alike, int32 for int8",
                       {"fp16", "bf16", "fp32", "int8"}),
      choice_parameter("copies", "auto",
                       "A and B to the card, C back; auto: if the cores compute (core.functional)",
                       {"auto", "on", "off"}),
      choice_parameter("check", "auto", "how much of C is compared with plain arithmetic",
                       {"auto", "full", "sample", "none"}),
      card_parameter()};
  for (auto& parameter : run_parameters()) parameters.push_back(std::move(parameter));
  return {"matmul", "Matrix multiplication by task graph, scheduler firmware and AI Cores",
          std::move(parameters), programs::matmul::run,
          figure_rows(programs::matmul::kChecked, programs::matmul::kRate)};
}

}  // namespace npu::workloads
