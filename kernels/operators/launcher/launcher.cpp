// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/launcher/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "kernels/operators/launcher/host_entry.hpp"

namespace npu::operators {
namespace {

constexpr Bytes kStagingBytes = 1_MiB;
static_assert(kImageBytes + 64 <= kStagingBytes);

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
  return static_cast<std::size_t>(kind);
}

driver::LaunchCores launch_cores(CoreKind kind) {
  return kind == CoreKind::kVector ? driver::LaunchCores::kVector
         : kind == CoreKind::kCube ? driver::LaunchCores::kCube
                                   : driver::LaunchCores::kMixed;
}

}  // namespace

CardCores CardCores::of(unsigned clusters, unsigned vectors_per_cluster, const CoreLimits& limits) {
  CardCores cores;
  cores.limits = limits;
  const unsigned first = vectors_per_cluster == 0 ? 0 : clusters;
  const unsigned vectors = vectors_per_cluster == 0 ? clusters : clusters * vectors_per_cluster;
  cores.count = {clusters, vectors, clusters};
  cores.mask[0] = driver::first_cores(clusters);
  for (unsigned core = first; core < std::min(first + vectors, driver::kMostCores); ++core) {
    cores.mask[1][core / 64] |= std::uint64_t{1} << core % 64;
  }
  cores.mask[2] = cores.mask[0];
  for (std::size_t i = 0; i < cores.mask[2].size(); ++i) cores.mask[2][i] |= cores.mask[1][i];
  return cores;
}

Result<std::unique_ptr<Launcher>> Launcher::open(driver::ProcessContext& process,
                                                 platform::Clock& clock,
                                                 const LauncherOptions& options) {
  std::unique_ptr<Launcher> launcher(new Launcher(process, clock, options));
  if (auto ok = launcher->open_resources(); !ok) return forward_error(ok);
  return launcher;
}

Status Launcher::open_stream() {
  driver::ExecutionStreamOptions wanted;
  for (const CoreKind kind : {CoreKind::kCube, CoreKind::kVector, CoreKind::kMixed}) {
    wanted.cores[static_cast<std::size_t>(launch_cores(kind))] =
        options_.cores.mask[index_of(kind)];
  }
  wanted.log2_entries = options_.log2_entries;
  wanted.preemptible = false;
  wanted.wait = driver::WaitPolicy::kPolling;
  wanted.on_error = driver::StreamErrorMode::kStop;
  auto stream = driver::ExecutionStream::open(process_, *arguments_, wanted);
  if (!stream) return forward_error(stream);
  stream_ = std::move(*stream);
  failed_ = false;
  return stream_->prepare(driver::LaunchCores::kCube);
}

Status Launcher::open_resources() {
  arguments_.emplace(process_);
  if (auto ok = arguments_->prepare(); !ok) return ok;
  auto copies = driver::StagedCopies::open(process_, kStagingBytes);
  if (!copies) return forward_error(copies);
  copies_ = std::move(*copies);
  return open_stream();
}

Launcher::~Launcher() = default;

Status Launcher::upload(const jit::Kernel& kernel) {
  if (failed_) {
    stream_.reset();
    if (auto ok = open_stream(); !ok) return ok;
  }
  auto& module = modules_[kernel.key()];
  if (module != nullptr) return {};
  auto loaded = copies_->load(kernel.image(), kImageBytes);
  if (!loaded) return forward_error(loaded);
  module = std::move(*loaded);
  return {};
}

Status Launcher::run(const jit::Kernel& kernel, std::uint32_t block_num, const void* params) {
  if (auto ok = upload(kernel); !ok) return ok;
  module_ = modules_.at(kernel.key());
  error_.reset();
  launches_ = 0;
  workspace_asked_ = 0;
  calls_.clear();
  // Tasks of a machine may share a stack of exceptions: nobody waits while one is caught.
  std::exception_ptr thrown;
  try {
    kernel.run()(block_num, static_cast<OperatorStream*>(this), params);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (!error_ && !thrown) return {};
  // What was launched before the error ends first: its arguments and workspace are used again.
  const auto ended = wait();
  static_cast<void>(ended);
  if (thrown) std::rethrow_exception(std::move(thrown));
  return tl::unexpected<Error>(*error_);
}

std::unique_ptr<driver::StreamGraph> Launcher::make_graph() {
  return std::make_unique<driver::StreamGraph>(*arguments_);
}

Status Launcher::begin_capture(driver::StreamGraph& graph) {
  captured_ = true;
  return stream_->begin_capture(graph);
}

Status Launcher::begin_update(driver::StreamGraph& graph, std::size_t first) {
  return stream_->begin_update(graph, first);
}

Status Launcher::end_capture() {
  return stream_->end_capture();
}

Status Launcher::run(driver::StreamGraph& graph, std::vector<driver::QueueTicket>* entries) {
  const auto mark = stream_->run(graph, entries);
  return mark ? Status() : Status(forward_error(mark));
}

Status Launcher::wait() {
  auto ended = stream_->wait(deadline());
  failed_ = !ended && ended.error().code != ErrorCode::kDeviceFault;
  return ended;
}

Status Launcher::close() {
  Status result = failed_ ? Status() : wait();
  stream_.reset();
  arguments_.reset();
  module_.reset();
  modules_.clear();
  copies_.reset();
  const auto freed = free_workspaces();
  return result ? freed : result;
}

std::uint32_t Launcher::cores(CoreKind kind) const {
  return options_.cores.count[index_of(kind)];
}

void Launcher::refuse(const char* reason) {
  if (!error_) error_ = Error{ErrorCode::kUnsupported, reason_of(reason)};
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
  if (workspace_size_ != 0 && captured_) {
    captured_workspaces_.push_back(workspace_);
    workspace_size_ = 0;
  }
  if (workspace_size_ != 0) {
    if (auto ok = wait(); !ok) return ok;
  }
  if (auto ok = free_workspace(); !ok) return ok;
  const auto memory = process_.space().allocate(bytes);
  if (!memory) return forward_error(memory);
  workspace_ = memory->address;
  workspace_size_ = bytes;
  return {};
}

Status Launcher::free_workspace() {
  return std::exchange(workspace_size_, 0) == 0 ? Status() : process_.space().free(workspace_);
}

Status Launcher::free_workspaces() {
  Status result = free_workspace();
  for (const auto each : captured_workspaces_) {
    auto freed = process_.space().free(each);
    if (result) result = std::move(freed);
  }
  captured_workspaces_.clear();
  return result;
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
  if (blocks == 0 || blocks > cores(kind) || bytes == 0 || bytes > abi::kMaxArgumentBytes) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("a launch of {} blocks and {} words: the card has {} cores", blocks,
                            count, cores(kind)));
  }
  driver::KernelLaunch wanted;
  wanted.module = module_;
  wanted.cores = launch_cores(kind);
  wanted.blocks = blocks;
  wanted.bytes = static_cast<std::uint32_t>(bytes);
  wanted.write = [words, bytes](ByteSpan host, driver::DeviceAddress) -> Status {
    std::memcpy(host.data, words, bytes);
    return {};
  };
  const auto mark = stream_->launch(wanted);
  if (!mark) return forward_error(mark);
  ++launches_;
  return {};
}

}  // namespace npu::operators
