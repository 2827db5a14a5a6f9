// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/staged_copies.hpp"

#include <algorithm>

#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"

namespace npu::driver {
namespace {

constexpr Picoseconds kTimeout = 10_s;

}  // namespace

struct StagedCopies::Impl {
  explicit Impl(ProcessContext& of)
      : process(of), platform(impl_of(of).link.platform()), arguments(of) {}

  Instant deadline() { return platform.clock().now() + kTimeout; }
  Status open_stream();

  ProcessContext& process;
  platform::Platform& platform;
  ArgumentPool arguments;  // of which a stream without kernels takes nothing
  std::unique_ptr<ExecutionStream> stream;
  std::unique_ptr<platform::DmaMemory> staging;
};

Status StagedCopies::Impl::open_stream() {
  if (stream != nullptr) return {};
  ExecutionStreamOptions options;
  options.wait = WaitPolicy::kPolling;
  options.on_error = StreamErrorMode::kStop;
  auto opened = ExecutionStream::open(process, arguments, options);
  if (!opened) return forward_error(opened);
  stream = std::move(*opened);
  return {};
}

StagedCopies::StagedCopies(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StagedCopies::~StagedCopies() = default;

Result<std::unique_ptr<StagedCopies>> StagedCopies::open(ProcessContext& process, Bytes staging) {
  auto impl = std::make_unique<Impl>(process);
  auto memory = process.allocate_host(staging);
  if (!memory) return forward_error(memory);
  impl->staging = std::move(*memory);
  if (auto there = impl->open_stream(); !there) return forward_error(there);
  return std::unique_ptr<StagedCopies>(new StagedCopies(std::move(impl)));
}

Status StagedCopies::run(const abi::QueueEntry* entries, std::size_t count) {
  if (auto there = impl_->open_stream(); !there) return there;
  const auto submitted = impl_->stream->submit(entries, count);
  if (!submitted) return forward_error(submitted);
  auto ended = impl_->stream->wait(impl_->deadline());
  const bool works = ended || ended.error().code == ErrorCode::kDeviceFault;
  if (!works) impl_->stream.reset();  // gives up what does not end
  return ended;
}

Status StagedCopies::write(DeviceAddress to, ConstByteSpan from) {
  const auto buffer = impl_->staging->cpu();
  for (Bytes done = 0; done < from.size;) {
    const Bytes piece = std::min(buffer.size, from.size - done);
    impl_->platform.copy({buffer.data, piece}, {from.data + done, piece});
    const auto entry = entries::copy_to_device(impl_->staging->bus(), to + done, piece);
    if (auto there = run(&entry, 1); !there) return there;
    done += piece;
  }
  return {};
}

Status StagedCopies::read(DeviceAddress from, ByteSpan to) {
  const auto buffer = impl_->staging->cpu();
  for (Bytes done = 0; done < to.size;) {
    const Bytes piece = std::min(buffer.size, to.size - done);
    const auto entry = entries::copy_to_host(from + done, impl_->staging->bus(), piece);
    if (auto there = run(&entry, 1); !there) return there;
    impl_->platform.copy({to.data + done, piece}, {buffer.data, piece});
    done += piece;
  }
  return {};
}

Result<std::shared_ptr<const KernelModule>> StagedCopies::load(ConstByteSpan object,
                                                               Bytes declared) {
  const auto upload = [this](DeviceAddress to, ConstByteSpan image) { return write(to, image); };
  return KernelModule::load(impl_->process.space(), object, upload, declared);
}

}  // namespace npu::driver
