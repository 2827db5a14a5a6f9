// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace npu::driver {
namespace {

std::vector<std::shared_ptr<CardLock>> locks_of(
    const std::vector<std::shared_ptr<FaultService>>& services) {
  std::vector<std::shared_ptr<CardLock>> locks;
  locks.reserve(services.size());
  for (const auto& service : services) locks.push_back(service->lock());
  return locks;
}

}  // namespace

ManagedCards::ManagedCards(ManagedPages& pages, std::vector<std::shared_ptr<FaultService>> services)
    : pages_(pages),
      services_(std::move(services)),
      all_locks_(locks_of(services_)),
      locks_(all_locks_) {
  std::vector<CardPages*> views;
  for (unsigned place = 0; place < services_.size(); ++place) {
    views_.push_back(view_of(place, pages.at_place(place), *services_[place]));
    views.push_back(views_.back().get());
  }
  pages.set_cards(std::move(views));
}

std::unique_ptr<CardPages> ManagedCards::view_of(unsigned place, const ManagedCardSpace& card,
                                                 FaultService& service) {
  return std::make_unique<CardPages>(pages_, place, card, service.paging());
}

Status ManagedCards::start() {
  CardLock::join(all_locks_);
  for (std::size_t place = 0; place < views_.size(); ++place) {
    auto ok = services_[place]->add(*views_[place]);
    if (ok) continue;
    stop(place);
    return ok;
  }
  open_ = true;
  return {};
}

void ManagedCards::stop() {
  stop(views_.size());
}

void ManagedCards::stop(std::size_t count) {
  prefetcher().forget(pages_);
  for (std::size_t place = 0; place < count; ++place) {
    if (views_[place] != nullptr) services_[place]->remove(*views_[place]);
  }
  CardLock::part(all_locks_);
  open_ = false;
}

bool ManagedCards::usable() const {
  if (!open_) return false;
  for (std::size_t place = 0; place < views_.size(); ++place) {
    if (views_[place] != nullptr && services_[place]->stopped()) return false;
  }
  return true;
}

Status ManagedCards::join(const ManagedCardSpace& card, std::shared_ptr<FaultService> service) {
  const unsigned place = pages_.place_of(*card.link);
  // Also of another Device: cards are told apart by their indices.
  if (pages_.card_of(card.link->device_index()) != nullptr) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("card {} has part in it", card.link->device_index()));
  }
  if ((service->policy() == FaultPolicy::kAts) != (policy() == FaultPolicy::kAts)) {
    return fail(ErrorCode::kInvalidArgument, "some of the cards use the host's pages, others not");
  }
  auto tables = pages_.ranges().prepare(card);
  if (!tables) return forward_error(tables);
  Status joined;
  {
    auto locks = locks_;
    locks.push_back(service->lock());
    const PagesLock held(locks);
    auto view = view_of(place, card, *service);
    joined = pages_.reach(*view);
    if (joined) joined = service->add(*view);
    if (joined && place == views_.size()) {
      for (const auto& other : all_locks_) CardLock::join({other, service->lock()});
      all_locks_.push_back(service->lock());
      services_.push_back(std::move(service));
      views_.emplace_back();
    }
    if (joined) {
      views_[place] = std::move(view);
      pages_.come(place, card, *views_[place], std::move(*tables));
    }
  }
  if (!joined) static_cast<void>(pages_.ranges().release(card));
  return joined;
}

Status ManagedCards::leave(const CardLink& link) {
  const unsigned place = pages_.place_of(link);
  const auto here =
      std::count_if(views_.begin(), views_.end(), [](const auto& view) { return view != nullptr; });
  if (place >= views_.size() || views_[place] == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("card {} has no part in it", link.device_index()));
  }
  if (here == 1) return fail(ErrorCode::kInvalidArgument, "it is the last card");
  const auto card = pages_.at_place(place);
  Status moved;
  {
    const PagesLock held(locks_);
    prefetcher().forget(*views_[place]);
    moved = pages_.go(place);
    services_[place]->remove(*views_[place]);
    views_[place].reset();
  }
  auto released = pages_.ranges().release(card);
  return moved ? released : moved;
}

}  // namespace npu::driver
