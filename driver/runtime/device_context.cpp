// SPDX-License-Identifier: Apache-2.0
// The context's life, memory, copies and programs; runs are GraphRunner's.
#include <fmt/format.h>

#include <utility>

#include "driver/device/device_parts.hpp"
#include "driver/runtime/context_impl.hpp"
#include "driver/runtime/kernel_note.hpp"
#include "driver/support/call_trace.hpp"

namespace npu::driver {

Status DeviceContext::Impl::need_device() const {
  if (process == nullptr) return fail(ErrorCode::kInvalidArgument, "no device is set");
  return {};
}

Status DeviceContext::Impl::open(std::uint32_t index) {
  return start(Device::open_index(platform, index));
}

Status DeviceContext::Impl::start(Result<std::unique_ptr<Device>> opened) {
  if (!opened) return forward_error(opened);
  device = std::move(*opened);
  ProcessOptions options;
  options.addresses = addresses;
  auto context = ProcessContext::open(*device, options);
  if (!context) return forward_error(context);
  process = std::move(*context);
  if (auto ok = learn_cores(); !ok) return ok;
  auto staged = StagedCopies::open(*process);
  if (!staged) return forward_error(staged);
  copies = std::move(*staged);
  runner.emplace(*device, *process, *copies, cores, programs);
  return runner->open();
}

Status DeviceContext::Impl::learn_cores() {
  auto& link = DeviceParts::link(*device);
  const auto topology = link.read<abi::CoreTopology>();
  if (!topology) return forward_error(topology);
  const auto counts = link.read<abi::QueueCores>();
  if (!counts) return forward_error(counts);
  cores.clusters = topology->get<abi::CoreTopology::Clusters>();
  cores.vector_cores = topology->get<abi::CoreTopology::VectorCores>();
  cores.aicpus = counts->get<abi::QueueCores::Aicpus>();
  if (cores.clusters == 0) return fail(ErrorCode::kUnsupported, "the card has no AI Cores");
  if (cores.workers(cores.clusters) > kMostCores) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{} clusters of {} cores: a core mask has {} bits", cores.clusters,
                            1 + cores.vector_cores, kMostCores));
  }
  return {};
}

Status DeviceContext::Impl::close() {
  Status first;
  const auto note = [&first](const auto& step) {
    if (!step && first) first = forward_error(step);
  };
  if (process != nullptr) {
    runner.reset();
    copies.reset();
    note(process->close());
    process.reset();
  }
  if (device != nullptr) note(device->shutdown());
  device.reset();
  programs = {};
  return first;
}

Result<DeviceAddress> DeviceContext::Impl::allocate(Bytes size) {
  if (auto ok = need_device(); !ok) return forward_error(ok);
  auto memory = process->space().allocate(size);
  if (!memory) return forward_error(memory);
  return memory->address;
}

// Into memory of its own: what runs uses the old image until its end.
Status DeviceContext::Impl::upload(ProgramImage& image, abi::ImageKind kind, ConstByteSpan object) {
  const CallTrace trace(platform, card_index(), platform::DriverCall::kUpload, 0, object.size);
  if (auto ok = need_device(); !ok) return ok;
  auto bytes = make_image(kind, object);
  if (!bytes) return forward_error(bytes);
  auto at = allocate(bytes->size());
  if (!at) return forward_error(at);
  if (auto ok = copies->write(*at, {bytes->data(), bytes->size()}); !ok) {
    static_cast<void>(process->space().free(*at));
    return ok;
  }
  const DeviceAddress old = image.address;
  image = {};
  image.address = *at;
  if (const auto note = find_kernel_note(object)) {
    image.words = note->words;
    image.name = note->name;
  }
  return old != DeviceAddress{} ? process->space().free(old) : Status{};
}

Result<std::unique_ptr<DeviceContext>> DeviceContext::create(
    platform::Platform& platform, std::shared_ptr<UnifiedAddresses> addresses) {
  return std::unique_ptr<DeviceContext>(
      new DeviceContext(std::make_unique<Impl>(platform, std::move(addresses))));
}

DeviceContext::DeviceContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceContext::~DeviceContext() {
  static_cast<void>(impl_->close());
}

Status DeviceContext::set_device(std::uint32_t index) {
  if (impl_->device != nullptr) {
    return fail(ErrorCode::kAlreadyExists, "a device is set; finalize() gives it back");
  }
  auto opened = impl_->open(index);
  if (!opened) static_cast<void>(impl_->close());
  return opened;
}

Status DeviceContext::set_function(platform::Bdf bdf) {
  if (impl_->device != nullptr) {
    return fail(ErrorCode::kAlreadyExists, "a device is set; finalize() gives it back");
  }
  auto opened = impl_->start(Device::open(impl_->platform, bdf));
  if (!opened) static_cast<void>(impl_->close());
  return opened;
}

Status DeviceContext::finalize() {
  return impl_->close();
}

Device& DeviceContext::device() {
  return *impl_->device;
}
ProcessContext& DeviceContext::process() {
  return *impl_->process;
}
unsigned DeviceContext::clusters() const {
  return impl_->cores.clusters;
}
unsigned DeviceContext::vector_cores() const {
  return impl_->cores.vector_cores;
}
const RunReport& DeviceContext::last_report() const {
  return impl_->last;
}

Result<DeviceAddress> DeviceContext::allocate(Bytes size) {
  return impl_->allocate(size);
}
Status DeviceContext::free(DeviceAddress address) {
  if (auto ok = impl_->need_device(); !ok) return ok;
  return impl_->process->space().free(address);
}
Status DeviceContext::copy_to_device(DeviceAddress to, ConstByteSpan from) {
  // Only read: copy() writes to the host's side in the other direction alone.
  if (auto ok = impl_->need_device(); !ok) return ok;
  return impl_->copies->write(to, from);
}
Status DeviceContext::copy_from_device(ByteSpan to, DeviceAddress from) {
  if (auto ok = impl_->need_device(); !ok) return ok;
  return impl_->copies->read(from, to);
}

Status DeviceContext::set_firmware(ConstByteSpan scheduler, ConstByteSpan executor) {
  // Both or none: a scheduler and an executor of different builds need not understand each other.
  ProgramImage first, second;
  if (auto ok = impl_->upload(first, abi::ImageKind::kAicpu, scheduler); !ok) return ok;
  if (auto ok = impl_->upload(second, abi::ImageKind::kAiCore, executor); !ok) {
    static_cast<void>(impl_->process->space().free(first.address));
    return ok;
  }
  std::swap(first, impl_->programs.scheduler);
  std::swap(second, impl_->programs.executor);
  Status freed;
  for (const auto& old : {first, second}) {
    if (old.address == DeviceAddress{}) continue;
    if (auto ok = impl_->process->space().free(old.address); !ok) freed = ok;
  }
  return freed;
}

Status DeviceContext::register_kernel(KernelId id, ConstByteSpan object) {
  if (id.value >= kMaxKernels) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("kernel {}: ids are 0 .. {}", id.value, kMaxKernels - 1));
  }
  ProgramImage image;
  const auto known = impl_->programs.kernels.find(id.value);
  if (known != impl_->programs.kernels.end()) image = known->second;
  const auto ok = impl_->upload(image, abi::ImageKind::kAiCore, object);
  if (image.address != DeviceAddress{}) impl_->programs.kernels[id.value] = image;
  return ok;
}

Status DeviceContext::unregister_kernel(KernelId id) {
  const auto known = impl_->programs.kernels.find(id.value);
  if (known == impl_->programs.kernels.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("kernel {} is not registered", id.value));
  }
  const auto address = known->second.address;
  impl_->programs.kernels.erase(known);
  return impl_->process->space().free(address);
}

Result<RunReport> DeviceContext::run(const TaskGraph& graph, const RunOptions& options) {
  auto& impl = *impl_;
  const CallTrace trace(impl.platform, impl.card_index(), platform::DriverCall::kRun,
                        impl.runner ? impl.runner->runs() : 0, 0);
  RunReport report;
  report.called = impl.platform.clock().now();
  impl.last = {};
  if (auto ok = impl.need_device(); !ok) return forward_error(ok);
  if (auto ok = impl.runner->run(graph, options, report, impl.last); !ok) return forward_error(ok);
  return report;
}

}  // namespace npu::driver
