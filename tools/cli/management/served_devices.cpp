// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/management/served_devices.hpp"

#include <cstring>

#include "apps/dsmi/driver_devices.hpp"
#include "apps/dsmi/virtual_facts.hpp"
#include "npu/driver/device.hpp"

namespace npu::cli {
namespace {

using dsmi::PartitionField;

constexpr std::uint64_t kNone = ~std::uint64_t{0};

std::uint64_t name_of(const model::FunctionPartition& partition, std::size_t half) {
  std::uint64_t word = 0;
  std::memcpy(&word, partition.name.data() + 8 * half, sizeof word);
  return word;
}

std::optional<std::uint64_t> field_of(const model::FunctionPartition& partition,
                                      PartitionField field) {
  switch (field) {
    case PartitionField::kCores:
      return partition.clusters;
    case PartitionField::kAicpus:
      return partition.aicpus;
    case PartitionField::kMemory:
      return partition.memory;
    case PartitionField::kVpc:
      return partition.media.vpc;
    case PartitionField::kJpegd:
      return partition.media.jpegd;
    case PartitionField::kJpege:
      return partition.media.jpege;
    case PartitionField::kVenc:
      return partition.media.venc;
    case PartitionField::kVdec:
      return partition.media.vdec;
    case PartitionField::kName0:
    case PartitionField::kName1:
      return name_of(partition, field == PartitionField::kName1 ? 1 : 0);
    case PartitionField::kGroup:
      return partition.in_group() ? partition.group : kNone;
    case PartitionField::kToken:
      return partition.token;
    case PartitionField::kTokenMax:
      return partition.token_max;
    case PartitionField::kTaskTimeout:
      return partition.task_timeout_us;
    case PartitionField::kVip:
      return partition.vip ? 1 : 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint64_t> ServedDevices::field(unsigned card, std::uint64_t function,
                                                  std::uint64_t field) {
  const auto& partitions = system_.card(card).partitions();
  const auto which = static_cast<PartitionField>(field);
  if (function == dsmi::kTotals) {
    if (which == PartitionField::kFunctions) return partitions.functions();
    return field_of(partitions.totals(), which);
  }
  if (function >= partitions.functions()) return std::nullopt;
  if (which != PartitionField::kFunction) {
    return field_of(partitions.of(static_cast<unsigned>(function)), which);
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
