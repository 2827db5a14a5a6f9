// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/page_mover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/event/wait_loop.hpp"
#include "driver/support/observation.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

using abi::PageCopyControl;
using abi::PageCopyProgress;
using abi::PageCopyStart;

namespace {

constexpr Bytes kResults = abi::kPageCopySlots * sizeof(abi::PageCopyResult);
// Between two tries; each is twice as long as the one before.
constexpr Picoseconds kFirstPause = 1_us, kLongestPause = 1_ms;
// At least, before it is given up: a completion that is lost takes half of ready_timeout.
constexpr unsigned kTries = 4;
constexpr std::uint64_t kNoStream = 0xFFFF;

constexpr Bytes place_of(std::uint32_t number) {
  return (number - 1) % abi::kPageCopySlots * sizeof(abi::PageCopyResult);
}

}  // namespace

// For the result of one copy; the card is asked when there is none for long.
class PageMover::Wait final : private WaitLoop {
 public:
  Wait(PageMover& mover, std::uint32_t number, Instant deadline)
      : WaitLoop(mover.link_.clock(), mover.vector_, deadline), mover_(mover), number_(number) {}

  // kTimeout, kDeviceLost.
  Result<Outcome> run() {
    if (!look()) {
      const Done done = wait(WaitPolicy::kInterrupt, {});
      if (!done) return forward_error(done);
      if (!*done) return fail(ErrorCode::kTimeout, "a page copy does not end");
    }
    return outcome_;
  }

 private:
  bool look() override {
    const auto result = mover_.result(number_);
    if (result.number != number_) return false;
    outcome_.fault = static_cast<abi::FaultCode>(result.fault);
    return true;
  }
  ConstByteSpan watched() const override {
    return mover_.results_->cpu().subspan(static_cast<std::size_t>(place_of(number_)),
                                          sizeof(abi::PageCopyResult));
  }
  // The command may have been lost on its way, or the result. A card that does not answer now may
  // do so later.
  Done probe() override {
    const auto progress = mover_.link_.read<PageCopyProgress>();
    if (!progress && progress.error().code == ErrorCode::kDeviceLost)
      return forward_error(progress);
    if (look()) return true;
    if (!progress) return false;
    const auto accepted = static_cast<std::uint32_t>(progress->get<PageCopyProgress::Accepted>());
    const auto ended = static_cast<std::uint32_t>(progress->get<PageCopyProgress::Ended>());
    outcome_.lost = accepted < number_ || ended >= number_;
    return outcome_.lost;
  }
  void learn_wake_cost(Picoseconds) override {}

  PageMover& mover_;
  const std::uint32_t number_;
  Outcome outcome_;
};

PageMover::PageMover(CardLink& link)
    : link_(link),
      submit_track_(
          link.platform().tracer().track(fmt::format("driver{}.submit", link.device_index()))),
      wait_track_(
          link.platform().tracer().track(fmt::format("driver{}.wait", link.device_index()))) {}

Status PageMover::open(VectorTable& vectors, unsigned vector) {
  const auto opened = vectors.open(vector);
  if (!opened) return forward_error(opened);
  auto memory =
      link_.platform().allocate_dma(link_.bdf(), 4096, 4096, platform::DmaDirection::kDeviceWrites);
  if (!memory) return forward_error(memory);
  vector_ = *opened;
  number_of_vector_ = vector;
  results_ = std::move(*memory);
  enable();
  return {};
}

// The memory of the results goes when the card has answered: one may be on its way.
void PageMover::close() {
  if (!results_) return;
  if (!link_.lost()) {
    static_cast<void>(drain(link_.ready_deadline()));
    link_.write(PageCopyControl{});
    static_cast<void>(link_.read<PageCopyProgress>());
  }
  begun_.clear();
  results_.reset();
}

// Nothing is in flight.
void PageMover::enable() {
  for (Bytes at = 0; at < kResults; at += 8) results_->store<std::uint64_t>(at, 0);
  link_.write(abi::PageCopyBase::from_raw(results_->bus().value));
  link_.write(PageCopyControl{}.set<PageCopyControl::Enable>(1).set<PageCopyControl::Vector>(
      number_of_vector_));
  started_ = 0;
}

abi::PageCopyResult PageMover::result(std::uint32_t number) const {
  const auto word = results_->load<std::uint64_t>(place_of(number));
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

Status PageMover::begin(const Move& move) {
  if (!results_) return fail(ErrorCode::kDeviceLost, "the card's page copies have ended");
  if (auto ok = link_.alive(); !ok) return ok;
  while (begun_.size() >= abi::kPageCopySlots) {
    if (auto ok = finish_oldest(); !ok) return ok;
  }
  start(move);
  return {};
}

void PageMover::start(Move move) {
  const Instant called = link_.clock().now();
  move.number = ++started_;
  const auto cause = platform::page_copy_cause(link_.device_index(), move.number);
  const platform::CauseScope scope(link_.platform().tracer(), cause);
  link_.write(abi::PageCopySource::from_raw(move.source));
  link_.write(abi::PageCopyDestination::from_raw(move.destination));
  link_.write(abi::PageCopySize::from_raw(move.size));
  link_.platform().write_barrier();
  link_.write(PageCopyStart{}
                  .set<PageCopyStart::Number>(move.number & 0xFFFF)
                  .set<PageCopyStart::Opcode>(static_cast<std::uint32_t>(move.opcode)));
  observe(link_.platform(), [&](platform::Tracer& listening, Instant now) {
    platform::TraceEvent event;
    event.begin = called;
    event.end = now;
    event.cause = cause;
    event.bytes = move.size;
    event.detail = kNoStream;
    event.track = submit_track_;
    event.activity = platform::Activity::kDmaSubmit;
    listening.emit(event);
  });
  begun_.push_back(move);
}

Status PageMover::wait() {
  while (!begun_.empty()) {
    if (auto ok = finish_oldest(); !ok) return ok;
  }
  return {};
}

Status PageMover::finish_oldest() {
  auto& clock = link_.clock();
  const Instant begin = clock.now();
  const Instant patient_until = link_.ready_deadline();
  Picoseconds pause{};
  unsigned tries = 0;
  const auto left = begun_.size();
  std::uint64_t cause = 0;  // of what is made again: the last one's
  while (begun_.size() == left) {
    cause = platform::page_copy_cause(link_.device_index(), begun_.front().number);
    const Instant deadline = link_.ready_deadline();
    const auto outcome = Wait(*this, begun_.front().number, deadline).run();
    if (!outcome && outcome.error().code != ErrorCode::kTimeout) {
      begun_.clear();
      return forward_error(outcome);
    }
    if (outcome && outcome->good()) {
      begun_.pop_front();
      break;
    }
    const auto found = outcome ? *outcome : Outcome{true, {}};
    if (++tries >= kTries && clock.now() >= patient_until) return give_up(found);
    if (pause != Picoseconds{}) clock.sleep_until(clock.now() + pause);
    pause = pause == Picoseconds{} ? kFirstPause : std::min(2 * pause, kLongestPause);
    if (auto ok = repeat(found); !ok) return ok;
  }
  link_.platform().read_barrier();
  observe(link_.platform(), [&](platform::Tracer& listening, Instant now) {
    platform::TraceEvent event;
    event.begin = begin;
    event.end = now;
    event.cause = cause;
    event.detail = kNoStream;
    event.track = wait_track_;
    event.activity = platform::Activity::kEventWait;
    listening.emit(event);
  });
  return {};
}

// Where nothing is known of the oldest, others may have been lost, too.
Status PageMover::repeat(const Outcome& outcome) {
  if (!outcome.lost) {
    ++repeated_;
    const auto move = begun_.front();
    begun_.pop_front();
    start(move);
    return {};
  }
  if (auto ok = drain(link_.ready_deadline()); !ok) {
    begun_.clear();
    return ok;
  }
  enable();
  repeated_ += begun_.size();
  for (const auto& move : std::exchange(begun_, {})) start(move);
  return {};
}

Status PageMover::give_up(const Outcome& outcome) {
  static_cast<void>(drain(link_.ready_deadline()));
  begun_.clear();
  if (outcome.lost) {
    return fail(ErrorCode::kTimeout,
                fmt::format("{}: a page copy does not end", to_string(link_.bdf())));
  }
  return fail(ErrorCode::kDeviceFault, fmt::format("{}: copying a page: {}", to_string(link_.bdf()),
                                                   abi::to_string(outcome.fault)));
}

Status PageMover::drain(Instant deadline) {
  auto& clock = link_.clock();
  for (;;) {
    const auto progress = link_.read<PageCopyProgress>();
    if (progress &&
        progress->get<PageCopyProgress::Accepted>() == progress->get<PageCopyProgress::Ended>()) {
      return {};
    }
    if (!progress && progress.error().code == ErrorCode::kDeviceLost)
      return forward_error(progress);
    if (clock.now() >= deadline) {
      if (!progress) return forward_error(progress);
      return fail(ErrorCode::kTimeout,
                  fmt::format("{}: page copies do not end", to_string(link_.bdf())));
    }
    clock.relax({}, deadline);
  }
}

}  // namespace npu::driver
