// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/session.hpp"

#include <cerrno>

#include "npu/base/checked.hpp"

namespace npu::model::vfio_user {
namespace {

// Requests with an argsz may be longer than what this version knows of them, as with ioctl().
template <class T>
bool holds(const Message& message) {
  return message.payload.size() >= sizeof(T) && load<T>(message.payload).argsz >= sizeof(T);
}

template <class T>
void append(Outbox& reply, const T& value) {
  reply.append(&value, sizeof value);
}

}  // namespace

Session::Session(ServedDevice& device) : device_(device), interrupts_(device), dma_(device) {}

Session::~Session() {
  dma_.clear();
  interrupts_.clear();
  if (negotiated_) device_.client_gone();
}

int Session::handle(Message& message, Outbox& reply) {
  if (!negotiated_) {
    const int error = version(message, reply);
    negotiated_ = error == 0;
    failed_ = error != 0;
    return error;
  }
  if (message.fds_error != 0) return message.fds_error;
  return dispatch(message, reply);
}

int Session::dispatch(Message& message, Outbox& reply) {
  switch (static_cast<Command>(message.header.command)) {
    case Command::kDmaMap:
      return dma_map(message);
    case Command::kDmaUnmap:
      return dma_unmap(message, reply);
    case Command::kDeviceGetInfo:
      return get_info(message, reply);
    case Command::kDeviceGetRegionInfo:
      return get_region_info(message, reply);
    case Command::kDeviceGetRegionIoFds:
      return get_region_io_fds(message, reply);
    case Command::kDeviceGetIrqInfo:
      return get_irq_info(message, reply);
    case Command::kDeviceSetIrqs:
      if (message.payload.size() < sizeof(IrqSet)) return EINVAL;
      return interrupts_.set(message.payload, message.fds);
    case Command::kRegionRead:
      return region_read(message, reply);
    case Command::kRegionWrite:
      return region_write(message, reply);
    case Command::kRegionWriteMulti:
      return agreement_.write_multiple ? region_write_multi(message, reply) : EOPNOTSUPP;
    case Command::kDeviceReset:
      if (!message.payload.empty()) return EINVAL;
      device_.reset();
      return 0;
    case Command::kVersion:  // once is enough
    case Command::kDmaRead:
    case Command::kDmaWrite:
      return EINVAL;
    case Command::kDeviceFeature:
    case Command::kMigDataRead:
    case Command::kMigDataWrite:
      break;
  }
  return EOPNOTSUPP;
}

int Session::version(const Message& message, Outbox& reply) {
  if (message.header.command != static_cast<std::uint16_t>(Command::kVersion)) return EINVAL;
  std::string payload;
  if (const int error = negotiate(message.payload, agreement_, payload); error != 0) return error;
  dma_.limit(agreement_.max_dma_maps);
  reply.append(payload.data(), payload.size());
  return 0;
}

int Session::dma_map(const Message& message) {
  if (message.payload.size() != sizeof(DmaMapRequest)) return EINVAL;
  return dma_.map(load<DmaMapRequest>(message.payload), message.fds);
}

int Session::dma_unmap(const Message& message, Outbox& reply) {
  if (message.payload.size() != sizeof(DmaUnmapRequest)) return EINVAL;
  const auto request = load<DmaUnmapRequest>(message.payload);
  append(reply, request);
  return dma_.unmap(request);
}

int Session::get_info(const Message& message, Outbox& reply) {
  if (!holds<DeviceInfo>(message)) return EINVAL;
  append(reply,
         DeviceInfo{sizeof(DeviceInfo), kDeviceReset | kDevicePci, kRegionCount, kIrqTypeCount});
  return 0;
}

int Session::get_region_info(const Message& message, Outbox& reply) {
  if (!holds<RegionInfo>(message)) return EINVAL;
  const auto index = load<RegionInfo>(message.payload).index;
  if (index >= kRegionCount) return EINVAL;
  const Bytes size = device_.region_size(index);
  std::uint32_t flags = 0;
  if (size != 0) flags = index == kRomRegion ? kRegionReadable : kRegionReadable | kRegionWritable;
  append(reply, RegionInfo{sizeof(RegionInfo), flags, index, 0, size, 0});
  return 0;
}

// No region has parts that are served through descriptors: an empty list.
int Session::get_region_io_fds(const Message& message, Outbox& reply) {
  if (!holds<RegionIoFds>(message)) return EINVAL;
  const auto request = load<RegionIoFds>(message.payload);
  if (request.index >= kRegionCount || request.flags != 0 || request.count != 0) return EINVAL;
  append(reply, RegionIoFds{sizeof(RegionIoFds), 0, request.index, 0});
  return 0;
}

int Session::get_irq_info(const Message& message, Outbox& reply) {
  if (!holds<IrqInfo>(message)) return EINVAL;
  const auto index = load<IrqInfo>(message.payload).index;
  if (index >= kIrqTypeCount) return EINVAL;
  append(reply,
         IrqInfo{sizeof(IrqInfo), Interrupts::info_flags(index), index, device_.irq_count(index)});
  return 0;
}

int Session::check_access(const RegionAccess& access) const {
  if (access.region >= kRegionCount || access.count == 0) return EINVAL;
  if (access.count > agreement_.max_data_transfer) return EINVAL;
  return range_fits(access.offset, access.count, device_.region_size(access.region)) ? 0 : EINVAL;
}

int Session::region_read(const Message& message, Outbox& reply) {
  if (message.payload.size() != sizeof(RegionAccess)) return EINVAL;
  const auto access = load<RegionAccess>(message.payload);
  if (const int error = check_access(access); error != 0) return error;
  append(reply, access);
  return device_.read(access.region, access.offset, reply.extend(access.count), access.count);
}

int Session::region_write(const Message& message, Outbox& reply) {
  if (message.payload.size() < sizeof(RegionAccess)) return EINVAL;
  const auto access = load<RegionAccess>(message.payload);
  if (message.payload.size() - sizeof access != access.count) return EINVAL;
  if (const int error = check_access(access); error != 0) return error;
  if (access.region == kRomRegion) return EINVAL;
  append(reply, access);
  return device_.write(access.region, access.offset, message.payload.data() + sizeof access,
                       access.count);
}

// Stops at the first write that fails. The reply tells how many were done; an error only if none.
int Session::region_write_multi(const Message& message, Outbox& reply) {
  if (message.payload.size() < sizeof(WriteMultiHead)) return EINVAL;
  const std::uint64_t count = load<WriteMultiHead>(message.payload).wr_cnt;
  const std::size_t size = message.payload.size() - sizeof(WriteMultiHead);
  if (size % sizeof(SingleWrite) != 0 || size / sizeof(SingleWrite) != count) return EINVAL;
  std::uint64_t done = 0;
  for (; done < count; ++done) {
    const auto write =
        load<SingleWrite>(message.payload, sizeof(WriteMultiHead) + done * sizeof(SingleWrite));
    int error = check_access({write.offset, write.region, write.count});
    if (write.count > sizeof write.data || write.region == kRomRegion) error = EINVAL;
    if (error == 0) error = device_.write(write.region, write.offset, write.data, write.count);
    if (error != 0 && done == 0) return error;
    if (error != 0) break;
  }
  append(reply, WriteMultiHead{done});
  return 0;
}

}  // namespace npu::model::vfio_user
