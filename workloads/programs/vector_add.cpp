// SPDX-License-Identifier: Apache-2.0
// C = A + B on the card's vector units, element by element compared.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/device/shipped/elementwise.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/binary_operation.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {
namespace programs::vector_add {
namespace {

// Less than this is not worth one more core.
constexpr Bytes kSmallestBlock = 512;
constexpr Bytes kCheckedPiece = 4_MiB;

constexpr Figure<Number> kRate[] = {{"bandwidth_gb_per_s", "GB/s", itself}};

class VectorAdd {
 public:
  VectorAdd(Context& context, RuntimeSession& session)
      : context_(context),
        operation_(context, session),
        type_(type_of(context.parameters.choice("type"))),
        count_(context.parameters.integer("elements")),
        bytes_(count_ * platform::bytes_of(type_)),
        cores_(operation_.clusters() * std::max(session.device().vector_cores(), 1U)),
        blocks_(static_cast<std::uint32_t>(
            std::clamp<Bytes>((bytes_ + kSmallestBlock - 1) / kSmallestBlock, 1, cores_))) {}

  Status add() {
    if (auto ok = operation_.prepare(type_, bytes_, bytes_, bytes_, true); !ok) return ok;
    // The tensors in device memory, where the sum is zeros unless the cores compute, and the copy
    // of the sum.
    const auto what = fmt::format("elements={}", count_);
    const Bytes tensors = context_.functional ? 4 : 3;
    if (auto ok = require_host_memory(what, tensors * bytes_); !ok) return ok;
    kernels::vector::Elementwise work;
    work.a = operation_.a().address.value;
    work.b = operation_.b().address.value;
    work.to = operation_.c().address.value;
    work.count = count_;
    work.op = platform::VectorOp::kAdd;
    work.type = type_;
    const auto words = kernels::vector::to_words(work);
    return operation_.run([&] {
      return operation_.launch(driver::TaskShape::kAiv, {words.begin(), words.end()}, blocks_);
    });
  }

  // The inputs are small multiples of 1/64: their sums are exact in every type.
  Status check() const {
    if (!context_.functional) return {};
    const std::uint64_t piece = kCheckedPiece / platform::bytes_of(type_);
    for (std::uint64_t first = 0; first < count_; first += piece) {
      if (auto ok = check(first, std::min(count_ - first, piece)); !ok) return ok;
    }
    return {};
  }

  void report() {
    auto& out = context_.report;
    const auto rate = Number::gb_per_s(3 * bytes_, operation_.breakdown().cores());
    operation_.report("vector_add.", kRate, rate, blocks_);
    operation_.breakdown().report("vector_add.", context_);
    operation_.report_host_parts("vector_add.");
    operation_.report_limits("vector_add");
    out.add_note(fmt::format("{} elements of {}: two read and one written each; {}", count_,
                             name_of(type_),
                             context_.functional ? "every one compared" : "not compared"));
  }

 private:
  Status check(std::uint64_t first, std::uint64_t count) const {
    const auto a = operation_.contents(operation_.a(), first, count);
    const auto b = operation_.contents(operation_.b(), first, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double expected = load_element(type_, a.data(), i) + load_element(type_, b.data(), i);
      const double found = load_element(type_, operation_.result(), first + i);
      if (found == expected) continue;
      return fail(ErrorCode::kWrongData, fmt::format("element {} of {} is {}, expected {}",
                                                     first + i, count_, found, expected));
    }
    return {};
  }

  Context& context_;
  BinaryOperation operation_;
  const DataType type_;
  const std::uint64_t count_;
  const Bytes bytes_, cores_;
  const std::uint32_t blocks_;
};

Status run(Context& context) {
  auto session = RuntimeSession::open(context, {"elementwise"});
  if (!session) return forward_error(session);
  VectorAdd add(context, **session);
  if (auto ok = add.add(); !ok) return ok;
  if (auto ok = add.check(); !ok) return ok;
  add.report();
  return (*session)->close();
}

}  // namespace
}  // namespace programs::vector_add

Workload vector_add() {
  std::vector<ParameterSpec> parameters = {
      {"elements", ParameterType::kInteger, "", "1048576", "of each tensor", 1, 1ULL << 30},
      choice_parameter("type", "fp32", "of all three", {"fp16", "fp32"}),
      card_parameter()};
  for (auto& parameter : run_parameters()) parameters.push_back(std::move(parameter));
  return {"vector_add", "Sum of two tensors on the vector units", std::move(parameters),
          programs::vector_add::run, figure_rows(programs::vector_add::kRate)};
}

}  // namespace npu::workloads
