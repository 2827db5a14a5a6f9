// SPDX-License-Identifier: Apache-2.0
#include "driver/virtual/partition_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace npu::driver {

using abi::PartitionOperation;
using abi::PartitionStatus;

namespace {

constexpr Picoseconds kLookAgain = 10_us;  // commands take longer than a register read

ErrorCode code_of(PartitionStatus status) {
  switch (status) {
    case PartitionStatus::kIndex:
      return ErrorCode::kOutOfRange;
    case PartitionStatus::kPresent:
      return ErrorCode::kAlreadyExists;
    case PartitionStatus::kAbsent:
      return ErrorCode::kNotFound;
    case PartitionStatus::kFunctionBusy:
    case PartitionStatus::kCoresBusy:
    case PartitionStatus::kAicpusBusy:
      return ErrorCode::kBusy;
    case PartitionStatus::kCores:
    case PartitionStatus::kAicpus:
    case PartitionStatus::kMedia:
      return ErrorCode::kOutOfResources;
    case PartitionStatus::kMemory:
      return ErrorCode::kOutOfMemory;
    case PartitionStatus::kGroup:
    case PartitionStatus::kToken:
    case PartitionStatus::kWeight:
      return ErrorCode::kInvalidArgument;
    case PartitionStatus::kSuccess:
    case PartitionStatus::kOperation:
      break;
  }
  return ErrorCode::kUnsupported;
}

std::string_view name_of(PartitionOperation operation) {
  switch (operation) {
    case PartitionOperation::kCreate:
      return "create";
    case PartitionOperation::kDestroy:
      return "destroy";
    case PartitionOperation::kReadPartition:
      return "read";
    case PartitionOperation::kReadTemplate:
      return "read template of";
    case PartitionOperation::kReadTotals:
      return "read totals of";
  }
  return "?";
}

}  // namespace

Status PartitionPort::run(PartitionOperation operation, std::uint32_t index) {
  using Command = abi::PartitionCommand;
  link_.write(Command{}
                  .set<Command::Operation>(static_cast<std::uint32_t>(operation))
                  .set<Command::Index>(index));
  auto& clock = link_.clock();
  const auto deadline = clock.now() + timeout_;
  for (;;) {
    const auto status = link_.read<abi::PartitionStatusRegister>();
    if (!status) return forward_error(status);
    if (status->get<abi::PartitionStatusRegister::Busy>() == 0) {
      const auto code =
          static_cast<PartitionStatus>(status->get<abi::PartitionStatusRegister::Code>());
      if (code == PartitionStatus::kSuccess) return {};
      return fail(code_of(code), fmt::format("{} virtual device {}: {}", name_of(operation), index,
                                             abi::to_string(code)));
    }
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, fmt::format("{} virtual device {}: the card is still at it",
                                                   name_of(operation), index));
    }
    clock.sleep_until(std::min(clock.now() + kLookAgain, deadline));
  }
}

Status PartitionPort::wait_until_idle() {
  auto& clock = link_.clock();
  const auto deadline = clock.now() + timeout_;
  for (;;) {
    const auto status = link_.read<abi::PartitionStatusRegister>();
    if (!status) return forward_error(status);
    if (status->get<abi::PartitionStatusRegister::Busy>() == 0) return {};
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, "the card is still at an earlier command");
    }
    clock.sleep_until(std::min(clock.now() + kLookAgain, deadline));
  }
}

Result<PartitionRecord> PartitionPort::read(PartitionOperation operation, std::uint32_t index) {
  if (auto done = run(operation, index); !done) return forward_error(done);
  return collect();
}

Result<PartitionRecord> PartitionPort::collect() {
  PartitionRecord record;
  const auto name0 = link_.read<abi::ShareName0>();
  const auto name1 = link_.read<abi::ShareName1>();
  const auto cores = link_.read<abi::PartitionCores>();
  const auto aicpus = link_.read<abi::PartitionAicpus>();
  const auto base = link_.read<abi::PartitionMemoryBase>();
  const auto size = link_.read<abi::PartitionMemorySize>();
  const auto media = link_.read<abi::PartitionMedia>();
  const auto group = link_.read<abi::PartitionGroup>();
  const auto weights = link_.read<abi::PartitionWeights>();
  const auto tokens = link_.read<abi::PartitionTokens>();
  const auto task_timeout = link_.read<abi::PartitionTaskTimeout>();
  if (!task_timeout) return forward_error(task_timeout);
  if (!(name0 && name1 && cores && aicpus && base && size && media && group && weights && tokens)) {
    return fail(ErrorCode::kIo, "the registers of partitions do not read");
  }
  char name[abi::kPartitionNameBytes + 1] = {};
  std::memcpy(name, &name0->raw, sizeof name0->raw);
  std::memcpy(name + sizeof name0->raw, &name1->raw, sizeof name1->raw);
  record.name = name;
  record.first_core = cores->get<abi::PartitionCores::First>();
  record.partition.ai_cores = cores->get<abi::PartitionCores::Count>();
  record.first_aicpu = aicpus->get<abi::PartitionAicpus::First>();
  record.partition.aicpus = aicpus->get<abi::PartitionAicpus::Count>();
  record.memory_base = base->raw;
  record.partition.memory = size->raw;
  using Media = abi::PartitionMedia;
  const auto units = [](std::uint64_t count) { return static_cast<std::uint32_t>(count); };
  record.partition.vpc = units(media->get<Media::Vpc>());
  record.partition.jpegd = units(media->get<Media::Jpegd>());
  record.partition.jpege = units(media->get<Media::Jpege>());
  record.partition.venc = units(media->get<Media::Venc>());
  record.partition.vdec = units(media->get<Media::Vdec>());
  if (group->get<abi::PartitionGroup::Group>() != abi::kNoPartitionGroup) {
    record.group = GroupPartition{group->get<abi::PartitionGroup::Group>(),
                                  units(tokens->get<abi::PartitionTokens::Token>()),
                                  units(tokens->get<abi::PartitionTokens::Maximum>()),
                                  task_timeout->raw, group->get<abi::PartitionGroup::Vip>() != 0};
  }
  using Weights = abi::PartitionWeights;
  record.weights = {static_cast<std::uint8_t>(weights->get<Weights::Dma>()),
                    static_cast<std::uint8_t>(weights->get<Weights::Hbm>()),
                    static_cast<std::uint8_t>(weights->get<Weights::Link>())};
  return record;
}

Status PartitionPort::create(std::uint32_t index, const PartitionRecord& record) {
  char name[abi::kPartitionNameBytes] = {};
  std::copy_n(record.name.begin(), std::min(record.name.size(), sizeof name), name);
  std::uint64_t words[2];
  std::memcpy(words, name, sizeof name);
  link_.write(abi::ShareName0::from_raw(words[0]));
  link_.write(abi::ShareName1::from_raw(words[1]));
  const auto& partition = record.partition;
  link_.write(abi::PartitionCores{}
                  .set<abi::PartitionCores::First>(record.first_core)
                  .set<abi::PartitionCores::Count>(partition.ai_cores));
  link_.write(abi::PartitionAicpus{}
                  .set<abi::PartitionAicpus::First>(record.first_aicpu)
                  .set<abi::PartitionAicpus::Count>(partition.aicpus));
  link_.write(abi::PartitionMemoryBase::from_raw(record.memory_base));
  link_.write(abi::PartitionMemorySize::from_raw(partition.memory));
  using Media = abi::PartitionMedia;
  link_.write(Media{}
                  .set<Media::Vpc>(partition.vpc)
                  .set<Media::Jpegd>(partition.jpegd)
                  .set<Media::Jpege>(partition.jpege)
                  .set<Media::Venc>(partition.venc)
                  .set<Media::Vdec>(partition.vdec));
  const GroupPartition group =
      record.group.value_or(GroupPartition{abi::kNoPartitionGroup, 0, 0, 0, false});
  link_.write(abi::PartitionGroup{}
                  .set<abi::PartitionGroup::Group>(group.group)
                  .set<abi::PartitionGroup::Vip>(group.vip ? 1 : 0));
  link_.write(abi::PartitionTokens{}
                  .set<abi::PartitionTokens::Token>(group.token)
                  .set<abi::PartitionTokens::Maximum>(group.token_max));
  link_.write(abi::PartitionTaskTimeout::from_raw(group.task_timeout_us));
  using Weights = abi::PartitionWeights;
  link_.write(Weights{}
                  .set<Weights::Dma>(record.weights.dma)
                  .set<Weights::Hbm>(record.weights.hbm)
                  .set<Weights::Link>(record.weights.link));
  return run(PartitionOperation::kCreate, index);
}

Status PartitionPort::destroy(std::uint32_t index) {
  return run(PartitionOperation::kDestroy, index);
}

}  // namespace npu::driver
