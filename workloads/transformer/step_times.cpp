// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/step_times.hpp"

namespace npu::workloads::transformer {
namespace {

constexpr Spans StepTimes::*kSpans[] = {
    &StepTimes::duration,      &StepTimes::host,    &StepTimes::card,   &StepTimes::busy,
    &StepTimes::communication, &StepTimes::exposed, &StepTimes::hidden, &StepTimes::gap};

}  // namespace

void StepTimes::set_spans(const operators::KernelSpan& step, const Spans& kernels,
                          const Spans& operations_of_all) {
  duration = Spans(step);
  card = kernels;
  busy = kernels.joined();
  communication = operations_of_all.joined();
  exposed = communication.without(busy);
  hidden = communication.without(exposed);
  gap = duration.without(busy).without(communication);
}

void StepTimes::add(const StepTimes& other) {
  launches += other.launches, operations += other.operations;
  collectives += other.collectives;
  for (const auto spans : kSpans) (this->*spans).add(other.*spans);
  for (const auto& [name, part] : other.parts) {
    parts[name].launches += part.launches;
    parts[name].card.add(part.card);
  }
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].add(other.layers[i]);
}

void StepTimes::keep_time_only() {
  for (const auto spans : kSpans) (this->*spans).keep_time_only();
  for (auto& part : parts) part.second.card.keep_time_only();
  for (auto& layer : layers) layer.keep_time_only();
}

}  // namespace npu::workloads::transformer
