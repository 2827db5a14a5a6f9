// SPDX-License-Identifier: Apache-2.0
// The context's life, memory, copies and programs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "driver/device/device_impl.hpp"
#include "driver/runtime/context_impl.hpp"
#include "driver/runtime/kernel_note.hpp"
#include "driver/support/call_trace.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kStaging = 4ULL << 20;
// For one copy of at most kStaging, a fill, the end of a queue.
constexpr Picoseconds kPatience = 10_s;

}  // namespace

Status DeviceContext::Impl::need_device() const {
  if (process == nullptr) return fail(ErrorCode::kInvalidArgument, "no device is set");
  return {};
}

Status DeviceContext::Impl::open(std::uint32_t index) {
  auto opened = Device::open_index(platform, index);
  if (!opened) return forward_error(opened);
  device = std::move(*opened);
  auto context = ProcessContext::open(*device);
  if (!context) return forward_error(context);
  process = std::move(*context);
  if (auto ok = learn_cores(); !ok) return ok;
  auto memory = process->allocate_host(kStaging);
  if (!memory) return forward_error(memory);
  staging = std::move(*memory);
  if (auto ok = open_copies(); !ok) return ok;
  return open_launch_queues();
}

Status DeviceContext::Impl::open_copies() {
  if (copies != nullptr) return {};
  QueueOptions options;
  options.interrupt = false;
  options.in_order = true;
  auto queue = process->create_queue(options);
  if (!queue) return forward_error(queue);
  copies = std::move(*queue);
  return {};
}

Status DeviceContext::Impl::learn_cores() {
  auto& link = *device->impl().link;
  const auto topology = link.read<abi::CoreTopology>();
  if (!topology) return forward_error(topology);
  const auto cores = link.read<abi::QueueCores>();
  if (!cores) return forward_error(cores);
  clusters = topology->get<abi::CoreTopology::Clusters>();
  vector_cores = topology->get<abi::CoreTopology::VectorCores>();
  aicpus = cores->get<abi::QueueCores::Aicpus>();
  if (clusters == 0) return fail(ErrorCode::kUnsupported, "the card has no AI Cores");
  if (workers(clusters) > kMostCores) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{} clusters of {} cores: a core mask has {} bits", clusters,
                            1 + vector_cores, kMostCores));
  }
  return {};
}

// Scheduler and executors run beside each other, so they have a queue each.
Status DeviceContext::Impl::open_launch_queues() {
  for (auto* which : {&schedulers, &executors}) {
    if (*which != nullptr) continue;
    QueueOptions options;
    options.in_order = true;
    options.preemptible = false;
    auto queue = process->create_queue(options);
    if (!queue) return forward_error(queue);
    *which = std::move(*queue);
    selected = 0;
  }
  return {};
}

Status DeviceContext::Impl::close_launch_queues() {
  Status first;
  for (auto* which : {&schedulers, &executors}) {
    if (*which == nullptr) continue;
    // What still runs there is not waited for: it is what went wrong.
    auto end = process->destroy(**which, now());
    if (!end && first) first = forward_error(end);
    which->reset();
  }
  return first;
}

Status DeviceContext::Impl::close() {
  Status first;
  const auto note = [&first](const auto& step) {
    if (!step && first) first = forward_error(step);
  };
  if (process != nullptr) {
    note(close_launch_queues());
    if (copies != nullptr) note(process->destroy(*copies, now() + kPatience));
    copies.reset();
    staging.reset();
    upload_staging.reset();
    note(process->close());
    process.reset();
  }
  if (device != nullptr) note(device->shutdown());
  device.reset();
  kernels.clear();
  scheduler = executor = {};
  area = {};
  area_size = 0;
  return first;
}

Result<DeviceAddress> DeviceContext::Impl::allocate(Bytes size) {
  if (auto ok = need_device(); !ok) return forward_error(ok);
  auto memory = process->space().allocate(size);
  if (!memory) return forward_error(memory);
  return memory->address;
}

// The error is the entry's alone: what comes next has a queue again, and nothing of the entry runs.
Status DeviceContext::Impl::run_copies(const abi::QueueEntry* work, std::size_t count) {
  if (auto ok = open_copies(); !ok) return ok;  // the last one may not have been replaced
  const auto ticket = copies->submit(work, count, now() + kPatience);
  const Status done = ticket ? copies->wait(*ticket, WaitPolicy::kPolling, now() + kPatience)
                             : Status(forward_error(ticket));
  if (done || device->lost()) return done;
  static_cast<void>(process->take_faults());
  static_cast<void>(process->destroy(*copies, now()));
  copies.reset();
  static_cast<void>(open_copies());  // or the next copy tries again
  return done;
}

Status DeviceContext::Impl::copy(DeviceAddress device_side, ByteSpan host_side, bool to_device) {
  if (auto ok = need_device(); !ok) return ok;
  for (Bytes done = 0; done < host_side.size;) {
    const Bytes piece = std::min(kStaging, host_side.size - done);
    if (to_device) std::memcpy(staging->cpu().data, host_side.data + done, piece);
    const auto entry = to_device
                           ? entries::copy_to_device(staging->bus(), device_side + done, piece)
                           : entries::copy_to_host(device_side + done, staging->bus(), piece);
    if (auto ok = run_copies(&entry, 1); !ok) return ok;
    if (!to_device) std::memcpy(host_side.data + done, staging->cpu().data, piece);
    done += piece;
  }
  return {};
}

// Into memory of its own: what runs uses the old image until its end.
Status DeviceContext::Impl::upload(Image& image, abi::ImageKind kind, ConstByteSpan object) {
  const CallTrace trace(platform, card_index(), platform::DriverCall::kUpload, 0, object.size);
  if (auto ok = need_device(); !ok) return ok;
  auto bytes = make_image(kind, object);
  if (!bytes) return forward_error(bytes);
  auto at = allocate(bytes->size());
  if (!at) return forward_error(at);
  if (auto ok = copy(*at, {bytes->data(), bytes->size()}, true); !ok) {
    static_cast<void>(process->space().free(*at));
    return ok;
  }
  const DeviceAddress old = image.address;
  image = {*at, abi::kAnyWords, ""};
  if (const auto note = find_kernel_note(object)) {
    image.words = note->words;
    image.name = note->name;
  }
  return old != DeviceAddress{} ? process->space().free(old) : Status{};
}

Result<std::unique_ptr<DeviceContext>> DeviceContext::create(platform::Platform& platform) {
  return std::unique_ptr<DeviceContext>(new DeviceContext(std::make_unique<Impl>(platform)));
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
  return impl_->clusters;
}
unsigned DeviceContext::vector_cores() const {
  return impl_->vector_cores;
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
  return impl_->copy(to, {const_cast<std::byte*>(from.data), from.size}, true);
}
Status DeviceContext::copy_from_device(ByteSpan to, DeviceAddress from) {
  return impl_->copy(from, to, false);
}

Status DeviceContext::set_firmware(ConstByteSpan scheduler, ConstByteSpan executor) {
  // Both or none: a scheduler and an executor of different builds need not understand each other.
  Impl::Image first, second;
  if (auto ok = impl_->upload(first, abi::ImageKind::kAicpu, scheduler); !ok) return ok;
  if (auto ok = impl_->upload(second, abi::ImageKind::kAiCore, executor); !ok) {
    static_cast<void>(impl_->process->space().free(first.address));
    return ok;
  }
  std::swap(first, impl_->scheduler);
  std::swap(second, impl_->executor);
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
  Impl::Image image;
  const auto known = impl_->kernels.find(id.value);
  if (known != impl_->kernels.end()) image = known->second;
  const auto ok = impl_->upload(image, abi::ImageKind::kAiCore, object);
  if (image.address != DeviceAddress{}) impl_->kernels[id.value] = image;
  return ok;
}

Status DeviceContext::unregister_kernel(KernelId id) {
  const auto known = impl_->kernels.find(id.value);
  if (known == impl_->kernels.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("kernel {} is not registered", id.value));
  }
  const auto address = known->second.address;
  impl_->kernels.erase(known);
  return impl_->process->space().free(address);
}

}  // namespace npu::driver
