// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/communicators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/exec/acl/process.hpp"

namespace npu::exec::acl {
namespace {

// For operations that are in flight when a rank goes.
constexpr Picoseconds kLastOperations = 60'000'000_us;

Outcome may_join(Process& process, const Domain& domain, const Joining& joining) {
  if (domain.places.size() != joining.ranks) {
    return fault(kInvalidParameter,
                 fmt::format("{} ranks, others say {}", joining.ranks, domain.places.size()));
  }
  std::vector<unsigned> taken;
  for (const auto& member : joining.members) {
    const bool twice = std::find(taken.begin(), taken.end(), member.rank) != taken.end();
    if (member.rank >= joining.ranks || twice || domain.places[member.rank].process != nullptr) {
      return fault(kInvalidParameter, fmt::format("rank {} of {} is none or has come already",
                                                  member.rank, joining.ranks));
    }
    const bool shares_device =
        std::any_of(domain.places.begin(), domain.places.end(), [&](const auto& place) {
          return place.process == &process && place.device == member.device;
        });
    if (shares_device) {
      return fault(kInvalidParameter,
                   fmt::format("device {} has a rank of this program already", member.device));
    }
    if (process.card(member.device) == nullptr) {
      return fault(kInvalidDevice, fmt::format("device {} is not set", member.device));
    }
    taken.push_back(member.rank);
  }
  return {};
}

// In what the rank's operation differs from that of the others; empty: in nothing.
std::string differs(unsigned rank, const CollectiveSignature& own,
                    const CollectiveSignature& other) {
  if (own == other) return {};
  const auto called = [](compat::Call call) {
    return compat::kCallNames[static_cast<std::size_t>(call)];
  };
  if (own.call == other.call && own.counts != other.counts) {
    return fmt::format("rank {} calls {} with other counts than the others", rank,
                       called(own.call));
  }
  return fmt::format(
      "rank {} calls {} (count {}, type {}, reduction {}, root {}), others {} ({}, {}, {}, {})",
      rank, called(own.call), own.count, own.type, own.reduction, own.root, called(other.call),
      other.count, other.type, other.reduction, other.root);
}
std::string differs(unsigned rank, const CollectiveExchange& own,
                    const std::map<unsigned, CollectiveExchange>& others) {
  const auto wrong = [](unsigned from, std::uint64_t sent, unsigned to, std::uint64_t received) {
    return fmt::format("rank {} sends {} elements to rank {}, which receives {}", from, sent, to,
                       received);
  };
  for (const auto& [peer, theirs] : others) {
    if (own.sends[peer] != theirs.receives[rank]) {
      return wrong(rank, own.sends[peer], peer, theirs.receives[rank]);
    }
    if (own.receives[peer] != theirs.sends[rank]) {
      return wrong(peer, theirs.sends[rank], rank, own.receives[peer]);
    }
  }
  return {};
}

// What all ranks' cards can do by vector cores: coupled cores cannot, and no card has more blocks
// than cores.
void fit(const std::vector<ProcessCard*>& cards, driver::VectorCollectives* vector) {
  constexpr auto kVector = static_cast<std::size_t>(Cores::kVector);
  constexpr auto kCube = static_cast<std::size_t>(Cores::kCube);
  for (auto* const each : cards) {
    const auto& card = each->card();
    if (card.first[kVector] == card.first[kCube]) vector->kernel = {};
    vector->blocks = std::min(vector->blocks, card.cores[kVector]);
  }
}

// The ranks' programs are in their calls meanwhile: no card is given back.
void make(Domain& domain) {
  domain.state = Domain::State::kMaking;
  std::vector<driver::CommunicatorRank> ranks;
  std::vector<ProcessCard*> cards;
  for (const auto& place : domain.places) {
    auto* const card = place.process->card(place.device);
    ranks.push_back({card == nullptr ? nullptr : &card->process()});
    if (card != nullptr) cards.push_back(card);
  }
  fit(cards, &domain.options.vector);
  auto made = driver::Communicator::create(ranks, domain.options);
  if (made) {
    domain.communicator = std::move(*made);
    domain.state = Domain::State::kReady;
    return;
  }
  domain.why = fault(made.error()).value();
  domain.state = Domain::State::kFailed;
}

}  // namespace

unsigned Domain::come() const {
  return static_cast<unsigned>(std::count_if(places.begin(), places.end(),
                                             [](const auto& p) { return p.process != nullptr; }));
}

Outcome Domain::begin(unsigned rank, const CollectiveSignature& operation,
                      const CollectiveExchange& exchange) {
  auto& begun = places[rank].begun;
  const auto at = begun - first_;
  if (at == operations_.size()) operations_.push_back({operation});
  auto& all = operations_[at];
  auto problem = differs(rank, operation, all.signature);
  if (problem.empty() && !exchange.sends.empty()) problem = differs(rank, exchange, all.exchanges);
  if (!problem.empty()) {
    return fault(kInvalidParameter,
                 fmt::format("operation {} of communicator {}: {}", begun + 1, name, problem));
  }
  if (!exchange.sends.empty()) all.exchanges[rank] = exchange;
  ++begun;
  const auto last = std::min_element(
      places.begin(), places.end(), [](const auto& a, const auto& b) { return a.begun < b.begun; });
  // One that is taken back is begun again.
  while (first_ + 1 < last->begun) {
    operations_.pop_front();
    ++first_;
  }
  return {};
}

void Domain::take_back(unsigned rank) {
  const auto number = --places[rank].begun;
  const bool by_others = std::any_of(places.begin(), places.end(),
                                     [number](const auto& place) { return place.begun > number; });
  if (!by_others && number + 1 == first_ + operations_.size()) return operations_.pop_back();
  operations_[number - first_].exchanges.erase(rank);
}

void Communicators::tell() {
  lock_->lock();
  changed_->notify_all();
  lock_->unlock();
}

void Communicators::wait(Process& process, const Domain& domain, Instant deadline) {
  const auto is_waiting = [&] {
    if (domain.state == Domain::State::kMaking) return true;
    const bool late = process.machine().platform.clock().now() >= deadline;
    return domain.state == Domain::State::kGathering && !late && !process.callbacks.over;
  };
  while (is_waiting()) {
    lock_->lock();
    const bool making = domain.state == Domain::State::kMaking;
    if (is_waiting()) {
      static_cast<void>(changed_->wait(*lock_, making ? Instant::never() : deadline));
    }
    lock_->unlock();
  }
}

Fault Communicators::late(const Domain& domain) const {
  std::string missing;
  for (std::size_t rank = 0; rank < domain.places.size(); ++rank) {
    if (domain.places[rank].process == nullptr) missing += fmt::format(" {}", rank);
  }
  return {kWaitTimeout, fmt::format("{} of {} ranks have come in time, missing:{}", domain.come(),
                                    domain.places.size(), missing)};
}

void Communicators::leave(const std::string& key, Domain& domain, const Joining& joining) {
  for (const auto& member : joining.members) domain.places[member.rank] = {};
  if (domain.come() == 0) gathering_.erase(key);
}

Value<std::shared_ptr<Domain>> Communicators::join(Process& process, const Joining& joining) {
  auto domain = gathering_[joining.key];
  const bool first = domain == nullptr;
  if (first) {
    domain = std::make_shared<Domain>();
    domain->name = joining.name;
    domain->options = joining.options;
    domain->places.resize(joining.ranks);
    gathering_[joining.key] = domain;
  }
  if (auto may = may_join(process, *domain, joining); !may) {
    if (first) gathering_.erase(joining.key);
    return forward_fault(may);
  }
  for (const auto& member : joining.members) {
    domain->places[member.rank] = {&process, member.device};
  }
  if (domain->come() == joining.ranks) {
    gathering_.erase(joining.key);
    make(*domain);
    tell();
  } else {
    wait(process, *domain, joining.deadline);
  }
  if (domain->state == Domain::State::kReady) return domain;
  if (domain->state == Domain::State::kFailed) return tl::unexpected<Fault>(domain->why);
  auto why = late(*domain);
  leave(joining.key, *domain, joining);
  return tl::unexpected<Fault>(std::move(why));
}

std::string failure_of(Process& process, ProgramCommunicator& communicator) {
  const auto domain = communicator.domain;
  const auto failed = domain->communicator->failure(communicator.rank);
  if (!failed || !*failed) return {};
  // Who has nothing to do with the others any more need not know that one has left.
  if (domain->parted && !communicator.failed && communicator.last.query()) return {};
  communicator.failed = true;
  const auto text =
      fmt::format("rank {} of communicator {}: {}", communicator.rank, domain->name, **failed);
  const auto& tell = process.machine().cards.settings().tell;
  if (!std::exchange(communicator.told, true) && tell) {
    tell(fmt::format("p{}: {}", process.number() - 1, text));
  }
  return text;
}

std::string failures_on(Process& process, std::uint32_t device) {
  std::string all;
  for (const auto& [handle, communicator] : process.communicators.all()) {
    if (communicator->device != device || communicator->ended) continue;
    const auto one = failure_of(process, *communicator);
    if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
  }
  return all;
}

void end_communicator(Process& process, ProgramCommunicator& communicator, bool force) {
  if (std::exchange(communicator.ended, true)) return;
  communicator.last = {};  // it may not outlive the rank's process on the card
  const auto domain = communicator.domain;
  const Instant now = process.machine().platform.clock().now();
  const auto failed = domain->communicator->failure(communicator.rank);
  if (!force && failed && !*failed) domain->parted = true;
  static_cast<void>(
      domain->communicator->leave(communicator.rank, force ? now : now + kLastOperations));
}

void end_communicators(Process& process, std::uint32_t device, bool force) {
  for (const auto& [handle, communicator] : process.communicators.all()) {
    if (communicator->device == device) end_communicator(process, *communicator, force);
  }
}

}  // namespace npu::exec::acl
