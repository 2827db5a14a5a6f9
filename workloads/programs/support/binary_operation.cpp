// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/binary_operation.hpp"

#include <algorithm>

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

// The card is asked first: what it has no room for is its error, not the host's.
Status BinaryOperation::prepare(platform::DataType type, Bytes a, Bytes b, Bytes c, bool copies) {
  for (auto [operand, size] : {std::pair{&a_, a}, {&b_, b}, {&c_, c}}) {
    auto memory = session_.allocate(std::max<Bytes>(size, 1));
    if (!memory) return forward_error(memory);
    operand->address = *memory;
    operand->size = size;
  }
  if (!copies) return {};
  for (auto* operand : {&a_, &b_, &c_}) operand->host.resize(operand->size);
  fill_exact(type, {a_.host.data(), a_.size}, context_.seed);
  fill_exact(type, {b_.host.data(), b_.size}, context_.seed + 1);
  return {};
}

unsigned BinaryOperation::clusters() const {
  return options_.block_dim != 0 ? options_.block_dim : session_.device().clusters();
}

Status BinaryOperation::run(const std::function<Status()>& launch) {
  auto& device = session_.device();
  auto& clock = context_.platform.clock();
  const Picoseconds begin = clock.now();
  for (auto* from : {&a_, &b_}) {
    if (from->host.empty()) continue;
    const ConstByteSpan bytes{from->host.data(), from->size};
    if (auto ok = device.copy_to_device(from->address, bytes); !ok) return ok;
  }
  if (auto ok = launch(); !ok) return ok;
  if (!c_.host.empty()) {
    if (auto ok = device.copy_from_device({c_.host.data(), c_.size}, c_.address); !ok) return ok;
  }
  host_to_host_ = clock.now() - begin;
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
  auto run = session_.device().run(graph, options_);
  if (!run) return forward_error(run);
  return breakdown_.finish(*run);
}

void BinaryOperation::report(const std::string& prefix, const Metric& rate,
                             std::uint32_t blocks) const {
  auto& out = context_.report;
  out.add_metric(prefix + ".duration_us", Number::microseconds(breakdown_.cores()), "us");
  out.add_metric(rate.name, rate.value, rate.unit);
  out.add_metric(prefix + ".host_to_host_us", Number::microseconds(host_to_host_), "us");
  out.add_metric(prefix + ".blocks", Number::count(blocks), "");
}

}  // namespace npu::workloads
