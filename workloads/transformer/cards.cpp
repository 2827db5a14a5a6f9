// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/cards.hpp"

#include <fmt/format.h>

#include <optional>

#include "workloads/programs/support/collective_ranks.hpp"
#include "workloads/programs/support/operator_limits.hpp"

namespace npu::workloads::transformer {
namespace {

constexpr Bytes kTimeBytes = 64;  // of a record

}  // namespace

Result<std::unique_ptr<DecoderCards>> DecoderCards::open(
    Context& context, jit::KernelCache& cache, unsigned ranks,
    const driver::CommunicatorOptions& options) {
  const auto first = context.parameters.integer("card");
  if (context.machine == nullptr || first >= context.machine->cards.size()) {
    return fail(ErrorCode::kUnsupported, "operators are launched on cards of a configuration");
  }
  if (ranks > context.machine->cards.size() - first) {
    const bool apart = context.parameters.integer("data_parallel") > 1;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}={}: the machine has {} cards from card {} on; system-2x910b2 has "
                            "two with a link between them, system-8x910b eight",
                            apart ? "data_parallel" : "tensor_parallel", ranks,
                            context.machine->cards.size() - first, first));
  }
  std::unique_ptr<DecoderCards> cards(new DecoderCards(context));
  cards->ranks_.resize(ranks);
  std::optional<driver::ScanResult> found;
  if (ranks > 1) {
    auto scanned = driver::scan(context.platform);
    if (!scanned) return forward_error(scanned);
    found = std::move(*scanned);
  }
  std::vector<driver::CommunicatorRank> members;
  for (unsigned i = 0; i < ranks; ++i) {
    auto& rank = cards->ranks_[i];
    rank.card = static_cast<std::uint32_t>(first + i);
    if (auto ok = cards->open(rank, cache, found ? &*found : nullptr); !ok)
      return forward_error(ok);
    members.push_back({&rank.session->process()});
  }
  if (ranks == 1) return cards;
  auto communicator = driver::Communicator::create(members, options);
  if (!communicator) return forward_error(communicator);
  cards->communicator_ = std::move(*communicator);
  return cards;
}

DecoderCards::~DecoderCards() {
  communicator_.reset();
  for (auto& rank : ranks_) rank.side.reset();
}

Status DecoderCards::open(Rank& rank, jit::KernelCache& cache, const driver::ScanResult* found) {
  auto device = found == nullptr ? open_card(context_) : open_card_at(context_, *found, rank.card);
  if (!device) return forward_error(device);
  rank.device = std::move(*device);
  auto session = QueueSession::open(context_, *rank.device);
  if (!session) return forward_error(session);
  rank.session = std::move(*session);
  operators::LauncherOptions options;
  options.cores = cores_of(context_.machine->cards[rank.card]);
  const bool graph = context_.parameters.choice("launch") == "graph";
  if (graph) options.log2_entries = 12;  // all entries of a step of a large model
  auto launcher =
      operators::Launcher::open(rank.session->process(), context_.platform.clock(), options);
  if (!launcher) return forward_error(launcher);
  rank.launcher = std::move(*launcher);
  if (graph) {  // no step makes a ring of this size
    if (auto ok = rank.launcher->stream().prepare(driver::LaunchCores::kMixed); !ok) return ok;
  }
  rank.runner =
      std::make_unique<operators::OperatorRunner>(context_.platform, cache, *rank.launcher);
  return found == nullptr ? Status() : open_side(rank);
}

Status DecoderCards::open_side(Rank& rank) {
  auto& process = rank.session->process();
  rank.arguments = std::make_unique<driver::ArgumentPool>(process);
  driver::ExecutionStreamOptions options;
  options.wait = driver::WaitPolicy::kPolling;
  options.on_error = driver::StreamErrorMode::kStop;
  use_vector_cores(context_, rank.card, &options);
  auto stream = driver::ExecutionStream::open(process, *rank.arguments, options);
  if (!stream) return forward_error(stream);
  rank.side = std::move(*stream);
  auto time = rank.session->allocate_host(kTimeBytes);
  if (!time) return forward_error(time);
  rank.time = *time;
  return {};
}

std::vector<RankCard> DecoderCards::ranks() {
  std::vector<RankCard> all;
  for (unsigned i = 0; i < ranks_.size(); ++i) {
    auto& rank = ranks_[i];
    all.push_back({rank.card, *rank.session, *rank.runner, *rank.launcher, i, communicator_.get(),
                   rank.side.get(),
                   rank.time == nullptr ? platform::BusAddress{} : rank.time->bus()});
  }
  return all;
}

Status DecoderCards::close() {
  communicator_.reset();
  for (auto& rank : ranks_) {
    rank.side.reset();
    rank.arguments.reset();
    if (auto ok = rank.launcher->close(); !ok) return ok;
    if (auto ok = rank.session->close(); !ok) return ok;
  }
  return {};
}

}  // namespace npu::workloads::transformer
