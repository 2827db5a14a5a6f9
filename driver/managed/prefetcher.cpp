// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/prefetcher.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Picoseconds kLook = 1'000_ms;  // while there is nothing to do
constexpr std::size_t kMostEnded = 4096;

bool moves(const ManagedPage& page, bool to_card) {
  return to_card ? page.host && !page.on_card() : page.on_card() && !page.host;
}

}  // namespace

Prefetcher::Prefetcher(platform::Platform& platform, platform::Mutex& pages_mutex)
    : platform_(platform),
      pages_mutex_(pages_mutex),
      mutex_(platform.tasks().make_mutex()),
      changed_(platform.tasks().make_condition()) {}

Result<PrefetchTicket> Prefetcher::begin(ManagedPages& pages, std::uint64_t at, Bytes size,
                                         bool to_card) {
  const MutexHolder holder(*mutex_);
  if (!task_) {
    auto task = platform_.tasks().spawn("page prefetch", [this] { run(); });
    if (!task) return forward_error(task);
    task_ = std::move(*task);
  }
  auto job = std::make_shared<Job>();
  job->number = ++numbers_;
  job->pages = &pages;
  job->at = align_down(at, kPageSize);
  job->end = at + size;
  job->to_card = to_card;
  jobs_.push_back(std::move(job));
  changed_->notify_all();
  return PrefetchTicket{numbers_};
}

void Prefetcher::forget(ManagedPages& pages) {
  const MutexHolder holder(*mutex_);
  for (auto& job : jobs_) {
    if (job->pages == &pages) job->pages = nullptr;
  }
}

Status Prefetcher::wait(PrefetchTicket ticket, Instant deadline) {
  const MutexHolder holder(*mutex_);
  for (;;) {
    const auto ended = ended_.find(ticket.number);
    if (ended != ended_.end()) {
      auto status = std::move(ended->second);
      ended_.erase(ended);
      return status;
    }
    const bool goes_on = std::any_of(jobs_.begin(), jobs_.end(), [ticket](const auto& job) {
      return job->number == ticket.number;
    });
    if (!goes_on) {
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
      static_cast<void>(changed_->wait(*mutex_, platform_.clock().now() + kLook));
      continue;
    }
    const auto job = jobs_.front();
    mutex_->unlock();
    bool done = false;
    {
      const MutexHolder pages(pages_mutex_);
      done = step(*job);
    }
    mutex_->lock();
    if (!done) continue;
    jobs_.pop_front();
    if (ended_.size() == kMostEnded) ended_.erase(ended_.begin());
    ended_[job->number] = std::move(job->status);
    changed_->notify_all();
  }
  mutex_->unlock();
}

bool Prefetcher::step(Job& job) {
  if (job.pages == nullptr) return true;
  auto& pages = *job.pages;
  std::uint64_t first = 0, count = 0;
  for (; job.at < job.end && count < kRunPages; job.at += kPageSize) {
    auto* const page = pages.find(job.at);
    if (page == nullptr) return true;  // freed meanwhile
    page->last_prefetch = job.to_card ? MemoryLocation::card(pages.device().card.device_index)
                                      : MemoryLocation::host();
    if (job.to_card && page->on_card()) {
      job.status = pages.complete(job.at);
      if (!job.status) return true;
    }
    if (moves(*page, job.to_card)) {
      if (count == 0) first = job.at;
      ++count;
    } else if (count != 0) {
      job.at += kPageSize;
      break;
    }
  }
  if (count != 0) {
    if (job.to_card) {
      const auto brought = pages.bring_run(first, count);
      if (brought) {
        job.at = brought == count ? job.at : first + *brought * kPageSize;
      } else {
        job.status = forward_error(brought);
      }
    } else {
      job.status = pages.fetch_run(first, count);
      if (job.status) pages.statistics().prefetched += count;
    }
  }
  return !job.status || job.at >= job.end;
}

}  // namespace npu::driver
