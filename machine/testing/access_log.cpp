// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/access_log.hpp"

namespace npu::testkit {
namespace {

bool fits(const When& when, const Access& access) {
  if (when.access != access.kind) return false;
  if (when.name.empty() || when.name == access.name) return true;
  // "DMA_RING" stands for every entry of it.
  return access.name.size() > when.name.size() && access.name[when.name.size()] == '[' &&
         access.name.compare(0, when.name.size(), when.name) == 0;
}

}  // namespace

void AccessLog::before(Access& access) {
  std::vector<Fault> due;
  for (auto it = armed_.begin(); it != armed_.end();) {
    if (fits(it->when, access) && ++it->seen == it->when.nth) {
      due.push_back(it->fault);
      it = armed_.erase(it);
    } else {
      ++it;
    }
  }
  for (const auto& fault : due) begin_(fault);
  if (other_ != nullptr) other_->before(access);
}

void AccessLog::after(const Access& access) {
  for (auto* record : records_) record->add(access);
  if (other_ != nullptr) other_->after(access);
}

void AccessLog::on_event(const platform::TraceEvent& event) {
  if (event.activity != platform::Activity::kInterrupt) return;
  Access access;
  access.kind = AccessKind::kInterrupt;
  access.begin = event.begin;
  access.end = event.end;
  access.value = event.detail;
  after(access);
}

}  // namespace npu::testkit
