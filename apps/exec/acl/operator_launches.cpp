// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/operator_launches.hpp"

#include <cstring>

#include "apps/exec/acl/models.hpp"
#include "kernels/operators/launcher/host_entry.hpp"

namespace npu::exec::acl {
namespace {

using operators::CoreKind;

Cores kind_of(CoreKind kind) {
  return kind == CoreKind::kCube ? Cores::kCube : Cores::kVector;
}

}  // namespace

OperatorLaunches::OperatorLaunches(ProcessCard& card, ProgramStream& stream,
                                   ProcessCard::Module module, const operators::CardCores& cores)
    : card_(card),
      stream_(stream),
      module_(std::move(module)),
      cores_(cores),
      most_(acl::limits_of(stream, card.limits())) {}

std::uint32_t OperatorLaunches::cores(CoreKind kind) const {
  const auto most = most_[static_cast<std::size_t>(kind_of(kind))];
  return std::max(std::min(cores_.count[static_cast<std::size_t>(kind)], most), 1U);
}

void OperatorLaunches::refuse(const char* reason) {
  if (!error_) error_ = Fault{kFeature, operators::reason_of(reason)};
}

std::uint64_t OperatorLaunches::workspace(std::uint64_t bytes) {
  if (takes_launches(stream_)) {
    const auto memory = capture_workspace(card_, stream_, bytes);
    if (!memory && !error_) error_ = memory.error();
    return memory ? memory->value : 0;
  }
  const auto memory = card_.allocate(bytes, driver::PagePolicy::kHugeFirst, 0);
  if (!memory) {
    if (!error_) error_ = memory.error();
    return 0;
  }
  workspace_ = *memory;
  return memory->value;
}

void OperatorLaunches::launch(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
                              std::uint32_t count) {
  if (error_) return;
  if (kind == CoreKind::kMixed) return refuse("programs' streams have no mixed launches");
  driver::KernelLaunch what;
  what.module = module_;
  what.cores = kind_of(kind);
  what.blocks = blocks;
  const auto limit = most_[static_cast<std::size_t>(what.cores)];
  what.most_cores = limit == card_.card().cores[static_cast<std::size_t>(what.cores)] ? 0 : limit;
  what.bytes = count * static_cast<std::uint32_t>(sizeof *words);
  what.timeout = card_.kernel_timeout();
  what.write = [words](ByteSpan host, driver::DeviceAddress) -> Status {
    std::memcpy(host.data, words, host.size);
    return {};
  };
  if (takes_launches(stream_)) {
    const auto recorded = acl::launch(stream_, what);
    if (!recorded) error_ = recorded.error();
    return;
  }
  Submitting submitting(stream_.watched);
  const auto mark = stream_.stream->launch(what);
  if (mark) {
    submitting.made(mark->ticket());
    marks_ = {*mark};
  } else {
    error_ = submission_fault(mark.error()).value();
  }
}

Outcome OperatorLaunches::end() {
  if (workspace_) {
    const auto freed = card_.free(*workspace_, std::move(marks_), {});
    if (!freed && !error_) error_ = freed.error();
  }
  if (error_) return tl::unexpected<Fault>(*error_);
  return {};
}

}  // namespace npu::exec::acl
