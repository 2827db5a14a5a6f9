// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/prefetcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr std::size_t kMostEnded = 4096;

// Pages on the host go to a card, pages that one card has alone to the host: by the number of that
// card. What another card has does not go to a card (virtualisation.md S4).
bool moves(const ManagedPage& page, const CardPages* to) {
  if (to == nullptr) return page.on_card() && !page.host;
  return !to->exposed().in_place() && page.host && !to->own(page).there();
}

}  // namespace

Prefetcher::Prefetcher(platform::Platform& platform)
    : platform_(platform),
      mutex_(platform.tasks().make_mutex()),
      changed_(platform.tasks().make_condition()) {}

Result<PrefetchTicket> Prefetcher::begin(ManagedPages& pages,
                                         const std::vector<std::shared_ptr<CardLock>>& locks,
                                         std::uint64_t at, Bytes size, CardPages* to) {
  const MutexHolder holder(*mutex_);
  if (!task_) {
    auto task = platform_.tasks().spawn("page prefetch", [this] { run(); });
    if (!task) return forward_error(task);
    task_ = std::move(*task);
  }
  auto job = std::make_shared<Job>();
  job->number = ++numbers_;
  job->owner = pages.number();
  job->pages = &pages;
  job->at = align_down(at, kPageSize);
  job->end = at + size;
  job->locks = locks;
  job->to = to;
  jobs_.push_back(std::move(job));
  changed_->notify_all();
  return PrefetchTicket{numbers_};
}

void Prefetcher::forget(ManagedPages& pages) {
  const MutexHolder holder(*mutex_);
  for (auto& job : jobs_) {
    if (job->pages == &pages) job->pages = nullptr;
  }
  for (auto ended = ended_.begin(); ended != ended_.end();) {
    ended = ended->second.owner == pages.number() ? ended_.erase(ended) : std::next(ended);
  }
}

void Prefetcher::forget(const CardPages& to) {
  const MutexHolder holder(*mutex_);
  for (auto& job : jobs_) {
    if (job->to == &to) job->at = job->end;
  }
}

Status Prefetcher::wait(const ManagedPages& pages, PrefetchTicket ticket, Instant deadline) {
  const MutexHolder holder(*mutex_);
  for (;;) {
    const auto ended = ended_.find(ticket.number);
    if (ended != ended_.end() && ended->second.owner == pages.number()) {
      auto status = std::move(ended->second.status);
      ended_.erase(ended);
      return status;
    }
    const bool in_flight = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) {
      return job->number == ticket.number && job->owner == pages.number();
    });
    if (!in_flight) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("prefetch {} is none that goes on", ticket.number));
    }
    if (auto ok = changed_->wait(*mutex_, deadline); !ok) return ok;
  }
}

void Prefetcher::stop() {
  {
    const MutexHolder holder(*mutex_);
    stopping_ = true;
    changed_->notify_all();
  }
  if (task_) task_->join();
  task_.reset();
}

void Prefetcher::run() {
  mutex_->lock();
  while (!stopping_) {
    if (jobs_.empty()) {
      static_cast<void>(changed_->wait(*mutex_, Instant::never()));
      continue;
    }
    const auto job = jobs_.front();
    mutex_->unlock();
    bool done = false;
    {
      const PagesLock pages(job->locks);
      done = step(*job);
    }
    mutex_->lock();
    if (!done) continue;
    jobs_.pop_front();
    if (ended_.size() == kMostEnded) ended_.erase(ended_.begin());
    ended_[job->number] = {job->owner, std::move(job->status)};
    changed_->notify_all();
  }
  mutex_->unlock();
}

bool Prefetcher::step(Job& job) {
  if (job.pages == nullptr) return true;
  auto& pages = *job.pages;
  std::uint64_t first = 0, count = 0;
  unsigned source = 0;  // of the run
  for (; job.at < job.end && count < kRunPages; job.at += kPageSize) {
    auto* const page = pages.find(job.at);
    if (page == nullptr) return true;  // freed meanwhile
    page->last_prefetch = job.to != nullptr ? job.to->location() : MemoryLocation::host();
    if (job.to != nullptr && job.to->own(*page).there()) {
      job.status = job.to->complete(job.at);
      if (!job.status) return true;
    }
    const unsigned holder = page->holder();
    const bool other_source = count != 0 && job.to == nullptr && holder != source;
    if (moves(*page, job.to) && !other_source) {
      if (count == 0) first = job.at;
      source = holder;
      ++count;
    } else if (count != 0) {
      break;
    }
  }
  if (count != 0) job.status = move(job, first, count, source);
  return !job.status || job.at >= job.end;
}

Status Prefetcher::move(Job& job, std::uint64_t first, std::uint64_t count, unsigned source) {
  auto& pages = *job.pages;
  auto* const card = job.to != nullptr ? job.to : pages.cards()[source];
  if (auto ok = card->usable(); !ok) return ok;
  if (job.to == nullptr) {
    if (auto ok = card->fetch_run(first, count); !ok) return ok;
    pages.statistics().prefetched += count;
    return {};
  }
  const auto brought = card->migrate_run_in(first, count);
  if (!brought) return forward_error(brought);
  if (*brought != count) job.at = first + *brought * kPageSize;
  return {};
}

}  // namespace npu::driver
