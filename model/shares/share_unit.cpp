// SPDX-License-Identifier: Apache-2.0
#include "model/shares/share_unit.hpp"

#include <cstring>

namespace npu::model {

using abi::ShareOperation;
using abi::ShareStatus;

ShareUnit::ShareUnit(CardRegisters& registers, Simulation& simulation, const ChipConfig& config,
                     ShareTarget& target)
    : registers_(registers),
      bank_(registers.bank()),
      sim_(simulation),
      config_(config),
      target_(target),
      shares_(config) {
  using Capability = abi::ShareCapability;
  const auto capability = Capability{}
                              .set<Capability::Functions>(shares_.functions())
                              .set<Capability::Templates>(static_cast<std::uint32_t>(
                                  config.virtual_functions.templates.size()));
  bank_.on_read<Capability>([capability] { return capability; });
  bank_.on_write<abi::ShareCommand>(
      [this](abi::ShareCommand command) { command_written(command); });
}

Picoseconds ShareUnit::scrub_time(Bytes memory) const {
  const double seconds =
      static_cast<double>(memory) / static_cast<double>(config_.virtual_functions.scrub);
  return Picoseconds(static_cast<std::int64_t>(seconds * 1e12));
}

void ShareUnit::reset() {
  ++generation_;
  busy_ = false;
  for (unsigned i = 0; i < shares_.functions(); ++i) {
    if (shares_.of(i).present()) drop(i);
  }
}

void ShareUnit::drop(unsigned index) {
  const auto had = shares_.partition(index);
  shares_.destroy(index);
  target_.stop_and_scrub(index, had);
  target_.shares_changed(index);
}

void ShareUnit::command_written(abi::ShareCommand command) {
  if (busy_) return;
  const unsigned index = command.get<abi::ShareCommand::Index>();
  switch (static_cast<ShareOperation>(command.get<abi::ShareCommand::Operation>())) {
    case ShareOperation::kCreate:
    case ShareOperation::kDestroy:
      return begin(command);
    case ShareOperation::kReadShare:
      if (index >= shares_.functions()) return finish(ShareStatus::kIndex);
      show(shares_.of(index));
      return finish(ShareStatus::kSuccess);
    case ShareOperation::kReadTemplate:
      if (index >= config_.virtual_functions.templates.size()) return finish(ShareStatus::kIndex);
      show(shares_.of_template(index));
      return finish(ShareStatus::kSuccess);
    case ShareOperation::kReadTotals:
      show(shares_.totals());
      return finish(ShareStatus::kSuccess);
  }
  finish(ShareStatus::kOperation);
}

// What is refused is refused at once. A share that ends stops at once and is gone when its memory
// is scrubbed.
void ShareUnit::begin(abi::ShareCommand command) {
  const unsigned index = command.get<abi::ShareCommand::Index>();
  const bool create = command.get<abi::ShareCommand::Operation>() ==
                      static_cast<std::uint32_t>(ShareOperation::kCreate);
  wanted_ = staged();
  const auto status = create ? check_create(index, wanted_) : check_destroy(index);
  if (status != ShareStatus::kSuccess) return finish(status);
  busy_ = true;
  command_ = command;
  SimTime time = ticks(config_.virtual_functions.command);
  if (!create) time += ticks(scrub_time(shares_.of(index).memory));
  bank_.set(abi::ShareStatusRegister{}.set<abi::ShareStatusRegister::Busy>(1));
  sim_.agenda.at<&ShareUnit::end>(sim_now() + time, *this, generation_);
}

ShareStatus ShareUnit::check_create(unsigned index, const FunctionShare& share) const {
  const auto status = shares_.check(index, share);
  if (status != ShareStatus::kSuccess) return status;
  const auto partition = shares_.partition(share);
  // The others of a group may be at work on its cores.
  if (!share.in_group() && !target_.cores_idle(partition)) return ShareStatus::kCoresBusy;
  return target_.aicpus_idle(partition) ? ShareStatus::kSuccess : ShareStatus::kAicpusBusy;
}

ShareStatus ShareUnit::check_destroy(unsigned index) const {
  if (index >= shares_.functions()) return ShareStatus::kIndex;
  if (!shares_.of(index).present()) return ShareStatus::kAbsent;
  return target_.in_use(index) ? ShareStatus::kFunctionBusy : ShareStatus::kSuccess;
}

// What was free at the beginning may be in use at the end.
void ShareUnit::end(std::uint64_t generation) {
  if (generation != generation_) return;
  const unsigned index = command_.get<abi::ShareCommand::Index>();
  if (command_.get<abi::ShareCommand::Operation>() ==
      static_cast<std::uint32_t>(ShareOperation::kDestroy)) {
    const auto status = check_destroy(index);
    if (status == ShareStatus::kSuccess) drop(index);
    return finish(status);
  }
  auto status = check_create(index, wanted_);
  if (status == ShareStatus::kSuccess) {
    shares_.create(index, wanted_);
    target_.shares_changed(index);
  }
  finish(status);
}

void ShareUnit::finish(ShareStatus status) {
  busy_ = false;
  bank_.set(abi::ShareStatusRegister{}.set<abi::ShareStatusRegister::Code>(
      static_cast<std::uint32_t>(status)));
}

FunctionShare ShareUnit::staged() const {
  FunctionShare share;
  const std::uint64_t name[] = {bank_.get<abi::ShareName0>().raw, bank_.get<abi::ShareName1>().raw};
  std::memcpy(share.name.data(), name, sizeof name);
  const auto cores = bank_.get<abi::ShareCores>();
  share.first_cluster = cores.get<abi::ShareCores::First>();
  share.clusters = cores.get<abi::ShareCores::Count>();
  const auto aicpus = bank_.get<abi::ShareAicpus>();
  share.first_aicpu = aicpus.get<abi::ShareAicpus::First>();
  share.aicpus = aicpus.get<abi::ShareAicpus::Count>();
  share.memory_base = bank_.get<abi::ShareMemoryBase>().raw;
  share.memory = bank_.get<abi::ShareMemorySize>().raw;
  using Media = abi::ShareMedia;
  const auto media = bank_.get<Media>();
  const auto units = [](std::uint64_t count) { return static_cast<unsigned>(count); };
  share.media = {units(media.get<Media::Vpc>()), units(media.get<Media::Jpegd>()),
                 units(media.get<Media::Jpege>()), units(media.get<Media::Venc>()),
                 units(media.get<Media::Vdec>())};
  const auto group = bank_.get<abi::ShareGroup>();
  share.group = group.get<abi::ShareGroup::Group>();
  share.vip = group.get<abi::ShareGroup::Vip>() != 0;
  const auto tokens = bank_.get<abi::ShareTokens>();
  share.token = static_cast<std::uint32_t>(tokens.get<abi::ShareTokens::Token>());
  share.token_max = static_cast<std::uint32_t>(tokens.get<abi::ShareTokens::Maximum>());
  share.task_timeout_us = bank_.get<abi::ShareTaskTimeout>().raw;
  using Weights = abi::ShareWeights;
  const auto weights = bank_.get<Weights>();
  share.dma_weight = static_cast<std::uint8_t>(weights.get<Weights::Dma>());
  share.hbm_weight = static_cast<std::uint8_t>(weights.get<Weights::Hbm>());
  share.link_weight = static_cast<std::uint8_t>(weights.get<Weights::Link>());
  return share;
}

void ShareUnit::show(const FunctionShare& share) {
  std::uint64_t name[2];
  std::memcpy(name, share.name.data(), sizeof name);
  bank_.set(abi::ShareName0::from_raw(name[0]));
  bank_.set(abi::ShareName1::from_raw(name[1]));
  bank_.set(abi::ShareCores{}
                .set<abi::ShareCores::First>(share.first_cluster)
                .set<abi::ShareCores::Count>(share.clusters));
  bank_.set(abi::ShareAicpus{}
                .set<abi::ShareAicpus::First>(share.first_aicpu)
                .set<abi::ShareAicpus::Count>(share.aicpus));
  bank_.set(abi::ShareMemoryBase::from_raw(share.memory_base));
  bank_.set(abi::ShareMemorySize::from_raw(share.memory));
  using Media = abi::ShareMedia;
  bank_.set(Media{}
                .set<Media::Vpc>(share.media.vpc)
                .set<Media::Jpegd>(share.media.jpegd)
                .set<Media::Jpege>(share.media.jpege)
                .set<Media::Venc>(share.media.venc)
                .set<Media::Vdec>(share.media.vdec));
  bank_.set(abi::ShareGroup{}
                .set<abi::ShareGroup::Group>(share.group)
                .set<abi::ShareGroup::Vip>(share.vip ? 1 : 0));
  bank_.set(abi::ShareTokens{}
                .set<abi::ShareTokens::Token>(share.token)
                .set<abi::ShareTokens::Maximum>(share.token_max));
  bank_.set(abi::ShareTaskTimeout::from_raw(share.task_timeout_us));
  bank_.set(abi::ShareWeights{}
                .set<abi::ShareWeights::Dma>(share.dma_weight)
                .set<abi::ShareWeights::Hbm>(share.hbm_weight)
                .set<abi::ShareWeights::Link>(share.link_weight));
}

}  // namespace npu::model
