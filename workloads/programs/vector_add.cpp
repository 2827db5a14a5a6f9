// SPDX-License-Identifier: Apache-2.0
// C = A + B on the card's vector units, element by element compared.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/kernels/vector/words.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/run_breakdown.hpp"
#include "workloads/programs/support/runtime_session.hpp"

namespace npu::workloads {

namespace {

constexpr driver::KernelId kElementwise{0};
// Less than this is not worth one more core.
constexpr Bytes kSmallestBlock = 512;

class VectorAdd {
 public:
  VectorAdd(Context& context, RuntimeSession& session)
      : context_(context),
        session_(session),
        type_(type_of(context.parameters.choice("type"))),
        count_(context.parameters.integer("elements")),
        bytes_(count_ * platform::bytes_of(type_)),
        a_(bytes_),
        b_(bytes_),
        c_(bytes_) {}

  Status prepare() {
    fill_exact(type_, {a_.data(), a_.size()}, context_.seed);
    fill_exact(type_, {b_.data(), b_.size()}, context_.seed + 1);
    for (auto* address : {&work_.a, &work_.b, &work_.to}) {
      auto memory = session_.allocate(std::max<Bytes>(bytes_, 1));
      if (!memory) return forward_error(memory);
      *address = memory->value;
    }
    work_.count = count_;
    work_.op = platform::VectorOp::kAdd;
    work_.type = type_;
    options_ = run_options(context_.parameters);
    auto& device = session_.device();
    const unsigned clusters = options_.block_dim != 0 ? options_.block_dim : device.clusters();
    const Bytes cores = clusters * std::max(device.vector_cores(), 1U);
    blocks_ = static_cast<std::uint32_t>(
        std::clamp<Bytes>((bytes_ + kSmallestBlock - 1) / kSmallestBlock, 1, cores));
    return {};
  }

  Status add() {
    auto& device = session_.device();
    auto& clock = context_.platform.clock();
    const Picoseconds begin = clock.now();
    if (auto ok = device.copy_to_device({work_.a}, {a_.data(), a_.size()}); !ok) return ok;
    if (auto ok = device.copy_to_device({work_.b}, {b_.data(), b_.size()}); !ok) return ok;
    std::vector<driver::TaskArgument> arguments;
    for (const auto word : kernels::vector::to_words(work_)) {
      arguments.push_back(driver::scalar(word));
    }
    driver::TaskOptions options;
    options.blocks = blocks_;
    driver::TaskGraph graph;
    auto task = graph.add(kElementwise, driver::TaskShape::kAiv, arguments, options);
    if (!task) return forward_error(task);
    {
      const TraceSession listening(context_.trace, breakdown_);
      auto run = device.run(graph, options_);
      if (!run) return forward_error(run);
      if (auto ok = breakdown_.finish(*run); !ok) return ok;
    }
    if (auto ok = device.copy_from_device({c_.data(), c_.size()}, {work_.to}); !ok) return ok;
    host_to_host_ = clock.now() - begin;
    return {};
  }

  // The inputs are small multiples of 1/64: their sums are exact in every type.
  Status check() const {
    if (!context_.functional) return {};
    for (std::uint64_t i = 0; i < count_; ++i) {
      const double expected = load_element(type_, a_.data(), i) + load_element(type_, b_.data(), i);
      const double found = load_element(type_, c_.data(), i);
      if (found == expected) continue;
      return fail(ErrorCode::kDeviceFault,
                  fmt::format("element {} of {} is {}, expected {}", i, count_, found, expected));
    }
    return {};
  }

  void report() {
    auto& out = context_.report;
    const Picoseconds duration = breakdown_.cores();
    out.add_metric("vector_add.duration_us", Number::microseconds(duration), "us");
    out.add_metric("vector_add.bandwidth_gb_per_s", Number::gb_per_s(3 * bytes_, duration), "GB/s");
    out.add_metric("vector_add.host_to_host_us", Number::microseconds(host_to_host_), "us");
    out.add_metric("vector_add.blocks", Number::count(blocks_), "");
    breakdown_.report("vector_add", out);
    out.add_note(fmt::format("{} elements of {}: two read and one written each; {}", count_,
                             name_of(type_),
                             context_.functional ? "every one compared" : "not compared"));
  }

 private:
  Context& context_;
  RuntimeSession& session_;
  DataType type_;
  std::uint64_t count_;
  Bytes bytes_;
  std::vector<std::byte> a_, b_, c_;
  kernels::vector::Elementwise work_;
  std::uint32_t blocks_ = 0;
  driver::RunOptions options_;
  RunBreakdown breakdown_;
  Picoseconds host_to_host_;
};

Status run(Context& context) {
  auto session = RuntimeSession::open(context, {"elementwise"});
  if (!session) return forward_error(session);
  VectorAdd add(context, **session);
  if (auto ok = add.prepare(); !ok) return ok;
  if (auto ok = add.add(); !ok) return ok;
  if (auto ok = add.check(); !ok) return ok;
  add.report();
  return (*session)->close();
}

}  // namespace

Workload vector_add() {
  std::vector<ParameterSpec> parameters = {
      {"elements", ParameterType::kInteger, "", "1048576", "of each tensor", 1, 1ULL << 30},
      {"type", ParameterType::kChoice, "", "fp32", "of all three", 0, 0, {"fp16", "fp32"}},
      card_parameter()};
  for (auto& parameter : run_parameters()) parameters.push_back(std::move(parameter));
  return {"vector_add", "Sum of two tensors on the vector units", std::move(parameters), run};
}

}  // namespace npu::workloads
