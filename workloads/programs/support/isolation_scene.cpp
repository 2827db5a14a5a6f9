// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/isolation_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/device/shipped/elementwise.hpp"
#include "npu/abi/queue_registers.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kCell = 64;
constexpr std::uint64_t kNeighbours = 2;
constexpr unsigned kLog2Ring = 12;  // so many outcomes are kept

}  // namespace

Result<std::unique_ptr<IsolationScene>> IsolationScene::play(Context& context,
                                                             driver::Device& device,
                                                             Attack attack) {
  std::unique_ptr<IsolationScene> scene(new IsolationScene(context, device));
  if (auto ok = scene->enter(attack != nullptr); !ok) return forward_error(ok);
  const auto entries = context.parameters.integer("entries");
  for (auto& neighbour : scene->neighbours_) {
    if (auto ok = scene->work(neighbour, 0, entries / 2); !ok) return forward_error(ok);
  }
  if (attack != nullptr) {
    if (auto ok = attack(*scene); !ok) return forward_error(ok);
  }
  for (auto& neighbour : scene->neighbours_) {
    if (auto ok = scene->work(neighbour, entries / 2, entries); !ok) return forward_error(ok);
  }
  if (attack != nullptr) {
    if (auto ok = scene->judge_attacker(); !ok) return forward_error(ok);
  }
  for (auto& neighbour : scene->neighbours_) {
    if (auto ok = scene->finish(neighbour); !ok) return forward_error(ok);
  }
  if (auto ok = scene->leave(); !ok) return forward_error(ok);
  return scene;
}

Status IsolationScene::enter(bool attacker) {
  for (std::uint64_t i = 0; i < kNeighbours; ++i) {
    if (auto ok = add_neighbour(context_.seed + i); !ok) return ok;
  }
  if (!attacker) return {};
  auto session = QueueSession::open(context_, device_);
  if (!session) return forward_error(session);
  attacker_ = std::move(*session);
  pasid_ = attacker_->process().pasid();
  auto memory = attacker_->allocate(2_MiB);
  if (!memory) return forward_error(memory);
  own_memory_ = *memory;
  const auto cores = vector_cores(context_, device_);
  if (!cores) return forward_error(cores);
  driver::QueueOptions options;
  options.core_mask = *cores;
  for (auto* queue : {&attacker_queue_, &bystander_}) {
    auto made = attacker_->create_queue(options);
    if (!made) return forward_error(made);
    *queue = std::move(*made);
  }
  return {};
}

Status IsolationScene::add_neighbour(std::uint64_t seed) {
  auto session = QueueSession::open(context_, device_);
  if (!session) return forward_error(session);
  Neighbour neighbour;
  neighbour.session = std::move(*session);
  const Bytes size = context_.parameters.integer("entries") * kCell;
  // More than the attacker has, so that some addresses are mapped here alone.
  auto memory = neighbour.session->allocate(size + 64_MiB);
  if (!memory) return forward_error(memory);
  neighbour.memory = *memory + 64_MiB;
  auto host = neighbour.session->allocate_host(size);
  if (!host) return forward_error(host);
  neighbour.host = *host;
  fill_pattern(neighbour.host->cpu(), seed);
  // The last one's doorbell has a number that the attacker's page does not know.
  for (int i = 0; i < 4; ++i) {
    driver::QueueOptions options;
    options.ring.log2_entries = kLog2Ring;
    auto queue = neighbour.session->create_queue(options);
    if (!queue) return forward_error(queue);
    if (neighbour.queue != nullptr) neighbour.others.push_back(std::move(neighbour.queue));
    neighbour.queue = std::move(*queue);
  }
  const auto status = neighbour.session->process().query(neighbour.queue->id());
  if (!status) return forward_error(status);
  neighbour.ring.value = status->ring_base;
  neighbour.completions.value = status->completion_base;
  neighbours_.push_back(std::move(neighbour));
  return {};
}

Status IsolationScene::work(Neighbour& neighbour, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t i = from; i < to; ++i) {
    const auto entry = driver::entries::copy_to_device(neighbour.host->bus() + i * kCell,
                                                       neighbour.memory + i * kCell, kCell);
    auto ticket = neighbour.queue->submit(entry, deadline_of(context_));
    if (!ticket) return forward_error(ticket);
    neighbour.tickets.push_back(*ticket);
  }
  return {};
}

Status IsolationScene::finish(Neighbour& neighbour) {
  for (const auto& ticket : neighbour.tickets) {
    auto done = neighbour.queue->wait(ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
    neighbour.outcomes.push_back({ticket.index, static_cast<bool>(done)});
  }
  if (auto ok = read_completions(neighbour); !ok) return ok;
  neighbour.bytes.resize(neighbour.host->size());
  neighbour.faults = neighbour.session->process().take_faults().size();
  auto ok =
      neighbour.session->read(neighbour.memory, {neighbour.bytes.data(), neighbour.bytes.size()});
  if (!ok) return ok;
  return check_equal(neighbour.host->cpu(),
                     ByteSpan{neighbour.bytes.data(), neighbour.bytes.size()},
                     "a neighbour's memory");
}

// The ring is the driver's, in host memory of the process: its own queues reach it.
Status IsolationScene::read_completions(Neighbour& neighbour) {
  std::vector<abi::QueueCompletion> ring(neighbour.tickets.size());
  const Bytes size = ring.size() * sizeof ring[0];
  auto scratch = neighbour.session->allocate(size);
  if (!scratch) return forward_error(scratch);
  const auto copy = driver::entries::copy_to_device(neighbour.completions, *scratch, size);
  auto& queue = *neighbour.others.front();
  auto ticket = queue.submit(copy, deadline_of(context_));
  if (!ticket) return forward_error(ticket);
  auto ok = queue.wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
  if (ok) ok = neighbour.session->read(*scratch, {reinterpret_cast<std::byte*>(ring.data()), size});
  if (!ok) return ok;
  for (const auto& entry : ring) neighbour.entries.push_back({entry.tag, entry.status});
  std::sort(neighbour.entries.begin(), neighbour.entries.end(),
            [](const Completion& a, const Completion& b) { return a.tag < b.tag; });
  return {};
}

Status IsolationScene::judge_attacker() {
  auto& process = attacker_->process();
  if (auto ok = process.wait_fault(deadline_of(context_)); !ok) return ok;
  faults_ = process.take_faults();
  auto status = process.query(attacker_queue_->id());
  if (!status) return forward_error(status);
  stopped_ = status->faulted;
  // The attacker's other queue goes on.
  auto ticket = bystander_->submit(driver::entries::nop(), deadline_of(context_));
  if (!ticket) return forward_error(ticket);
  return bystander_->wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
}

Status IsolationScene::leave() {
  const auto destroy = [this](QueueSession& session, std::unique_ptr<driver::Queue>& queue) {
    auto end = session.process().destroy(*queue, deadline_of(context_));
    queue.reset();
    return end ? Status{} : forward_error(end);
  };
  for (auto& neighbour : neighbours_) {
    if (auto ok = destroy(*neighbour.session, neighbour.queue); !ok) return ok;
    for (auto& other : neighbour.others) {
      if (auto ok = destroy(*neighbour.session, other); !ok) return ok;
    }
    if (auto ok = neighbour.session->close(); !ok) return ok;
  }
  if (attacker_ == nullptr) return {};
  if (auto ok = destroy(*attacker_, attacker_queue_); !ok) return ok;
  if (auto ok = destroy(*attacker_, bystander_); !ok) return ok;
  return attacker_->close();
}

std::uint16_t IsolationScene::neighbour_doorbell() const {
  return neighbours_.front().queue->doorbell();
}
driver::DeviceAddress IsolationScene::neighbour_memory() const {
  return neighbours_.front().memory;
}
platform::BusAddress IsolationScene::neighbour_host() const {
  return neighbours_.front().host->bus();
}

// As the attacker's program could: a store into the page that is mapped for it.
Status IsolationScene::ring(std::uint16_t doorbell, std::uint64_t value) {
  const auto bdf = device_.info().bdf();
  auto registers = context_.platform.map_bar(bdf, abi::kRegisterBar, 0, abi::kDoorbellPageSize,
                                             platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  const Bytes base = (*registers)->read64(abi::DoorbellBase::kOffset);
  auto page = context_.platform.map_bar(
      bdf, abi::kMemoryBar,
      base + attacker_->process().doorbell_page() * Bytes{abi::kDoorbellPageSize},
      abi::kDoorbellPageSize, platform::Caching::kUncached);
  if (!page) return forward_error(page);
  (*page)->write64(doorbell * Bytes{abi::kDoorbellSize}, value);
  return {};
}

Status IsolationScene::submit(const abi::QueueEntry& entry) {
  auto ticket = attacker_queue_->submit(entry, deadline_of(context_));
  return ticket ? Status{} : forward_error(ticket);
}

Status IsolationScene::submit_kernel(const kernels::vector::Elementwise& work) {
  const auto kernel = attacker_->launch("elementwise", 1, kernels::vector::to_words(work));
  return kernel ? submit(*kernel) : forward_error(kernel);
}

Status IsolationScene::run_one(const abi::QueueEntry& entry) {
  auto ticket = attacker_queue_->submit(entry, deadline_of(context_));
  if (!ticket) return forward_error(ticket);
  return attacker_queue_->wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
}

std::uint64_t IsolationScene::completions() const {
  std::uint64_t sum = 0;
  for (const auto& neighbour : neighbours_) sum += neighbour.outcomes.size();
  return sum;
}

Status IsolationScene::compare_neighbours(const IsolationScene& other, const char* attempt) const {
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const auto& a = neighbours_[i];
    const auto& b = other.neighbours_[i];
    const auto differs = [&](const std::string& what) {
      return fail(ErrorCode::kWrongData,
                  fmt::format("{}: {} of neighbour {} not as without it", attempt, what, i));
    };
    const auto outcome = std::mismatch(a.outcomes.begin(), a.outcomes.end(), b.outcomes.begin(),
                                       b.outcomes.end(), [](const auto& x, const auto& y) {
                                         return x.index == y.index && x.good == y.good && x.good;
                                       });
    if (outcome.first != a.outcomes.end() || outcome.second != b.outcomes.end()) {
      return differs(fmt::format("outcome {}", outcome.first - a.outcomes.begin()));
    }
    const auto entry =
        std::mismatch(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                      [](const auto& x, const auto& y) {
                        return x.tag == y.tag && x.status == y.status && x.status == 0;
                      });
    if (entry.first != a.entries.end() || entry.second != b.entries.end()) {
      return differs(fmt::format("completion entry {}", entry.first - a.entries.begin()));
    }
    const auto same =
        check_equal({a.bytes.data(), a.bytes.size()}, {b.bytes.data(), b.bytes.size()},
                    fmt::format("{}: memory of neighbour {}", attempt, i));
    if (!same) return same;
    if (a.faults != 0 || b.faults != 0) {
      return differs(fmt::format("{} and {} faults", a.faults, b.faults));
    }
  }
  return {};
}

}  // namespace npu::workloads
