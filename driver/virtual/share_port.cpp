// SPDX-License-Identifier: Apache-2.0
#include "driver/virtual/share_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace npu::driver {

using abi::ShareOperation;
using abi::ShareStatus;

namespace {

constexpr Picoseconds kLookAgain = 10_us;  // commands take longer than a register read

ErrorCode code_of(ShareStatus status) {
  switch (status) {
    case ShareStatus::kIndex:
      return ErrorCode::kOutOfRange;
    case ShareStatus::kPresent:
      return ErrorCode::kAlreadyExists;
    case ShareStatus::kAbsent:
      return ErrorCode::kNotFound;
    case ShareStatus::kFunctionBusy:
    case ShareStatus::kCoresBusy:
    case ShareStatus::kAicpusBusy:
      return ErrorCode::kBusy;
    case ShareStatus::kCores:
    case ShareStatus::kAicpus:
    case ShareStatus::kMedia:
      return ErrorCode::kOutOfResources;
    case ShareStatus::kMemory:
      return ErrorCode::kOutOfMemory;
    case ShareStatus::kGroup:
    case ShareStatus::kToken:
    case ShareStatus::kWeight:
      return ErrorCode::kInvalidArgument;
    case ShareStatus::kSuccess:
    case ShareStatus::kOperation:
      break;
  }
  return ErrorCode::kUnsupported;
}

std::string_view name_of(ShareOperation operation) {
  switch (operation) {
    case ShareOperation::kCreate:
      return "create";
    case ShareOperation::kDestroy:
      return "destroy";
    case ShareOperation::kReadShare:
      return "read";
    case ShareOperation::kReadTemplate:
      return "read template of";
    case ShareOperation::kReadTotals:
      return "read totals of";
  }
  return "?";
}

}  // namespace

Status SharePort::run(ShareOperation operation, std::uint32_t index) {
  using Command = abi::ShareCommand;
  link_.write(Command{}
                  .set<Command::Operation>(static_cast<std::uint32_t>(operation))
                  .set<Command::Index>(index));
  auto& clock = link_.clock();
  const auto deadline = clock.now() + timeout_;
  for (;;) {
    const auto status = link_.read<abi::ShareStatusRegister>();
    if (!status) return forward_error(status);
    if (status->get<abi::ShareStatusRegister::Busy>() == 0) {
      const auto code = static_cast<ShareStatus>(status->get<abi::ShareStatusRegister::Code>());
      if (code == ShareStatus::kSuccess) return {};
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

Status SharePort::wait_until_idle() {
  auto& clock = link_.clock();
  const auto deadline = clock.now() + timeout_;
  for (;;) {
    const auto status = link_.read<abi::ShareStatusRegister>();
    if (!status) return forward_error(status);
    if (status->get<abi::ShareStatusRegister::Busy>() == 0) return {};
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout, "the card is still at an earlier command");
    }
    clock.sleep_until(std::min(clock.now() + kLookAgain, deadline));
  }
}

Result<ShareRecord> SharePort::read(ShareOperation operation, std::uint32_t index) {
  if (auto done = run(operation, index); !done) return forward_error(done);
  return collect();
}

Result<ShareRecord> SharePort::collect() {
  ShareRecord record;
  const auto name0 = link_.read<abi::ShareName0>();
  const auto name1 = link_.read<abi::ShareName1>();
  const auto cores = link_.read<abi::ShareCores>();
  const auto aicpus = link_.read<abi::ShareAicpus>();
  const auto base = link_.read<abi::ShareMemoryBase>();
  const auto size = link_.read<abi::ShareMemorySize>();
  const auto media = link_.read<abi::ShareMedia>();
  const auto group = link_.read<abi::ShareGroup>();
  const auto weights = link_.read<abi::ShareWeights>();
  const auto tokens = link_.read<abi::ShareTokens>();
  const auto task_timeout = link_.read<abi::ShareTaskTimeout>();
  if (!task_timeout) return forward_error(task_timeout);
  if (!(name0 && name1 && cores && aicpus && base && size && media && group && weights && tokens)) {
    return fail(ErrorCode::kIo, "the registers of shares do not read");
  }
  char name[abi::kShareNameBytes + 1] = {};
  std::memcpy(name, &name0->raw, sizeof name0->raw);
  std::memcpy(name + sizeof name0->raw, &name1->raw, sizeof name1->raw);
  record.name = name;
  record.first_core = cores->get<abi::ShareCores::First>();
  record.share.ai_cores = cores->get<abi::ShareCores::Count>();
  record.first_aicpu = aicpus->get<abi::ShareAicpus::First>();
  record.share.aicpus = aicpus->get<abi::ShareAicpus::Count>();
  record.memory_base = base->raw;
  record.share.memory = size->raw;
  using Media = abi::ShareMedia;
  const auto units = [](std::uint64_t count) { return static_cast<std::uint32_t>(count); };
  record.share.vpc = units(media->get<Media::Vpc>());
  record.share.jpegd = units(media->get<Media::Jpegd>());
  record.share.jpege = units(media->get<Media::Jpege>());
  record.share.venc = units(media->get<Media::Venc>());
  record.share.vdec = units(media->get<Media::Vdec>());
  if (group->get<abi::ShareGroup::Group>() != abi::kNoShareGroup) {
    record.group = GroupShare{group->get<abi::ShareGroup::Group>(),
                              units(tokens->get<abi::ShareTokens::Token>()),
                              units(tokens->get<abi::ShareTokens::Maximum>()), task_timeout->raw,
                              group->get<abi::ShareGroup::Vip>() != 0};
  }
  using Weights = abi::ShareWeights;
  record.weights = {static_cast<std::uint8_t>(weights->get<Weights::Dma>()),
                    static_cast<std::uint8_t>(weights->get<Weights::Hbm>()),
                    static_cast<std::uint8_t>(weights->get<Weights::Link>())};
  return record;
}

Status SharePort::create(std::uint32_t index, const ShareRecord& record) {
  char name[abi::kShareNameBytes] = {};
  std::copy_n(record.name.begin(), std::min(record.name.size(), sizeof name), name);
  std::uint64_t words[2];
  std::memcpy(words, name, sizeof name);
  link_.write(abi::ShareName0::from_raw(words[0]));
  link_.write(abi::ShareName1::from_raw(words[1]));
  const auto& share = record.share;
  link_.write(abi::ShareCores{}
                  .set<abi::ShareCores::First>(record.first_core)
                  .set<abi::ShareCores::Count>(share.ai_cores));
  link_.write(abi::ShareAicpus{}
                  .set<abi::ShareAicpus::First>(record.first_aicpu)
                  .set<abi::ShareAicpus::Count>(share.aicpus));
  link_.write(abi::ShareMemoryBase::from_raw(record.memory_base));
  link_.write(abi::ShareMemorySize::from_raw(share.memory));
  using Media = abi::ShareMedia;
  link_.write(Media{}
                  .set<Media::Vpc>(share.vpc)
                  .set<Media::Jpegd>(share.jpegd)
                  .set<Media::Jpege>(share.jpege)
                  .set<Media::Venc>(share.venc)
                  .set<Media::Vdec>(share.vdec));
  const GroupShare group = record.group.value_or(GroupShare{abi::kNoShareGroup, 0, 0, 0, false});
  link_.write(abi::ShareGroup{}
                  .set<abi::ShareGroup::Group>(group.group)
                  .set<abi::ShareGroup::Vip>(group.vip ? 1 : 0));
  link_.write(abi::ShareTokens{}
                  .set<abi::ShareTokens::Token>(group.token)
                  .set<abi::ShareTokens::Maximum>(group.token_max));
  link_.write(abi::ShareTaskTimeout::from_raw(group.task_timeout_us));
  using Weights = abi::ShareWeights;
  link_.write(Weights{}
                  .set<Weights::Dma>(record.weights.dma)
                  .set<Weights::Hbm>(record.weights.hbm)
                  .set<Weights::Link>(record.weights.link));
  return run(ShareOperation::kCreate, index);
}

Status SharePort::destroy(std::uint32_t index) {
  return run(ShareOperation::kDestroy, index);
}

}  // namespace npu::driver
