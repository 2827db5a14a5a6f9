// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/copy_chain.hpp"

#include <algorithm>

namespace npu::model {

using platform::BeganAfter;
using platform::PipeDetail;

PipeDetail CopyChain::Path::detail(platform::Pipe pipe, platform::PipeOperation operation) const {
  const auto share = [this](SimTime part) {
    const SimTime whole = end - begin;
    if (whole == 0) return std::uint8_t{0};
    return static_cast<std::uint8_t>(std::min(part, whole) * PipeDetail::kWhole / whole);
  };
  PipeDetail detail;
  detail.pipe = pipe;
  detail.operation = operation;
  detail.after = began.after;
  detail.flag = began.flag;
  detail.mmu = share(mmu);
  detail.l2 = share(l2);
  detail.hbm = share(hbm);
  detail.way = share(way);
  return detail;
}

// Behind its own pipe: behind the last request that left or, where the pipe waited for copies to
// end, behind the last of them.
void CopyChain::begin(const Began& began) {
  const bool known = at_.end != 0 || ended_.end != 0;
  if (began.after != BeganAfter::kOwn || !known) {
    at_ = {};
    at_.begin = at_.end = sim_now();
    at_.began = began;
  } else if (answered_.end == sim_now() || ended_.end == sim_now()) {
    at_ = ended_.end == sim_now() ? ended_ : answered_;
  }
  stalled_ = false;
  advance();
}

void CopyChain::advance() {
  at_.end = std::max(at_.end, sim_now());
}

void CopyChain::sent() {
  if (stalled_ && answered_.end == sim_now()) at_ = answered_;
  stalled_ = false;
  advance();
  if (sent_.size() == kMost) sent_.pop_front();
  sent_.push_back(at_);
}

void CopyChain::sent_again(Path path) {
  path.mmu += sim_now() - path.end;
  path.end = sim_now();
  if (sent_.size() == kMost) sent_.pop_front();
  sent_.push_back(path);
}

CopyChain::Path CopyChain::answered(const RequestTimes& times) {
  const auto known =
      std::lower_bound(sent_.begin(), sent_.end(), times.issued,
                       [](const Path& path, SimTime issued) { return path.end < issued; });
  Path path;
  if (known != sent_.end() && known->end == times.issued) {
    path = *known;
    sent_.erase(known);
  } else {  // nobody listened when it left
    path.begin = path.end = times.issued;
    path.began.after = BeganAfter::kIssue;
  }
  const SimTime now = sim_now();
  const SimTime translated = std::clamp(times.translated, path.end, now);
  const SimTime filled = std::clamp(times.hbm_until, translated, now);
  path.mmu += translated - path.end;
  path.hbm += filled - translated;
  path.l2 += now - filled;
  path.end = now;
  answered_ = path;
  return path;
}

void CopyChain::ended(Path path, SimTime end) {
  if (end > path.end) {
    path.way += end - path.end;
    path.end = end;
  }
  ended_ = path;
}

CopyChain::Path CopyChain::moved(SimTime end) const {
  Path path = at_;
  path.end = std::max(path.end, end);
  return path;
}

void CopyChain::clear() {
  at_ = answered_ = ended_ = {};
  sent_.clear();
  stalled_ = false;
}

}  // namespace npu::model
