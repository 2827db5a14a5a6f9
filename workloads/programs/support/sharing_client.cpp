// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/sharing_client.hpp"

#include <fmt/format.h>

namespace npu::workloads {

Result<std::unique_ptr<SharingClient>> SharingClient::open(
    Context& context, driver::Device& device, std::string name, std::uint64_t cycles,
    std::uint32_t blocks, std::shared_ptr<driver::MemoryQuota> quota) {
  std::unique_ptr<SharingClient> client(new SharingClient(context, std::move(name)));
  driver::ProcessOptions process;
  process.quota = std::move(quota);
  auto session = QueueSession::open(context, device, process);
  if (!session) return forward_error(session);
  client->session_ = std::move(*session);
  driver::QueueOptions options;
  options.in_order = true;
  auto queue = client->session_->create_queue(options);
  if (!queue) return forward_error(queue);
  client->queue_ = std::move(*queue);
  const auto kernel = client->session_->launch("spin", blocks, &cycles, 1);
  if (!kernel) return forward_error(kernel);
  client->kernel_ = *kernel;
  return client;
}

Status SharingClient::join(driver::TimeSliceScheduler& scheduler, const driver::CoreQuota& share) {
  auto joined = scheduler.join(process(), name_, share);
  if (!joined) return forward_error(joined);
  turn_ = std::move(*joined);
  return {};
}

Status SharingClient::take_done() {
  while (!in_flight_.empty()) {
    const auto done = queue_->is_done(in_flight_.front());
    if (!done) return forward_error(done);
    if (!*done) break;
    in_flight_.pop_front();
    ++done_;
  }
  return {};
}

Result<std::uint64_t> SharingClient::run_until(Instant end) {
  auto& clock = context_.platform.clock();
  const auto before = done_;
  while (clock.now() < end) {
    if (auto ok = take_done(); !ok) return forward_error(ok);
    if (in_flight_.size() < kDepth) {
      // One that has no turn by then has had its time.
      auto ticket = turn_ ? turn_->launch(*queue_, kernel_, end)
                          : queue_->submit(kernel_, deadline_of(context_));
      if (!ticket && ticket.error().code == ErrorCode::kTimeout) break;
      if (!ticket) return forward_error(ticket);
      in_flight_.push_back(*ticket);
      continue;
    }
    auto done = queue_->wait(in_flight_.front(), driver::WaitPolicy::kInterrupt, end);
    if (!done && done.error().code == ErrorCode::kTimeout) break;
    if (!done) return forward_error(done);
  }
  if (auto ok = take_done(); !ok) return forward_error(ok);
  return done_ - before;
}

Status SharingClient::drain() {
  if (in_flight_.empty()) return {};
  auto done =
      queue_->wait(in_flight_.back(), driver::WaitPolicy::kInterrupt, deadline_of(context_));
  in_flight_.clear();
  return done;
}

Status SharingClient::leave() {
  turn_.reset();
  return drain();
}

Status SharingClient::close() {
  if (auto ok = leave(); !ok) return ok;
  queue_.reset();
  return session_->close();
}

Result<std::vector<std::uint64_t>> run_together(
    Context& context, std::vector<std::unique_ptr<SharingClient>>& clients, Instant end) {
  std::vector<Result<std::uint64_t>> done(clients.size(), Result<std::uint64_t>(0));
  std::vector<std::unique_ptr<platform::Task>> tasks;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    auto task = context.platform.tasks().spawn(clients[i]->name(),
                                               [&, i] { done[i] = clients[i]->run_until(end); });
    if (!task) return forward_error(task);
    tasks.push_back(std::move(*task));
  }
  for (auto& task : tasks) task->join();
  std::vector<std::uint64_t> counts;
  for (const auto& each : done) {
    if (!each) return forward_error(each);
    counts.push_back(*each);
  }
  return counts;
}

}  // namespace npu::workloads
