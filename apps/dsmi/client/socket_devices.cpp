// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/client/socket_devices.hpp"

#include <cstring>

#include "apps/dsmi/virtual_facts.hpp"

namespace npu::dsmi {

using driver::CardPartition;
using driver::VirtualDevice;

namespace {

constexpr unsigned kMostFunctions = 256;  // of a device
constexpr unsigned kChoose = ~0U;

// What the devices leave of `totals`; members of a group have the same cores.
CardPartition left_of(CardPartition totals, const std::vector<VirtualDevice>& all) {
  std::uint32_t groups = 0;
  for (const auto& one : all) {
    const bool counted = one.group && (groups >> one.group->group & 1) != 0;
    if (one.group) groups |= 1U << one.group->group;
    totals.ai_cores -= counted ? 0 : one.partition.ai_cores;
    totals.aicpus -= one.partition.aicpus;
    totals.memory -= one.partition.memory;
    totals.vpc -= one.partition.vpc;
    totals.jpegd -= one.partition.jpegd;
    totals.jpege -= one.partition.jpege;
    totals.venc -= one.partition.venc;
    totals.vdec -= one.partition.vdec;
  }
  return totals;
}

}  // namespace

std::uint64_t SocketDevices::field(unsigned device, std::uint64_t function, PartitionField field) {
  return channel_->ask(Request::kReadPartition, device, function, static_cast<std::uint64_t>(field))
      .value_or(0);
}

CardPartition SocketDevices::partition(unsigned device, std::uint64_t function) {
  const auto count = [&](PartitionField which) {
    return static_cast<std::uint32_t>(field(device, function, which));
  };
  return {count(PartitionField::kCores),
          count(PartitionField::kAicpus),
          field(device, function, PartitionField::kMemory),
          count(PartitionField::kVpc),
          count(PartitionField::kJpegd),
          count(PartitionField::kJpege),
          count(PartitionField::kVenc),
          count(PartitionField::kVdec)};
}

VirtualDevice SocketDevices::describe(unsigned device, unsigned function) {
  VirtualDevice one;
  one.id = kFirstVirtualId + kVirtualIdsPerCard * device + function;
  one.index = function;
  one.partition = partition(device, function);
  const std::uint64_t words[] = {field(device, function, PartitionField::kName0),
                                 field(device, function, PartitionField::kName1)};
  char name[sizeof words + 1] = {};
  std::memcpy(name, words, sizeof words);
  one.name = name;
  const auto group = field(device, function, PartitionField::kGroup);
  if (group < 32) {
    const auto number = [&](PartitionField which) {
      return static_cast<std::uint32_t>(field(device, function, which));
    };
    one.group = driver::GroupPartition{
        static_cast<std::uint32_t>(group), number(PartitionField::kToken),
        number(PartitionField::kTokenMax), number(PartitionField::kTaskTimeout),
        number(PartitionField::kVip) != 0};
  }
  return one;
}

bool SocketDevices::list(unsigned device, std::vector<VirtualDevice>& all) {
  const auto functions = field(device, kTotals, PartitionField::kFunctions);
  if (functions == 0 || functions > kMostFunctions) return false;
  for (unsigned i = 0; i < functions; ++i) {
    if (field(device, i, PartitionField::kCores) != 0) all.push_back(describe(device, i));
  }
  return true;
}

int SocketDevices::create(unsigned device, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
                          dsmi_create_vdev_result& result) {
  if (resource.name[0] == 0 || resource.base.token != 0) return DSMI_ERROR_NOT_SUPPORT;
  std::uint64_t function = kAnyFunction;
  if (vdev != kChoose) {
    const unsigned first = kFirstVirtualId + kVirtualIdsPerCard * device;
    if (vdev < first || vdev - first >= kVirtualIdsPerCard) return DSMI_ERROR_PARAMETER;
    function = vdev - first;
  }
  std::uint64_t name[2];
  static_assert(sizeof name == sizeof resource.name);
  std::memcpy(name, resource.name, sizeof name);
  if (!channel_->ask(Request::kTemplate, device, name[0], name[1]))
    return DSMI_ERROR_INVALID_DEVICE;
  const auto answer = channel_->ask(Request::kCreate, device, 0, function);
  if (!answer) return DSMI_ERROR_INVALID_DEVICE;
  const int code = static_cast<int>(*answer & 0xFFFF'FFFF);
  if (code != DSMI_OK) return code;
  const auto made = static_cast<unsigned>(*answer >> 32);
  const auto bdf = platform::Bdf::unpack(
      static_cast<std::uint32_t>(field(device, made, PartitionField::kFunction)));
  result = {};
  result.vdev_id = kFirstVirtualId + kVirtualIdsPerCard * device + made;
  result.vf_id = made;
  result.vfg_id = kNoVirtualGroup;
  result.pcie_bus = bdf.bus % platform::kBusesPerSegment;
  result.pcie_device = bdf.device;
  result.pcie_func = bdf.function;
  return DSMI_OK;
}

int SocketDevices::destroy(unsigned device, unsigned vdev) {
  std::uint64_t function = kAnyFunction;
  if (vdev != DSMI_VDEV_ALL) {
    const unsigned first = kFirstVirtualId + kVirtualIdsPerCard * device;
    if (vdev < first || vdev - first >= kVirtualIdsPerCard) return DSMI_ERROR_NOT_EXIST;
    function = vdev - first;
  }
  const auto answer = channel_->ask(Request::kDestroy, device, 0, function);
  return answer ? static_cast<int>(*answer & 0xFFFF'FFFF) : DSMI_ERROR_INVALID_DEVICE;
}

int SocketDevices::query(unsigned device, dsmi_vdev_query_stru& vdev) {
  std::vector<VirtualDevice> all;
  if (!list(device, all)) return DSMI_ERROR_NOT_SUPPORT;
  for (const auto& one : all) {
    if (one.id != vdev.vdev_id) continue;
    put_query(one, vdev);
    return DSMI_OK;
  }
  return DSMI_ERROR_NOT_EXIST;
}

int SocketDevices::total(unsigned device, dsmi_soc_total_resource& resource) {
  std::vector<VirtualDevice> all;
  if (!list(device, all)) return DSMI_ERROR_NOT_SUPPORT;
  put_total(all, partition(device, kTotals), resource);
  return DSMI_OK;
}

int SocketDevices::free(unsigned device, dsmi_soc_free_resource& resource) {
  std::vector<VirtualDevice> all;
  if (!list(device, all)) return DSMI_ERROR_NOT_SUPPORT;
  put_free(all, left_of(partition(device, kTotals), all), resource);
  return DSMI_OK;
}

}  // namespace npu::dsmi
