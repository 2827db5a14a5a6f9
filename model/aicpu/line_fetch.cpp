// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/line_fetch.hpp"

namespace npu::model {

void LineFetch::fetch(std::uint64_t begin) {
  using Access = AicpuShared::Access;
  requests_.translate(Access::kTranslateRead, begin);
  requests_.await_writes(begin, CoherentCache::kLine);
  thread_.synchronise();
  rounds_.acted();
  in_flight_ = true;
  at_ = begin;
  shared_.caches(number_, thread_.space(), begin);
  sample();
  requests_.await_answer(Access::kRead, begin, CoherentCache::kLine);
  in_flight_ = false;
  requests_.check_answer(Access::kRead, begin);
}

void LineFetch::sample() {
  valid_ = shared_.memory.read(thread_.space(), at_, bytes_.data(), bytes_.size()) ==
           Completion::kSuccess;
}

}  // namespace npu::model
