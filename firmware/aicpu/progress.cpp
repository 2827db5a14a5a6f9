// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/progress.hpp"

namespace npu::firmware {

ThreadProgress Progress::of(unsigned thread) const {
  ThreadProgress progress;
  const std::uint64_t line = run_.thread_line(scratch::kProgress, thread);
  const std::uint64_t counts = port_.load(line, 8);
  progress.completed = static_cast<std::uint32_t>(counts);
  progress.lanes = static_cast<std::uint32_t>(counts >> 32);
  const std::uint64_t idle = port_.load(line + offsetof(ThreadProgress, idle_aic), 4);
  progress.idle_aic = static_cast<std::uint16_t>(idle);
  progress.idle_aiv = static_cast<std::uint16_t>(idle >> 16);
  return progress;
}

bool Progress::all_ended() const {
  std::uint32_t completed = completed_;
  for (unsigned i = 0; i < run_.header().threads; ++i) {
    if (i != thread_) completed += of(i).completed;
  }
  return completed == run_.header().tasks;
}

unsigned Progress::idle_elsewhere(abi::TaskShape shape) const {
  unsigned idle = 0;
  for (unsigned i = 0; i < run_.header().threads; ++i) {
    if (i == thread_) continue;
    const auto progress = of(i);
    idle += shape == abi::TaskShape::kAic ? progress.idle_aic : progress.idle_aiv;
  }
  return idle;
}

std::uint64_t Progress::moves() const {
  std::uint64_t moves = std::uint64_t{completed_} + lanes_ + copied_;
  for (unsigned i = 1; thread_ == 0 && i < run_.header().threads; ++i) {
    const auto other = of(i);
    moves += std::uint64_t{other.completed} + other.lanes;
    if (run_.header().dump_count == 0) continue;
    const std::uint64_t line = run_.thread_line(scratch::kProgress, i);
    moves += run_.load32(line + offsetof(ThreadProgress, copied));
  }
  return moves;
}

void Progress::note_copied() {
  const std::uint64_t line = run_.thread_line(scratch::kProgress, thread_);
  run_.store32(line + offsetof(ThreadProgress, copied), ++copied_);
}

void Progress::publish(const Cores& cores) {
  if (run_.header().threads == 1) return;
  const std::uint64_t line = run_.thread_line(scratch::kProgress, thread_);
  if (published_.completed != completed_ || published_.lanes != lanes_) {
    published_.completed = completed_;
    published_.lanes = lanes_;
    port_.store(line, 8, completed_ | std::uint64_t{lanes_} << 32);
  }
  const auto aic = static_cast<std::uint16_t>(cores.idle(abi::TaskShape::kAic));
  const auto aiv = static_cast<std::uint16_t>(cores.idle(abi::TaskShape::kAiv));
  if (published_.idle_aic == aic && published_.idle_aiv == aiv) return;
  published_.idle_aic = aic;
  published_.idle_aiv = aiv;
  port_.store(line + offsetof(ThreadProgress, idle_aic), 4, aic | std::uint32_t{aiv} << 16);
}

void Progress::leave(const Totals& totals) const {
  ThreadProgress progress = published_;
  progress.completed = completed_;
  progress.lanes = lanes_;
  progress.dispatched = totals.dispatched;
  progress.polls = totals.polls;
  progress.copied = copied_;
  progress.dump_ticks = totals.dump_ticks;
  port_.write(run_.thread_line(scratch::kProgress, thread_), &progress, sizeof progress);
}

void Progress::sum_up(const Totals& totals, abi::RunResult& result) const {
  result.completed = completed_;
  result.dispatched_blocks = totals.dispatched;
  result.polls = totals.polls;
  result.dump_ticks = totals.dump_ticks;
  for (unsigned i = 1; i < run_.header().threads; ++i) {
    ThreadProgress other;
    port_.read(run_.thread_line(scratch::kProgress, i), &other, sizeof other);
    result.completed += other.completed;
    result.dispatched_blocks += other.dispatched;
    result.polls += other.polls;
    result.dump_ticks += other.dump_ticks;
  }
}

}  // namespace npu::firmware
