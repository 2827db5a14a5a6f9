// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/virtual_functions.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "driver/device/device_parts.hpp"
#include "driver/virtual/given_up.hpp"
#include "driver/virtual/partition_placement.hpp"
#include "driver/virtual/partition_port.hpp"

namespace npu::driver {

using abi::PartitionOperation;

namespace {

constexpr std::uint32_t kFirstId = 100, kIdsPerCard = 16;  // virtualisation.md V3
constexpr unsigned kOwner = 0;  // VMID 0 is no process' and holds what nobody may move

CardPartition operator-(CardPartition a, const CardPartition& b) {
  a.ai_cores -= b.ai_cores;
  a.aicpus -= b.aicpus;
  a.memory -= b.memory;
  a.vpc -= b.vpc;
  a.jpegd -= b.jpegd;
  a.jpege -= b.jpege;
  a.venc -= b.venc;
  a.vdec -= b.vdec;
  return a;
}

}  // namespace

struct VirtualFunctions::Impl {
  using Records = std::vector<PartitionRecord>;  // by function

  Impl(Device& opened, const Options& options)
      : link(DeviceParts::link(opened)),
        card_memory(DeviceParts::memory(opened)),
        platform(link.platform()),
        port(link, options.timeout),
        mutex(platform.tasks().make_mutex()) {}

  platform::Bdf bdf() const { return link.bdf(); }
  Status read_constants();
  Status adopt();
  Result<Records> read_all();
  CardPartition free_of(const Records& records) const;
  VirtualDevice describe(std::uint32_t index, const PartitionRecord& record,
                         const std::vector<platform::Bdf>& functions) const;
  Result<PartitionRecord> wanted(const VirtualDeviceOptions& options) const;
  Result<std::uint32_t> choose(const VirtualDeviceOptions& options, const Records& records,
                               std::size_t functions) const;
  Status place_cores(PartitionRecord& record, const Records& records) const;
  Status place_memory(std::uint32_t index, PartitionRecord& record, const Records& records);
  Status take_memory(std::uint32_t index, Bytes base, Bytes size);
  void give_memory_back(std::uint32_t index);
  Status create(std::uint32_t index, const PartitionRecord& record);
  Status destroy(std::uint32_t index);
  // Before anything else is asked of the card.
  Status conclude();

  CardLink& link;
  MemoryManager& card_memory;
  platform::Platform& platform;
  PartitionPort port;
  GivenUp given_up;
  std::unique_ptr<platform::Mutex> mutex;
  std::uint32_t functions = 0;
  CardPartition totals;
  std::vector<VirtualTemplate> templates;
  std::map<std::uint32_t, MemoryHandle> memory;  // by function, while it has a device
};

Status VirtualFunctions::Impl::read_constants() {
  const auto capability = port.capability();
  if (!capability) return forward_error(capability);
  functions = capability->get<abi::PartitionCapability::Functions>();
  if (functions == 0) {
    return fail(ErrorCode::kUnsupported,
                to_string(bdf()) + " cannot be divided into virtual functions");
  }
  auto all = port.read(PartitionOperation::kReadTotals, 0);
  if (!all) return forward_error(all);
  totals = all->partition;
  const std::uint32_t count = capability->get<abi::PartitionCapability::Templates>();
  for (std::uint32_t i = 0; i < count; ++i) {
    auto read = port.read(PartitionOperation::kReadTemplate, i);
    if (!read) return forward_error(read);
    templates.push_back({read->name, read->partition});
  }
  return {};
}

// Devices that an earlier driver has made.
Status VirtualFunctions::Impl::adopt() {
  const auto records = read_all();
  if (!records) return forward_error(records);
  for (std::uint32_t i = 0; i < records->size(); ++i) {
    const auto& record = (*records)[i];
    if (!record.present()) continue;
    if (auto taken = take_memory(i, record.memory_base, record.partition.memory); !taken)
      return taken;
  }
  return {};
}

Result<VirtualFunctions::Impl::Records> VirtualFunctions::Impl::read_all() {
  if (auto settled = conclude(); !settled) return forward_error(settled);
  Records records;
  for (std::uint32_t i = 0; i < functions; ++i) {
    auto read = port.read(PartitionOperation::kReadPartition, i);
    if (!read) return forward_error(read);
    records.push_back(std::move(*read));
  }
  return records;
}

// Cores of a group are there once.
CardPartition VirtualFunctions::Impl::free_of(const Records& records) const {
  CardPartition left = totals;
  std::uint32_t groups = 0;
  for (const auto& record : records) {
    CardPartition used = record.partition;
    if (record.group && (groups >> record.group->group & 1) != 0) used.ai_cores = 0;
    if (record.group) groups |= 1U << record.group->group;
    left = left - used;
  }
  return left;
}

VirtualDevice VirtualFunctions::Impl::describe(std::uint32_t index, const PartitionRecord& record,
                                               const std::vector<platform::Bdf>& there) const {
  VirtualDevice device_of;
  device_of.id = kIdsPerCard * link.device_index() + kFirstId + index;
  device_of.index = index;
  if (index < there.size()) device_of.bdf = there[index];
  device_of.name = record.name;
  device_of.partition = record.partition;
  device_of.first_core = record.first_core;
  device_of.first_aicpu = record.first_aicpu;
  device_of.memory_base = record.memory_base;
  device_of.group = record.group;
  device_of.weights = record.weights;
  return device_of;
}

Result<PartitionRecord> VirtualFunctions::Impl::wanted(const VirtualDeviceOptions& options) const {
  PartitionRecord record;
  record.name = options.name;
  record.partition = options.partition;
  record.group = options.group;
  record.weights = options.weights;
  // The card's register has a byte for it.
  if (options.group && options.group->group >= abi::kPartitionGroups) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no group {}", options.group->group));
  }
  if (options.name.empty()) {
    if (options.partition.memory % kPageSize != 0) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{} bytes of memory are not whole pages of 2 MiB", options.partition.memory));
    }
    if (options.partition.ai_cores != 0 && options.partition.aicpus != 0 &&
        options.partition.memory != 0) {
      return record;
    }
    return fail(ErrorCode::kInvalidArgument, "a virtual device without AI Cores, AICPUs or memory");
  }
  for (const auto& each : templates) {
    if (each.name != options.name) continue;
    record.partition = each.partition;
    return record;
  }
  return fail(ErrorCode::kNotFound, "no template is called '" + options.name + "'");
}

Result<std::uint32_t> VirtualFunctions::Impl::choose(const VirtualDeviceOptions& options,
                                                     const Records& records,
                                                     std::size_t there) const {
  if (there == 0) {
    return fail(ErrorCode::kOutOfRange, to_string(bdf()) + " has no virtual functions now");
  }
  if (options.index) {
    if (*options.index >= there) {
      return fail(ErrorCode::kOutOfRange, fmt::format("virtual function {} of {}, which has {} now",
                                                      *options.index, to_string(bdf()), there));
    }
    if (!records[*options.index].present()) return *options.index;
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("virtual function {} has a device", *options.index));
  }
  for (std::uint32_t i = 0; i < there; ++i) {
    if (!records[i].present()) return i;
  }
  return fail(ErrorCode::kOutOfResources,
              fmt::format("each of the {} virtual functions has a device", there));
}

Status VirtualFunctions::Impl::place_cores(PartitionRecord& record, const Records& records) const {
  std::vector<PlacedRange> cores, aicpus;
  const PartitionRecord* mate = nullptr;
  for (const auto& other : records) {
    if (!other.present()) continue;
    if (record.group && other.group && other.group->group == record.group->group) mate = &other;
    cores.push_back({other.first_core, other.partition.ai_cores});
    aicpus.push_back({other.first_aicpu, other.partition.aicpus});
  }
  CardPartition left = free_of(records);
  if (mate != nullptr) {
    if (mate->partition.ai_cores != record.partition.ai_cores) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("group {} partitions {} AI Cores, not {}", record.group->group,
                              mate->partition.ai_cores, record.partition.ai_cores));
    }
    left.ai_cores = mate->partition.ai_cores;
  }
  if (const auto what = missing(record.partition, left); !what.empty()) {
    return fail(ErrorCode::kOutOfResources, what);
  }
  const auto core = mate != nullptr ? std::optional<std::uint64_t>(mate->first_core)
                                    : place_run(totals.ai_cores, cores, record.partition.ai_cores);
  const auto aicpu = place_run(totals.aicpus, aicpus, record.partition.aicpus);
  if (!core || !aicpu) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("{} {} wanted, the free ones are not in one piece",
                            core ? record.partition.aicpus : record.partition.ai_cores,
                            core ? "AICPUs" : "AI Cores"));
  }
  record.first_core = static_cast<std::uint32_t>(*core);
  record.first_aicpu = static_cast<std::uint32_t>(*aicpu);
  return {};
}

Status VirtualFunctions::Impl::place_memory(std::uint32_t index, PartitionRecord& record,
                                            const Records& records) {
  std::vector<PlacedRange> taken;
  for (const auto& other : records) {
    if (other.present()) taken.push_back({other.memory_base, other.partition.memory});
  }
  for (const Bytes base : memory_places(totals.memory, taken, record.partition.memory)) {
    record.memory_base = base;
    if (take_memory(index, base, record.partition.memory)) return {};
  }
  return fail(ErrorCode::kOutOfMemory,
              fmt::format("{} bytes of device memory in one piece wanted, {} are with no virtual "
                          "device",
                          record.partition.memory, free_of(records).memory));
}

Status VirtualFunctions::Impl::take_memory(std::uint32_t index, Bytes base, Bytes size) {
  const std::lock_guard lock(card_memory.mutex());
  auto taken = card_memory.physical().create_at(base, size, kOwner);
  if (!taken) return forward_error(taken);
  memory[index] = *taken;
  return {};
}

void VirtualFunctions::Impl::give_memory_back(std::uint32_t index) {
  const auto held = memory.find(index);
  if (held == memory.end()) return;
  const std::lock_guard lock(card_memory.mutex());
  card_memory.physical().release(held->second, kOwner);
  memory.erase(held);
}

// The memory of a device that the card may still make is nobody else's.
Status VirtualFunctions::Impl::create(std::uint32_t index, const PartitionRecord& record) {
  const auto made = port.create(index, record);
  if (made) return {};
  if (made.error().code == ErrorCode::kTimeout) {
    given_up.note(index, true);
    static_cast<void>(conclude());
  } else {
    give_memory_back(index);
  }
  return made;
}

Status VirtualFunctions::Impl::destroy(std::uint32_t index) {
  const auto done = port.destroy(index);
  if (done) give_memory_back(index);
  if (!done && done.error().code == ErrorCode::kTimeout) given_up.note(index, false);
  return done;
}

Status VirtualFunctions::Impl::conclude() {
  const auto without = given_up.conclude(port);
  if (!without) return forward_error(without);
  if (*without) give_memory_back(**without);
  return {};
}

VirtualFunctions::VirtualFunctions(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

VirtualFunctions::~VirtualFunctions() = default;

Result<std::unique_ptr<VirtualFunctions>> VirtualFunctions::open(Device& device,
                                                                 const Options& options) {
  if (auto usable = DeviceParts::link(device).usable(); !usable) return forward_error(usable);
  auto impl = std::make_unique<Impl>(device, options);
  if (auto read = impl->read_constants(); !read) return forward_error(read);
  if (auto adopted = impl->adopt(); !adopted) return forward_error(adopted);
  return std::unique_ptr<VirtualFunctions>(new VirtualFunctions(std::move(impl)));
}

std::uint32_t VirtualFunctions::total() const {
  return impl_->functions;
}

Result<std::uint32_t> VirtualFunctions::count() const {
  const std::lock_guard lock(*impl_->mutex);
  const auto there = impl_->platform.virtual_functions(impl_->bdf());
  if (!there) return forward_error(there);
  return static_cast<std::uint32_t>(there->size());
}

Status VirtualFunctions::set_count(std::uint32_t count) {
  const std::lock_guard lock(*impl_->mutex);
  const auto there = impl_->platform.virtual_functions(impl_->bdf());
  if (!there) return forward_error(there);
  if (there->size() == count) return {};
  const auto records = impl_->read_all();
  if (!records) return forward_error(records);
  for (std::uint32_t i = 0; i < records->size(); ++i) {
    if ((*records)[i].present()) {
      return fail(ErrorCode::kBusy, fmt::format("virtual function {} has a device", i));
    }
  }
  return impl_->platform.set_virtual_functions(impl_->bdf(), count);
}

const std::vector<VirtualTemplate>& VirtualFunctions::templates() const {
  return impl_->templates;
}

CardPartition VirtualFunctions::totals() const {
  return impl_->totals;
}

Result<CardPartition> VirtualFunctions::free_partition() const {
  const std::lock_guard lock(*impl_->mutex);
  const auto records = impl_->read_all();
  if (!records) return forward_error(records);
  return impl_->free_of(*records);
}

Result<VirtualDevice> VirtualFunctions::create(const VirtualDeviceOptions& options) {
  const std::lock_guard lock(*impl_->mutex);
  auto record = impl_->wanted(options);
  if (!record) return forward_error(record);
  const auto records = impl_->read_all();
  if (!records) return forward_error(records);
  const auto there = impl_->platform.virtual_functions(impl_->bdf());
  if (!there) return forward_error(there);
  const auto index = impl_->choose(options, *records, there->size());
  if (!index) return forward_error(index);
  if (auto placed = impl_->place_cores(*record, *records); !placed) return forward_error(placed);
  if (auto placed = impl_->place_memory(*index, *record, *records); !placed) {
    return forward_error(placed);
  }
  if (auto made = impl_->create(*index, *record); !made) return forward_error(made);
  return impl_->describe(*index, *record, *there);
}

Status VirtualFunctions::destroy(std::uint32_t index) {
  const std::lock_guard lock(*impl_->mutex);
  if (auto settled = impl_->conclude(); !settled) return settled;
  return impl_->destroy(index);
}

Status VirtualFunctions::destroy_all() {
  const std::lock_guard lock(*impl_->mutex);
  const auto records = impl_->read_all();
  if (!records) return forward_error(records);
  for (std::uint32_t i = 0; i < records->size(); ++i) {
    if (!(*records)[i].present()) continue;
    if (auto done = impl_->destroy(i); !done) return done;
  }
  return {};
}

Result<std::vector<VirtualDevice>> VirtualFunctions::list() const {
  const std::lock_guard lock(*impl_->mutex);
  const auto records = impl_->read_all();
  if (!records) return forward_error(records);
  const auto there = impl_->platform.virtual_functions(impl_->bdf());
  if (!there) return forward_error(there);
  std::vector<VirtualDevice> found;
  for (std::uint32_t i = 0; i < records->size(); ++i) {
    if ((*records)[i].present()) found.push_back(impl_->describe(i, (*records)[i], *there));
  }
  return found;
}

}  // namespace npu::driver
