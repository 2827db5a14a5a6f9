// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/client/socket_devices.hpp"

#include <cstring>

#include "apps/dsmi/virtual_facts.hpp"

namespace npu::dsmi {

using driver::CardShare;
using driver::VirtualDevice;

namespace {

constexpr unsigned kMostFunctions = 256;  // of a device
constexpr unsigned kChoose = ~0U;

// What the devices leave of `totals`; members of a group have the same cores.
CardShare left_of(CardShare totals, const std::vector<VirtualDevice>& all) {
  std::uint32_t groups = 0;
  for (const auto& one : all) {
    const bool counted = one.group && (groups >> one.group->group & 1) != 0;
    if (one.group) groups |= 1U << one.group->group;
    totals.ai_cores -= counted ? 0 : one.share.ai_cores;
    totals.aicpus -= one.share.aicpus;
    totals.memory -= one.share.memory;
    totals.vpc -= one.share.vpc;
    totals.jpegd -= one.share.jpegd;
    totals.jpege -= one.share.jpege;
    totals.venc -= one.share.venc;
    totals.vdec -= one.share.vdec;
  }
  return totals;
}

}  // namespace

std::uint64_t SocketDevices::field(unsigned device, std::uint64_t function, ShareField field) {
  return channel_->ask(Request::kReadShare, device, function, static_cast<std::uint64_t>(field))
      .value_or(0);
}

CardShare SocketDevices::share(unsigned device, std::uint64_t function) {
  const auto count = [&](ShareField which) {
    return static_cast<std::uint32_t>(field(device, function, which));
  };
  return {count(ShareField::kCores),
          count(ShareField::kAicpus),
          field(device, function, ShareField::kMemory),
          count(ShareField::kVpc),
          count(ShareField::kJpegd),
          count(ShareField::kJpege),
          count(ShareField::kVenc),
          count(ShareField::kVdec)};
}

VirtualDevice SocketDevices::describe(unsigned device, unsigned function) {
  VirtualDevice one;
  one.id = kFirstVirtualId + kVirtualIdsPerCard * device + function;
  one.index = function;
  one.share = share(device, function);
  const std::uint64_t words[] = {field(device, function, ShareField::kName0),
                                 field(device, function, ShareField::kName1)};
  char name[sizeof words + 1] = {};
  std::memcpy(name, words, sizeof words);
  one.name = name;
  const auto group = field(device, function, ShareField::kGroup);
  if (group < 32) {
    const auto number = [&](ShareField which) {
      return static_cast<std::uint32_t>(field(device, function, which));
    };
    one.group = driver::GroupShare{static_cast<std::uint32_t>(group), number(ShareField::kToken),
                                   number(ShareField::kTokenMax), number(ShareField::kTaskTimeout),
                                   number(ShareField::kVip) != 0};
  }
  return one;
}

bool SocketDevices::list(unsigned device, std::vector<VirtualDevice>& all) {
  const auto functions = field(device, kTotals, ShareField::kFunctions);
  if (functions == 0 || functions > kMostFunctions) return false;
  for (unsigned i = 0; i < functions; ++i) {
    if (field(device, i, ShareField::kCores) != 0) all.push_back(describe(device, i));
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
  const auto bdf =
      platform::Bdf::unpack(static_cast<std::uint16_t>(field(device, made, ShareField::kFunction)));
  result = {};
  result.vdev_id = kFirstVirtualId + kVirtualIdsPerCard * device + made;
  result.vf_id = made;
  result.vfg_id = kNoVirtualGroup;
  result.pcie_bus = bdf.bus;
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
  put_total(all, share(device, kTotals), resource);
  return DSMI_OK;
}

int SocketDevices::free(unsigned device, dsmi_soc_free_resource& resource) {
  std::vector<VirtualDevice> all;
  if (!list(device, all)) return DSMI_ERROR_NOT_SUPPORT;
  put_free(all, left_of(share(device, kTotals), all), resource);
  return DSMI_OK;
}

}  // namespace npu::dsmi
