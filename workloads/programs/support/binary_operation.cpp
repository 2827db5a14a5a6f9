// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/binary_operation.hpp"
#include "workloads/framework/figures.hpp"

#include <algorithm>

#include "workloads/framework/limits.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kPiece = 4_MiB;  // what the runtime copies at once

struct Operated {
  MeasuredSpan host_to_host;
  Bytes hbm_bytes;
  std::uint32_t blocks;
};

constexpr Figure<RunBreakdown> kOfCores[] = {
    {"duration_us", "us", from<&RunBreakdown::measured_cores>}};
constexpr Figure<Operated> kOfOperation[] = {
    {"host_to_host_us", "us", from<&Operated::host_to_host>},
    {"hbm_bytes", "B", from<&Operated::hbm_bytes>},
    {"blocks", "", from<&Operated::blocks>}};

}  // namespace

// The card is asked first: what it has no room for is its error, not the host's.
Status BinaryOperation::prepare(platform::DataType type, Bytes a, Bytes b, Bytes c, bool copies) {
  for (auto [operand, size] : {std::pair{&a_, a}, {&b_, b}, {&c_, c}}) {
    auto memory = session_.allocate(std::max<Bytes>(size, 1));
    if (!memory) return forward_error(memory);
    operand->address = *memory;
    operand->size = size;
  }
  type_ = type;
  copies_ = copies;
  a_.seed = context_.seed;
  b_.seed = context_.seed + 1;
  return {};
}

std::vector<std::byte> BinaryOperation::contents(const Operand& operand) const {
  return contents(operand, 0, operand.size / platform::bytes_of(type_));
}

std::vector<std::byte> BinaryOperation::contents(const Operand& operand, std::uint64_t first,
                                                 std::uint64_t count) const {
  std::vector<std::byte> bytes(count * platform::bytes_of(type_));
  fill_exact(type_, {bytes.data(), bytes.size()}, operand.seed, first);
  return bytes;
}

Status BinaryOperation::copy_in(const Operand& operand) {
  std::vector<std::byte> piece(std::min(operand.size, kPiece));
  for (Bytes done = 0; done < operand.size; done += kPiece) {
    const Bytes length = std::min(operand.size - done, kPiece);
    fill_exact(type_, {piece.data(), length}, operand.seed, done / platform::bytes_of(type_));
    auto ok = session_.device().copy_to_device(operand.address + done, {piece.data(), length});
    if (!ok) return ok;
  }
  return {};
}

unsigned BinaryOperation::clusters() const {
  return options_.block_dim != 0 ? options_.block_dim : session_.device().clusters();
}

Status BinaryOperation::run(const std::function<Status()>& launch) {
  auto& device = session_.device();
  auto& clock = context_.platform.clock();
  const Instant begin = clock.now();
  for (const auto* from : {&a_, &b_}) {
    if (!copies_) continue;
    if (auto ok = copy_in(*from); !ok) return ok;
  }
  copied_in_ = clock.now();
  if (auto ok = launch(); !ok) return ok;
  if (copies_) {
    result_.reset(new std::byte[c_.size]);  // not zeroed: all of it is written
    if (auto ok = device.copy_from_device({result_.get(), c_.size}, c_.address); !ok) return ok;
  }
  host_to_host_ = {begin, clock.now()};
  return {};
}

Status BinaryOperation::launch(driver::TaskShape shape, const std::vector<std::uint64_t>& words,
                               std::uint32_t blocks) {
  std::vector<driver::TaskArgument> arguments;
  arguments.reserve(words.size());
  for (const auto word : words) arguments.push_back(driver::scalar(word));
  driver::TaskOptions options;
  options.blocks = blocks;
  driver::TaskGraph graph;
  auto task = graph.add(driver::KernelId{0}, shape, arguments, options);
  if (!task) return forward_error(task);
  const TraceSession listening(context_.trace, breakdown_);
  limits_.emplace(context_);
  const TraceSession watching(context_.trace, *limits_);
  const auto before = take_snapshot(context_.simulator);
  auto run = session_.device().run(graph, options_);
  if (!run) return forward_error(run);
  hbm_bytes_ = memory_traffic(difference(before, take_snapshot(context_.simulator)),
                              context_.parameters.integer("card"));
  limits_->ended(context_);
  return breakdown_.finish(*run);
}

// They follow each other, so that they add up.
void BinaryOperation::report_host_parts(const std::string& prefix) const {
  const auto run = breakdown_.run_span();
  if (!run) return;
  std::vector<Breakdown::Part> parts;
  Instant last = host_to_host_.begin;
  for (const auto& [name, when] : {std::pair{"copy_in", copied_in_},
                                   {"build", run->begin},
                                   {"run", run->end},
                                   {"copy_out", host_to_host_.end}}) {
    parts.push_back({name, when - last});
    last = when;
  }
  report_parts(context_, prefix + "host.", "us", parts, host_to_host_.begin,
               {"From host memory to host memory"});
}

// What was measured on silicon are kernels launched by themselves.
void BinaryOperation::report_limits(const std::string& subject,
                                    std::optional<std::uint64_t> operations) {
  const auto cores = breakdown_.cores_span();
  if (!cores || !limits_) return;
  limits_->report({subject, subject + ".duration_us", "", operations}, cores->begin, cores->end,
                  context_);
}

void BinaryOperation::report(const std::string& prefix, const Figure<Number> (&rate)[1],
                             const Number& value, std::uint32_t blocks) const {
  report_figures(context_, prefix, kOfCores, breakdown_);
  report_figures(context_, prefix, rate, value);
  report_figures(context_, prefix, kOfOperation, {host_to_host_, hbm_bytes_, blocks});
  auto& out = context_.report;
  auto& results = out.add_table("results", {"name", "value", "unit"});
  for (const auto& metric : out.metrics()) {
    results.rows.push_back({metric.name, metric.value.text(), metric.unit});
  }
}

}  // namespace npu::workloads
