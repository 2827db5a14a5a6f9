// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/card_runner.hpp"

#include "kernels/operators/operations.hpp"
#include "npu/driver/program.hpp"

namespace npu::network {
namespace {

constexpr unsigned kAicpus = 4;  // every chip has so many
constexpr Picoseconds kTimeout = 60'000'000_us;

}  // namespace

Result<std::unique_ptr<CardRunner>> CardRunner::open(const Card& card, CardOptions options) {
  std::unique_ptr<CardRunner> runner(new CardRunner(card, std::move(options)));
  auto staging = Staging::open(card.platform, card.process, runner->waits_);
  if (!staging) return forward_error(staging);
  runner->staging_ = std::move(*staging);
  return runner;
}

CardRunner::~CardRunner() {
  const auto deadline = card_.platform.clock().now() + kTimeout;
  static_cast<void>(card_.launcher.stream().last().wait(deadline));  // others tell its error
}

Result<std::shared_ptr<CardMemory>> CardRunner::allocate(Bytes size) {
  auto memory = memory_.allocate(size);
  if (memory || memory.error().code != ErrorCode::kOutOfMemory) return memory;
  if (auto ok = wait(); !ok) return forward_error(ok);
  if (auto ok = memory_.trim(); !ok) return forward_error(ok);
  return memory_.allocate(size);
}

Status CardRunner::write(driver::DeviceAddress to, ConstByteSpan from) {
  return explained(staging_->write(card_.launcher.stream(), to, from));
}

Status CardRunner::read(driver::DeviceAddress from, ByteSpan to) {
  return explained(staging_->read(card_.launcher.stream(), from, to));
}

// Pieces of memory end at multiples of more than four bytes.
Status CardRunner::fill_zeros(driver::DeviceAddress at, Bytes size) {
  return submit(driver::entries::fill(at, (size + 3) / 4 * 4, 0));
}

Status CardRunner::run(const operators::OperatorCall& call) {
  auto kernel = options_.find ? options_.find(call) : card_.runner.find(call, options_.interrupted);
  if (!kernel) return forward_error(kernel);
  if (auto ran = card_.runner.run(call, std::move(*kernel)); !ran) {
    return explained(forward_error(ran));
  }
  if (const auto known = operators::normalise(call)) {
    const auto type = static_cast<std::size_t>(known->type);
    operations_.at(type) += operators::operations_of(*known).value_or(0);
  }
  return follow();
}

Status CardRunner::run(const abi::TensorWork& work) {
  if (auto ok = load_aicpu_image(); !ok) return ok;
  // Given back here, and not given out before the launch has read it: see MemoryPool.
  const auto arguments = allocate(sizeof work);
  if (!arguments) return forward_error(arguments);
  const auto at = (*arguments)->address();
  auto written = write(at, {reinterpret_cast<const std::byte*>(&work), sizeof work});
  if (!written) return written;
  const auto launched =
      submit(driver::entries::launch_image(abi::QueueOpcode::kLaunchAicpu, aicpu_image_->address(),
                                           kAicpus, at, static_cast<std::uint32_t>(sizeof work)));
  return launched ? follow() : launched;
}

Status CardRunner::load_aicpu_image() {
  if (aicpu_image_ != nullptr) return {};
  const auto object = options_.aicpu_program();
  if (!object) return forward_error(object);
  card_.platform.note_program(*object);
  const auto image = driver::make_image(abi::ImageKind::kAicpu, *object, 0);
  if (!image) return forward_error(image);
  auto memory = allocate(image->size());
  if (!memory) return forward_error(memory);
  if (auto ok = write((*memory)->address(), {image->data(), image->size()}); !ok) return ok;
  aicpu_image_ = std::move(*memory);
  return {};
}

Status CardRunner::submit(const abi::QueueEntry& entry) {
  const auto mark = card_.launcher.stream().submit(&entry, 1);
  return mark ? Status() : explained(forward_error(mark));
}

// The rings of a stream have room for a few hundred entries.
Status CardRunner::follow() {
  auto& mark = marks_[steps_ % kMostAhead];
  if (steps_++ >= kMostAhead) {
    const auto begin = card_.platform.clock().now();
    const auto ended = mark.wait(begin + kTimeout);
    waits_.add({begin, card_.platform.clock().now()});
    if (!ended) return explained(ended);
  }
  mark = card_.launcher.stream().last();
  return {};
}

void CardRunner::compute(std::uint64_t instructions) {
  computed_ += instructions;
  card_.platform.tasks().instructions(instructions);
}

Status CardRunner::wait() {
  const auto begin = card_.platform.clock().now();
  auto ended = card_.launcher.wait();
  waits_.add({begin, card_.platform.clock().now()});
  return ended;
}

// Of older steps the end has been waited for.
void CardRunner::count_ended() {
  ended_ = steps_ < kMostAhead ? 0 : steps_ - kMostAhead;
  while (ended_ < steps_) {
    const auto done = marks_[ended_ % kMostAhead].query();
    if (!done || !*done) return;
    ++ended_;
  }
}

// Behind wait() the stream knows no outcomes.
Status CardRunner::explained(Status status) {
  if (status) return status;
  count_ended();
  if (status.error().code != ErrorCode::kDeviceFault) return status;
  auto why = wait();
  return why ? status : why;
}

}  // namespace npu::network
