// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/launcher/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "npu/driver/program.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::operators {
namespace {

constexpr Bytes kSlot = abi::kMaxArgumentBytes;
constexpr unsigned kSlots = 64;  // launches of a run whose arguments are on their way
constexpr Bytes kArgumentBytes = kSlots * kSlot;
constexpr Bytes kStagingBytes = 1_MiB;
static_assert(kArgumentBytes <= kStagingBytes && kImageBytes + 64 <= kStagingBytes);

using Calls = std::vector<std::pair<Instant, Instant>>;

// Notes a call's time when it ends.
class Stopwatch {
 public:
  Stopwatch(platform::Clock& clock, Calls& calls)
      : clock_(clock), calls_(calls), begin_(clock.now()) {}
  ~Stopwatch() { calls_.emplace_back(begin_, clock_.now()); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  platform::Clock& clock_;
  Calls& calls_;
  const Instant begin_;
};

std::size_t index_of(CoreKind kind) {
  return kind == CoreKind::kVector ? 1 : 0;
}

}  // namespace

CardCores CardCores::of(unsigned clusters, unsigned vectors_per_cluster, const CoreLimits& limits) {
  CardCores cores;
  cores.limits = limits;
  const unsigned first = vectors_per_cluster == 0 ? 0 : clusters;
  const unsigned vectors = vectors_per_cluster == 0 ? clusters : clusters * vectors_per_cluster;
  cores.count = {clusters, vectors};
  cores.mask[0] = driver::first_cores(clusters);
  for (unsigned core = first; core < std::min(first + vectors, driver::kMostCores); ++core) {
    cores.mask[1][core / 64] |= std::uint64_t{1} << core % 64;
  }
  return cores;
}

Result<std::unique_ptr<Launcher>> Launcher::open(driver::ProcessContext& process,
                                                 platform::Clock& clock,
                                                 const LauncherOptions& options) {
  std::unique_ptr<Launcher> launcher(new Launcher(process, clock, options));
  if (auto ok = launcher->open_resources(); !ok) return forward_error(ok);
  return launcher;
}

Status Launcher::open_queues() {
  for (const CoreKind kind : {CoreKind::kCube, CoreKind::kVector}) {
    driver::QueueOptions queue;
    queue.core_mask = options_.cores.mask[index_of(kind)];
    queue.in_order = true;
    queue.preemptible = false;
    auto made = process_.create_queue(queue);
    if (!made) return forward_error(made);
    queues_[index_of(kind)] = std::move(*made);
  }
  return {};
}

Status Launcher::renew_queues() {
  for (auto& queue : queues_) {
    if (queue == nullptr) continue;
    const auto ended = process_.destroy(*queue, clock_.now());
    static_cast<void>(ended);  // that it has stopped is why it goes
    queue.reset();
  }
  if (auto ok = open_queues(); !ok) return ok;
  failed_ = false;
  return {};
}

Status Launcher::open_resources() {
  if (auto ok = open_queues(); !ok) return ok;
  auto staging = process_.allocate_host(kStagingBytes);
  if (!staging) return forward_error(staging);
  staging_ = std::move(*staging);
  const auto arguments = allocate(kArgumentBytes);
  if (!arguments) return forward_error(arguments);
  arguments_ = *arguments;
  const auto signal = process_.signals().create();
  if (!signal) return forward_error(signal);
  signal_ = *signal;
  return {};
}

Launcher::~Launcher() = default;

Result<driver::DeviceAddress> Launcher::allocate(Bytes size) {
  const auto memory = process_.space().allocate(size);
  if (!memory) return forward_error(memory);
  memory_.push_back(memory->address);
  return memory->address;
}

Status Launcher::upload(const jit::Kernel& kernel) {
  if (failed_) {
    if (auto ok = renew_queues(); !ok) return ok;
  }
  const auto known = images_.find(kernel.key());
  if (known != images_.end()) return {};
  const auto image = driver::make_image(abi::ImageKind::kAiCore, kernel.image(), kImageBytes);
  if (!image) return forward_error(image);
  const auto at = allocate(image->size());
  if (!at) return forward_error(at);
  std::memcpy(staging_->cpu().data, image->data(), image->size());
  const auto entry = driver::entries::copy_to_device(staging_->bus(), *at, image->size());
  const auto ticket = queues_[0]->submit(entry, deadline());
  if (!ticket) return forward_error(ticket);
  auto done = queues_[0]->wait(*ticket, driver::WaitPolicy::kPolling, deadline());
  if (!done) return done;
  images_.emplace(kernel.key(), *at);
  return {};
}

Status Launcher::run(const jit::Kernel& kernel, std::uint32_t block_num, const void* params) {
  if (auto ok = upload(kernel); !ok) return ok;
  image_ = images_.at(kernel.key());
  error_.reset();
  waiting_.clear();
  last_queue_ = nullptr;
  launches_ = 0;
  workspace_asked_ = 0;
  calls_.clear();
  kernel.run()(block_num, static_cast<OperatorStream*>(this), params);
  if (!error_) return {};
  // What was launched before the error ends first: its arguments and workspace are used again.
  const auto ended = wait();
  static_cast<void>(ended);
  return tl::unexpected<Error>(*error_);
}

Status Launcher::wait() {
  Status result;
  for (const auto& one : waiting_) {
    const auto done = one.queue->wait(one.ticket, driver::WaitPolicy::kPolling, deadline());
    if (!done) {
      result = forward_error(done);
      failed_ = true;
      break;
    }
  }
  waiting_.clear();
  return result;
}

Status Launcher::close() {
  Status result;
  const auto keep = [&](const auto& outcome) {
    if (!outcome && result) result = forward_error(outcome);
  };
  for (auto& queue : queues_) {
    if (queue == nullptr) continue;
    keep(process_.destroy(*queue, deadline()));
    queue.reset();
  }
  for (const auto address : memory_) keep(process_.space().free(address));
  memory_.clear();
  images_.clear();
  staging_.reset();
  keep(process_.signals().destroy(signal_));
  return result;
}

std::uint32_t Launcher::cores(CoreKind kind) const {
  return options_.cores.count[index_of(kind)];
}

void Launcher::refuse(const char* reason) {
  if (!error_) error_ = Error{ErrorCode::kUnsupported, reason};
}

std::uint64_t Launcher::workspace(std::uint64_t bytes) {
  const Stopwatch watch(clock_, calls_);
  workspace_asked_ = bytes;
  if (auto ok = give_workspace(bytes); !ok) {
    if (!error_) error_ = ok.error();
    return 0;
  }
  return workspace_.value;
}

// Kept from run to run; nothing runs when a larger one takes its place.
Status Launcher::give_workspace(Bytes bytes) {
  if (bytes <= workspace_size_) return {};
  if (workspace_size_ != 0) {
    memory_.erase(std::find(memory_.begin(), memory_.end(), workspace_));
    workspace_size_ = 0;
    if (auto ok = process_.space().free(workspace_); !ok) return ok;
  }
  const auto at = allocate(bytes);
  if (!at) return forward_error(at);
  workspace_ = *at;
  workspace_size_ = bytes;
  return {};
}

void Launcher::launch(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
                      std::uint32_t count) {
  const Stopwatch watch(clock_, calls_);
  if (error_) return;
  if (auto ok = submit(kind, blocks, words, count); !ok) error_ = ok.error();
}

Status Launcher::submit(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
                        std::uint32_t count) {
  const Bytes bytes = Bytes{count} * sizeof(std::uint64_t);
  if (blocks == 0 || blocks > cores(kind) || bytes == 0 || bytes > kSlot) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("a launch of {} blocks and {} words: the card has {} cores", blocks,
                            count, cores(kind)));
  }
  if (launches_ != 0 && launches_ % kSlots == 0) {
    if (auto ok = wait(); !ok) return ok;
  }
  const Bytes slot = launches_ % kSlots * kSlot;
  std::memcpy(staging_->cpu().data + slot, words, bytes);
  driver::Queue& queue = *queues_[index_of(kind)];
  std::array<abi::QueueEntry, 4> entries;
  std::size_t used = 0;
  if (last_queue_ != nullptr && last_queue_ != &queue) {
    entries[used++] = driver::entries::wait_event(signal_, signal_value_);
  }
  entries[used++] = driver::entries::copy_to_device(
      platform::BusAddress{staging_->bus().value + slot}, arguments_ + slot, bytes);
  entries[used++] =
      driver::entries::launch_image(abi::QueueOpcode::kLaunchAiCore, image_, blocks,
                                    arguments_ + slot, static_cast<std::uint32_t>(bytes));
  entries[used++] = driver::entries::record_event(signal_, ++signal_value_);
  const auto ticket = queue.submit(entries.data(), used, deadline());
  if (!ticket) return forward_error(ticket);
  if (!waiting_.empty() && waiting_.back().queue == &queue) waiting_.pop_back();
  waiting_.push_back({&queue, *ticket});
  last_queue_ = &queue;
  ++launches_;
  return {};
}

}  // namespace npu::operators
