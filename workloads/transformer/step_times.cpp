// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/step_times.hpp"

#include <algorithm>

namespace npu::workloads::transformer {
namespace {

// Spans that overlap count once.
Picoseconds covered(std::vector<operators::KernelSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Picoseconds sum;
  Instant end;
  for (const auto& span : spans) {
    const Instant from = std::max(span.begin, end);
    if (span.end <= from) continue;
    sum += span.end - from;
    end = span.end;
  }
  return sum;
}

Picoseconds sum_of(const std::vector<operators::KernelSpan>& spans) {
  Picoseconds sum;
  for (const auto& span : spans) sum += span.end - span.begin;
  return sum;
}

}  // namespace

void StepTimes::set_spans(const std::vector<operators::KernelSpan>& kernels,
                          const std::vector<operators::KernelSpan>& operations_of_all) {
  card = sum_of(kernels);
  busy = covered(kernels);
  communication = covered(operations_of_all);
  auto all = kernels;
  all.insert(all.end(), operations_of_all.begin(), operations_of_all.end());
  exposed = covered(std::move(all)) - busy;
}

void StepTimes::add(const StepTimes& other) {
  launches += other.launches, operations += other.operations;
  duration += other.duration, host += other.host;
  card += other.card, busy += other.busy;
  communication += other.communication, exposed += other.exposed;
  collectives += other.collectives;
  for (const auto& [name, part] : other.parts) {
    parts[name].launches += part.launches;
    parts[name].card += part.card;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i] += other.layers[i];
}

}  // namespace npu::workloads::transformer
