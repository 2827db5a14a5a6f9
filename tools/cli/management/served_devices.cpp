// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/management/served_devices.hpp"

#include <cstring>

#include "apps/dsmi/driver_devices.hpp"
#include "apps/dsmi/virtual_facts.hpp"
#include "npu/driver/device.hpp"

namespace npu::cli {
namespace {

using dsmi::ShareField;

constexpr std::uint64_t kNone = ~std::uint64_t{0};

std::uint64_t name_of(const model::FunctionShare& share, std::size_t half) {
  std::uint64_t word = 0;
  std::memcpy(&word, share.name.data() + 8 * half, sizeof word);
  return word;
}

std::optional<std::uint64_t> field_of(const model::FunctionShare& share, ShareField field) {
  switch (field) {
    case ShareField::kCores:
      return share.clusters;
    case ShareField::kAicpus:
      return share.aicpus;
    case ShareField::kMemory:
      return share.memory;
    case ShareField::kVpc:
      return share.media.vpc;
    case ShareField::kJpegd:
      return share.media.jpegd;
    case ShareField::kJpege:
      return share.media.jpege;
    case ShareField::kVenc:
      return share.media.venc;
    case ShareField::kVdec:
      return share.media.vdec;
    case ShareField::kName0:
    case ShareField::kName1:
      return name_of(share, field == ShareField::kName1 ? 1 : 0);
    case ShareField::kGroup:
      return share.in_group() ? share.group : kNone;
    case ShareField::kToken:
      return share.token;
    case ShareField::kTokenMax:
      return share.token_max;
    case ShareField::kTaskTimeout:
      return share.task_timeout_us;
    case ShareField::kVip:
      return share.vip ? 1 : 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint64_t> ServedDevices::field(unsigned card, std::uint64_t function,
                                                  std::uint64_t field) {
  const auto& shares = system_.card(card).shares();
  const auto which = static_cast<ShareField>(field);
  if (function == dsmi::kTotals) {
    if (which == ShareField::kFunctions) return shares.functions();
    return field_of(shares.totals(), which);
  }
  if (function >= shares.functions()) return std::nullopt;
  if (which != ShareField::kFunction) {
    return field_of(shares.of(static_cast<unsigned>(function)), which);
  }
  const auto there = system_.fabric().virtual_functions(card);
  return function < there.size() ? there[function].bdf.packed() : kNone;
}

template <class Body>
std::uint64_t ServedDevices::with_driver(unsigned card, Body body) {
  const auto bdf = platform::Bdf::unpack(system_.fabric().endpoint(card).requester());
  if (exporter_.has_client(bdf)) return DSMI_ERROR_BUSY;
  auto device = driver::Device::open(system_.host(), bdf);
  if (!device) return DSMI_ERROR_INVALID_DEVICE;
  std::uint64_t answer = 0;
  {
    std::vector<driver::Device*> devices(card + 1);
    devices[card] = device->get();
    dsmi::DriverDevices virtual_devices(devices);
    answer = body(virtual_devices);
  }
  static_cast<void>((*device)->shutdown());
  exporter_.follow_virtual_functions();
  return answer;
}

std::uint64_t ServedDevices::create(unsigned card, std::uint64_t function,
                                    const std::string& name) {
  dsmi_create_vdev_res_stru wanted{};
  std::memcpy(wanted.name, name.data(), std::min(name.size(), sizeof wanted.name));
  // Without a name amounts would be looked at, and there are none.
  if (wanted.name[0] == 0) return DSMI_ERROR_PARAMETER;
  const unsigned first = dsmi::kFirstVirtualId + dsmi::kVirtualIdsPerCard * card;
  if (function != dsmi::kAnyFunction && function >= dsmi::kVirtualIdsPerCard) {
    return DSMI_ERROR_PARAMETER;
  }
  const unsigned id =
      function == dsmi::kAnyFunction ? ~0U : first + static_cast<unsigned>(function);
  return with_driver(card, [&](dsmi::DriverDevices& devices) {
    dsmi_create_vdev_result made{};
    const auto code = static_cast<std::uint32_t>(devices.create(card, id, wanted, made));
    return std::uint64_t{made.vf_id} << 32 | code;
  });
}

std::uint64_t ServedDevices::destroy(unsigned card, std::uint64_t function) {
  const unsigned first = dsmi::kFirstVirtualId + dsmi::kVirtualIdsPerCard * card;
  if (function != dsmi::kAnyFunction && function >= dsmi::kVirtualIdsPerCard) {
    return DSMI_ERROR_NOT_EXIST;
  }
  const unsigned id =
      function == dsmi::kAnyFunction ? DSMI_VDEV_ALL : first + static_cast<unsigned>(function);
  return with_driver(card, [&](dsmi::DriverDevices& devices) {
    return std::uint64_t{static_cast<std::uint32_t>(devices.destroy(card, id))};
  });
}

}  // namespace npu::cli
