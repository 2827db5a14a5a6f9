// SPDX-License-Identifier: Apache-2.0
#include "model/partitions/partition_unit.hpp"

#include <cstring>

namespace npu::model {

using abi::PartitionOperation;
using abi::PartitionStatus;

PartitionUnit::PartitionUnit(CardRegisters& registers, Simulation& simulation,
                             const ChipConfig& config, PartitionTarget& target)
    : registers_(registers),
      bank_(registers.bank()),
      sim_(simulation),
      config_(config),
      target_(target),
      partitions_(config) {
  using Capability = abi::PartitionCapability;
  const auto capability = Capability{}
                              .set<Capability::Functions>(partitions_.functions())
                              .set<Capability::Templates>(static_cast<std::uint32_t>(
                                  config.virtual_functions.templates.size()));
  bank_.on_read<Capability>([capability] { return capability; });
  bank_.on_write<abi::PartitionCommand>(
      [this](abi::PartitionCommand command) { command_written(command); });
}

Picoseconds PartitionUnit::scrub_time(Bytes memory) const {
  const double seconds =
      static_cast<double>(memory) / static_cast<double>(config_.virtual_functions.scrub);
  return Picoseconds(static_cast<std::int64_t>(seconds * 1e12));
}

void PartitionUnit::reset() {
  ++generation_;
  busy_ = false;
  for (unsigned i = 0; i < partitions_.functions(); ++i) {
    if (partitions_.of(i).present()) drop(i);
  }
}

void PartitionUnit::drop(unsigned index) {
  const auto had = partitions_.partition(index);
  partitions_.destroy(index);
  target_.stop_and_scrub(index, had);
  target_.partitions_changed(index);
}

void PartitionUnit::command_written(abi::PartitionCommand command) {
  if (busy_) return;
  const unsigned index = command.get<abi::PartitionCommand::Index>();
  switch (static_cast<PartitionOperation>(command.get<abi::PartitionCommand::Operation>())) {
    case PartitionOperation::kCreate:
    case PartitionOperation::kDestroy:
      return begin(command);
    case PartitionOperation::kReadPartition:
      if (index >= partitions_.functions()) return finish(PartitionStatus::kIndex);
      show(partitions_.of(index));
      return finish(PartitionStatus::kSuccess);
    case PartitionOperation::kReadTemplate:
      if (index >= config_.virtual_functions.templates.size())
        return finish(PartitionStatus::kIndex);
      show(partitions_.of_template(index));
      return finish(PartitionStatus::kSuccess);
    case PartitionOperation::kReadTotals:
      show(partitions_.totals());
      return finish(PartitionStatus::kSuccess);
  }
  finish(PartitionStatus::kOperation);
}

// What is refused is refused at once. A partition that ends stops at once and is gone when its
// memory is scrubbed.
void PartitionUnit::begin(abi::PartitionCommand command) {
  const unsigned index = command.get<abi::PartitionCommand::Index>();
  const bool create = command.get<abi::PartitionCommand::Operation>() ==
                      static_cast<std::uint32_t>(PartitionOperation::kCreate);
  wanted_ = staged();
  const auto status = create ? check_create(index, wanted_) : check_destroy(index);
  if (status != PartitionStatus::kSuccess) return finish(status);
  busy_ = true;
  command_ = command;
  SimTime time = ticks(config_.virtual_functions.command);
  if (!create) time += ticks(scrub_time(partitions_.of(index).memory));
  bank_.set(abi::PartitionStatusRegister{}.set<abi::PartitionStatusRegister::Busy>(1));
  sim_.agenda.at<&PartitionUnit::end>(sim_now() + time, *this, generation_);
}

PartitionStatus PartitionUnit::check_create(unsigned index, const FunctionPartition& wanted) const {
  const auto status = partitions_.check(index, wanted);
  if (status != PartitionStatus::kSuccess) return status;
  const auto partition = partitions_.partition(wanted);
  // The others of a group may be at work on its cores.
  if (!wanted.in_group() && !target_.cores_idle(partition)) return PartitionStatus::kCoresBusy;
  return target_.aicpus_idle(partition) ? PartitionStatus::kSuccess : PartitionStatus::kAicpusBusy;
}

PartitionStatus PartitionUnit::check_destroy(unsigned index) const {
  if (index >= partitions_.functions()) return PartitionStatus::kIndex;
  if (!partitions_.of(index).present()) return PartitionStatus::kAbsent;
  return target_.in_use(index) ? PartitionStatus::kFunctionBusy : PartitionStatus::kSuccess;
}

// What was free at the beginning may be in use at the end.
void PartitionUnit::end(std::uint64_t generation) {
  if (generation != generation_) return;
  const unsigned index = command_.get<abi::PartitionCommand::Index>();
  if (command_.get<abi::PartitionCommand::Operation>() ==
      static_cast<std::uint32_t>(PartitionOperation::kDestroy)) {
    const auto status = check_destroy(index);
    if (status == PartitionStatus::kSuccess) drop(index);
    return finish(status);
  }
  auto status = check_create(index, wanted_);
  if (status == PartitionStatus::kSuccess) {
    partitions_.create(index, wanted_);
    target_.partitions_changed(index);
  }
  finish(status);
}

void PartitionUnit::finish(PartitionStatus status) {
  busy_ = false;
  bank_.set(abi::PartitionStatusRegister{}.set<abi::PartitionStatusRegister::Code>(
      static_cast<std::uint32_t>(status)));
}

FunctionPartition PartitionUnit::staged() const {
  FunctionPartition partition;
  const std::uint64_t name[] = {bank_.get<abi::ShareName0>().raw, bank_.get<abi::ShareName1>().raw};
  std::memcpy(partition.name.data(), name, sizeof name);
  const auto cores = bank_.get<abi::PartitionCores>();
  partition.first_cluster = cores.get<abi::PartitionCores::First>();
  partition.clusters = cores.get<abi::PartitionCores::Count>();
  const auto aicpus = bank_.get<abi::PartitionAicpus>();
  partition.first_aicpu = aicpus.get<abi::PartitionAicpus::First>();
  partition.aicpus = aicpus.get<abi::PartitionAicpus::Count>();
  partition.memory_base = bank_.get<abi::PartitionMemoryBase>().raw;
  partition.memory = bank_.get<abi::PartitionMemorySize>().raw;
  using Media = abi::PartitionMedia;
  const auto media = bank_.get<Media>();
  const auto units = [](std::uint64_t count) { return static_cast<unsigned>(count); };
  partition.media = {units(media.get<Media::Vpc>()), units(media.get<Media::Jpegd>()),
                     units(media.get<Media::Jpege>()), units(media.get<Media::Venc>()),
                     units(media.get<Media::Vdec>())};
  const auto group = bank_.get<abi::PartitionGroup>();
  partition.group = group.get<abi::PartitionGroup::Group>();
  partition.vip = group.get<abi::PartitionGroup::Vip>() != 0;
  const auto tokens = bank_.get<abi::PartitionTokens>();
  partition.token = static_cast<std::uint32_t>(tokens.get<abi::PartitionTokens::Token>());
  partition.token_max = static_cast<std::uint32_t>(tokens.get<abi::PartitionTokens::Maximum>());
  partition.task_timeout_us = bank_.get<abi::PartitionTaskTimeout>().raw;
  using Weights = abi::PartitionWeights;
  const auto weights = bank_.get<Weights>();
  partition.dma_weight = static_cast<std::uint8_t>(weights.get<Weights::Dma>());
  partition.hbm_weight = static_cast<std::uint8_t>(weights.get<Weights::Hbm>());
  partition.link_weight = static_cast<std::uint8_t>(weights.get<Weights::Link>());
  return partition;
}

void PartitionUnit::show(const FunctionPartition& partition) {
  std::uint64_t name[2];
  std::memcpy(name, partition.name.data(), sizeof name);
  bank_.set(abi::ShareName0::from_raw(name[0]));
  bank_.set(abi::ShareName1::from_raw(name[1]));
  bank_.set(abi::PartitionCores{}
                .set<abi::PartitionCores::First>(partition.first_cluster)
                .set<abi::PartitionCores::Count>(partition.clusters));
  bank_.set(abi::PartitionAicpus{}
                .set<abi::PartitionAicpus::First>(partition.first_aicpu)
                .set<abi::PartitionAicpus::Count>(partition.aicpus));
  bank_.set(abi::PartitionMemoryBase::from_raw(partition.memory_base));
  bank_.set(abi::PartitionMemorySize::from_raw(partition.memory));
  using Media = abi::PartitionMedia;
  bank_.set(Media{}
                .set<Media::Vpc>(partition.media.vpc)
                .set<Media::Jpegd>(partition.media.jpegd)
                .set<Media::Jpege>(partition.media.jpege)
                .set<Media::Venc>(partition.media.venc)
                .set<Media::Vdec>(partition.media.vdec));
  bank_.set(abi::PartitionGroup{}
                .set<abi::PartitionGroup::Group>(partition.group)
                .set<abi::PartitionGroup::Vip>(partition.vip ? 1 : 0));
  bank_.set(abi::PartitionTokens{}
                .set<abi::PartitionTokens::Token>(partition.token)
                .set<abi::PartitionTokens::Maximum>(partition.token_max));
  bank_.set(abi::PartitionTaskTimeout::from_raw(partition.task_timeout_us));
  bank_.set(abi::PartitionWeights{}
                .set<abi::PartitionWeights::Dma>(partition.dma_weight)
                .set<abi::PartitionWeights::Hbm>(partition.hbm_weight)
                .set<abi::PartitionWeights::Link>(partition.link_weight));
}

}  // namespace npu::model
