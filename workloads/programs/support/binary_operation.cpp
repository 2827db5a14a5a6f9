// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/binary_operation.hpp"

#include <algorithm>

#include "workloads/framework/limits.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kPiece = 4_MiB;  // what the runtime copies at once

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
  const TraceSession watching(context_.trace, limits_);
  const auto before = take_snapshot(context_.simulator);
  auto run = session_.device().run(graph, options_);
  if (!run) return forward_error(run);
  hbm_bytes_ = memory_traffic(difference(before, take_snapshot(context_.simulator)),
                              context_.parameters.integer("card"));
  return breakdown_.finish(*run);
}

// They follow each other, so that they add up.
void BinaryOperation::report_parts(const std::string& prefix) const {
  const auto run = breakdown_.run_span();
  if (!run) return;
  const std::pair<const char*, Instant> milestones[] = {{"copy_in", copied_in_},
                                                        {"build", run->begin},
                                                        {"run", run->end},
                                                        {"copy_out", host_to_host_.end}};
  auto& out = context_.report;
  auto& table = out.add_table("From host memory to host memory", {"part", "us"});
  std::vector<Breakdown::Part> parts;
  Instant last = host_to_host_.begin;
  for (const auto& [name, when] : milestones) {
    parts.push_back({name, when - last});
    last = when;
    const auto time = Number::microseconds(parts.back().time);
    out.add_metric(prefix + ".host." + name + "_us", time, "us");
    table.rows.push_back({name, time.text()});
  }
  table.rows.push_back(
      {"total", Number::microseconds(host_to_host_.end - host_to_host_.begin).text()});
  mark_parts(context_.platform.tracer(), prefix + ".host.", "_us", parts, host_to_host_.begin);
}

void BinaryOperation::report_limits(const std::string& prefix) {
  const auto cores = breakdown_.cores_span();
  if (cores) limits_.report(prefix, cores->begin, cores->end, context_);
}

void BinaryOperation::report(const std::string& prefix, const Metric& rate,
                             std::uint32_t blocks) const {
  auto& out = context_.report;
  out.add_metric(prefix + ".duration_us", Number::microseconds(breakdown_.cores()), "us");
  out.add_metric(rate.name, rate.value, rate.unit);
  out.add_metric(prefix + ".host_to_host_us",
                 Number::microseconds(host_to_host_.end - host_to_host_.begin), "us");
  auto& tracer = context_.platform.tracer();
  breakdown_.mark_cores(tracer, prefix + ".duration_us");
  mark(tracer, prefix + ".host_to_host_us", host_to_host_);
  out.add_metric(prefix + ".hbm_bytes", Number::count(hbm_bytes_), "B");
  out.add_metric(prefix + ".blocks", Number::count(blocks), "");
  auto& results = out.add_table("results", {"name", "value", "unit"});
  for (const auto& metric : out.metrics()) {
    results.rows.push_back({metric.name, metric.value.text(), metric.unit});
  }
}

}  // namespace npu::workloads
