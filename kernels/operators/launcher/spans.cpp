// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/launcher/spans.hpp"

#include <algorithm>

namespace npu::operators {

void Spans::add(const KernelSpan& span) {
  if (span.end <= span.begin) return;
  all_.push_back(span);
  time_ += span.end - span.begin;
}

void Spans::add(const Spans& other) {
  all_.insert(all_.end(), other.all_.begin(), other.all_.end());
  time_ += other.time_;
}

Spans Spans::joined() const {
  auto sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Spans result;
  for (auto span = sorted.begin(); span != sorted.end();) {
    KernelSpan whole = *span;
    while (++span != sorted.end() && span->begin <= whole.end) {
      whole.end = std::max(whole.end, span->end);
    }
    result.add(whole);
  }
  return result;
}

Spans Spans::without(const Spans& taken) const {
  const auto holes = taken.joined();
  Spans result;
  auto hole = holes.all_.begin();
  for (auto span : joined().all_) {
    while (hole != holes.all_.end() && hole->end <= span.begin) ++hole;
    for (auto next = hole; next != holes.all_.end() && next->begin < span.end; ++next) {
      result.add({span.begin, next->begin, span.cause});
      span.begin = std::max(span.begin, next->end);
    }
    result.add(span);
  }
  return result;
}

}  // namespace npu::operators
