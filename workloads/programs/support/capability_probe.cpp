// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/capability_probe.hpp"

#include <fmt/format.h>

#include <cstring>

#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/sharing_client.hpp"

namespace npu::workloads {
namespace {

using driver::DeviceAddress;
using driver::kPageSize;
using driver::MemoryLocation;

constexpr std::uint64_t kPattern = 0x5AA5'0FF0'1234'5678;
constexpr Bytes kSome = 4096;

tl::unexpected<Error> no(std::string why) {
  return fail(ErrorCode::kUnsupported, std::move(why));
}

// A process of its own for each experiment, with a queue, memory and, if wanted, managed memory.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> open(Context& context, driver::Device& device,
                                             bool managed) {
    std::unique_ptr<Bench> bench(new Bench(context));
    driver::ProcessOptions options;
    options.quota = bench->quota;
    auto session = QueueSession::open(context, device, options);
    if (!session) return forward_error(session);
    bench->session = std::move(*session);
    if (auto ok = bench->renew_queue(); !ok) return forward_error(ok);
    const auto plain = bench->session->allocate(kPageSize);
    if (!plain) return forward_error(plain);
    bench->plain = *plain;
    if (!managed) return bench;
    auto memory = open_managed(context, device, bench->session->process().space());
    if (!memory) return forward_error(memory);
    bench->managed = std::move(*memory);
    return bench;
  }
  ~Bench() {
    queue.reset();
    managed.reset();
    if (session) static_cast<void>(session->close());
  }

  Status renew_queue() {
    queue.reset();
    auto made = session->create_queue();
    if (!made) return forward_error(made);
    queue = std::move(*made);
    return {};
  }
  Status run(const abi::QueueEntry& entry) {
    const auto deadline = deadline_of(context);
    const auto ticket = queue->submit(entry, deadline);
    if (!ticket) return forward_error(ticket);
    return queue->wait(*ticket, driver::WaitPolicy::kPolling, deadline);
  }
  // The first word there, read by the card.
  Result<std::uint64_t> card_word(DeviceAddress at) {
    if (auto ok = run(driver::entries::copy_on_device(at, plain, kSome)); !ok) {
      return forward_error(ok);
    }
    std::uint64_t word = 0;
    auto ok = session->read(plain, {reinterpret_cast<std::byte*>(&word), sizeof word});
    if (!ok) return forward_error(ok);
    return word;
  }
  Status host_write(DeviceAddress at, std::uint64_t word) {
    return managed->write(at, {reinterpret_cast<const std::byte*>(&word), sizeof word});
  }
  Result<std::uint64_t> host_word(DeviceAddress at) {
    std::uint64_t word = 0;
    auto ok = managed->read(at, {reinterpret_cast<std::byte*>(&word), sizeof word});
    if (!ok) return forward_error(ok);
    return word;
  }
  // Touches of the card, one a page.
  Status touch(DeviceAddress at, std::uint64_t pages) {
    for (std::uint64_t i = 0; i < pages; ++i) {
      auto ok = run(driver::entries::fill(at + i * kPageSize, kSome, 1));
      if (!ok) return ok;
    }
    return {};
  }

  Context& context;
  std::shared_ptr<driver::MemoryQuota> quota = std::make_shared<driver::MemoryQuota>();
  std::unique_ptr<QueueSession> session;
  std::unique_ptr<driver::Queue> queue;
  std::unique_ptr<driver::ManagedMemory> managed;
  DeviceAddress plain;

 private:
  explicit Bench(Context& in) : context(in) {}
};

// Of twice as many pages as a client may have, as many are on the card. One of them gives way to
// memory that cannot leave, and the client has no more than it may; more is refused.
Status svm_alloc_enforceable(Bench& bench) {
  constexpr std::uint64_t kPages = 4;
  const auto at = bench.managed->allocate(2 * kPages * kPageSize);
  if (!at) return forward_error(at);
  bench.quota->set_limit(bench.quota->use().used() + kPages * kPageSize);
  if (auto ok = bench.touch(*at, 2 * kPages); !ok) return ok;
  const Bytes there = bench.quota->use().managed;
  if (there != kPages * kPageSize) {
    return no(fmt::format("{} bytes of managed memory count, {} may be there", there,
                          kPages * kPageSize));
  }
  if (auto ok = bench.session->allocate(1); !ok) return forward_error(ok);
  const auto use = bench.quota->use();
  if (use.used() > use.limit || bench.session->allocate(use.limit + 1)) {
    return no("memory beyond the quota");
  }
  return {};
}

Status managed_svm(Bench& bench) {
  const auto at = bench.managed->allocate(kPageSize);
  if (!at) return forward_error(at);
  if (auto ok = bench.host_write(*at, kPattern); !ok) return ok;
  const auto seen = bench.card_word(*at);
  if (!seen) return forward_error(seen);
  if (*seen != kPattern) return no("the card does not read what the host has written");
  if (auto ok = bench.run(driver::entries::copy_on_device(bench.plain, *at + kSome, kSome)); !ok) {
    return ok;
  }
  const auto back = bench.host_word(*at + kSome);
  if (!back) return forward_error(back);
  return *back == kPattern ? Status() : no("the host does not read what the card has written");
}

Status resident_metric(Bench& bench) {
  constexpr std::uint64_t kPages = 3;
  const auto at = bench.managed->allocate(kPages * kPageSize);
  if (!at) return forward_error(at);
  if (auto ok = bench.touch(*at, kPages); !ok) return ok;
  const Bytes there = bench.managed->statistics().resident_bytes;
  if (there != kPages * kPageSize) return no(fmt::format("{} bytes said to be there", there));
  for (std::uint64_t i = 0; i < kPages; ++i) {
    if (const auto word = bench.host_word(*at + i * kPageSize); !word) return forward_error(word);
  }
  const Bytes left = bench.managed->statistics().resident_bytes;
  return left == 0 ? Status() : no(fmt::format("{} bytes said to be left", left));
}

Status page_fault_counter(Bench& bench) {
  constexpr std::uint64_t kPages = 5;
  const auto at = bench.managed->allocate(kPages * kPageSize);
  if (!at) return forward_error(at);
  for (unsigned round = 0; round < 2; ++round) {
    if (auto ok = bench.touch(*at, kPages); !ok) return ok;
    const auto faults = bench.managed->statistics().faults;
    if (faults != kPages) return no(fmt::format("{} faults counted, of {}", faults, kPages));
  }
  return {};
}

// They are there without the card's asking.
Status prefetch_to_device(Bench& bench) {
  constexpr std::uint64_t kPages = 2;
  const auto at = bench.managed->allocate(kPages * kPageSize);
  if (!at) return forward_error(at);
  for (std::uint64_t i = 0; i < kPages; ++i) {
    if (auto ok = bench.host_write(*at + i * kPageSize, kPattern); !ok) return ok;
  }
  const auto ticket = bench.managed->prefetch(*at, kPages * kPageSize, MemoryLocation::card(0));
  if (!ticket) return forward_error(ticket);
  if (auto ok = bench.managed->wait(*ticket, deadline_of(bench.context)); !ok) return ok;
  if (auto ok = bench.touch(*at, kPages); !ok) return ok;
  const auto seen = bench.managed->statistics();
  if (seen.faults != 0 || seen.migrated_to_card_bytes != kPages * kPageSize) {
    return no(fmt::format("{} faults after a prefetch, {} bytes have come to the card", seen.faults,
                          seen.migrated_to_card_bytes));
  }
  return {};
}

// Pages that nobody has touched are made where they are wanted.
Status mem_advise(Bench& bench) {
  const auto at = bench.managed->allocate(kPageSize);
  if (!at) return forward_error(at);
  for (const auto advice :
       {driver::MemoryAdvice::kPreferredLocation, driver::MemoryAdvice::kAccessedBy}) {
    auto ok = bench.managed->advise(*at, kPageSize, advice, true, MemoryLocation::card(0));
    if (!ok) return ok;
  }
  if (bench.managed->statistics().created_on_card_bytes == 0) return no("advice changes nothing");
  if (auto ok = bench.touch(*at, 1); !ok) return ok;
  const auto faults = bench.managed->statistics().faults;
  return faults == 0 ? Status() : no("the card faults in spite of it");
}

// The card uses the host's page where it is, at the host's address.
Status host_uva(Bench& bench) {
  if (auto ok = managed_svm(bench); !ok) return ok;
  const auto seen = bench.managed->statistics();
  if (seen.migrated_to_card_bytes + seen.created_on_card_bytes != 0) {
    return no("pages move to the card");
  }
  return {};
}

Status vmm_reserve_map(Bench& bench) {
  auto& space = bench.session->process().space();
  const auto range = space.reserve(2 * kPageSize);
  if (!range) return forward_error(range);
  const auto memory = space.create_memory(kPageSize);
  if (!memory) return forward_error(memory);
  const auto at = *range + kPageSize;
  if (auto ok = space.map(at, kPageSize, *memory); !ok) return ok;
  if (auto ok = space.set_access(at, kPageSize, driver::Access::kReadWrite); !ok) return ok;
  auto ok = bench.session->write(at, {reinterpret_cast<const std::byte*>(&kPattern), 8});
  if (!ok) return ok;
  const auto seen = bench.card_word(at);
  if (!seen) return forward_error(seen);
  if (*seen != kPattern) return no("mapped memory does not hold what was written");
  if (auto gone = space.unmap(at, kPageSize); !gone) return gone;
  if (bench.card_word(at)) return no("memory is reached that is mapped no more");
  if (auto renewed = bench.renew_queue(); !renewed) return renewed;
  if (auto freed = space.release_memory(*memory); !freed) return freed;
  return space.release(*range);
}

// Two blocks take twice as long on one core.
Status stream_res_limit(Bench& bench) {
  const std::uint64_t cycles = 200'000;
  const auto kernel = bench.session->launch("spin", 2, &cycles, 1);
  if (!kernel) return forward_error(kernel);
  auto& clock = bench.context.platform.clock();
  Picoseconds took[2];
  for (unsigned cores = 2; cores > 0; --cores) {
    driver::QueueChange change;
    change.core_mask = driver::first_cores(cores);
    if (auto ok = bench.session->process().update(bench.queue->id(), change); !ok) return ok;
    if (auto ok = bench.run(*kernel); !ok) return ok;  // warm
    const Instant begin = clock.now();
    if (auto ok = bench.run(*kernel); !ok) return ok;
    took[cores - 1] = clock.now() - begin;
  }
  if (10 * took[0].count() < 18 * took[1].count()) return no("a limit of cores changes no time");
  return {};
}

struct Trial {
  const char* key;
  Status (*run)(Bench& bench);
  bool managed;
};

Status run_one(Context& context, driver::Device& device, const Trial& trial) {
  auto bench = Bench::open(context, device, trial.managed);
  if (!bench) return forward_error(bench);
  return trial.run(**bench);
}

// A quarter of the window by its token; then half of it, from the call until it holds.
struct TokenTrial {
  Status status;
  Status update;  // of the change
  std::optional<Picoseconds> latency;
};

TokenTrial try_token(Context& context, driver::Device& device) {
  TokenTrial result;
  result.status = [&]() -> Status {
    const auto options = time_slice_options(context.parameters);
    auto scheduler = driver::TimeSliceScheduler::open(device, options);
    if (!scheduler) return forward_error(scheduler);
    auto client = SharingClient::open(context, device, "probe", 20'000, 1, nullptr);
    if (!client) return forward_error(client);
    constexpr unsigned kQuarter = (driver::kWholeToken + 1) / 4;
    if (auto ok = (*client)->join(**scheduler, {100, kQuarter}); !ok) return ok;
    auto& clock = context.platform.clock();
    constexpr std::int64_t kWindows = 8;
    const auto time = options.window * kWindows;
    if (auto done = (*client)->run_until(clock.now() + time); !done) return forward_error(done);
    const auto busy = (*client)->turn()->statistics().busy;
    if (10 * busy.count() < 2 * time.count() || 10 * busy.count() > 3 * time.count()) {
      return no(fmt::format("busy {} ps of {} with a quarter", busy.count(), time.count()));
    }
    const auto id = (*client)->turn()->id();
    result.update = (*scheduler)->set_quota(id, {100, 2 * kQuarter});
    if (!result.update) return (*client)->close();
    if (auto done = (*client)->run_until(clock.now() + 3 * options.window); !done) {
      return forward_error(done);
    }
    const auto now = (*client)->turn()->statistics();
    if (now.quota.token == 2 * kQuarter) result.latency = (*scheduler)->statistics().update_latency;
    return (*client)->close();
  }();
  return result;
}

Capability outcome(const char* key, const Status& tried) {
  Capability entry;
  entry.key = key;
  entry.there = tried.has_value();
  if (!tried) entry.reason = tried.error().message();
  return entry;
}

}  // namespace

std::vector<ParameterSpec> capability_parameters() {
  auto parameters = sharing_parameters();
  parameters[0] = fault_policy_parameter();  // the scheduler's own is the usual one
  parameters.push_back(density_parameter());
  parameters.push_back(card_parameter());
  return parameters;
}

std::vector<Capability> probe_capabilities(Context& context) {
  constexpr Trial kTrials[] = {
      {"svm_alloc_enforceable", svm_alloc_enforceable, true},
      {"resident_metric_available", resident_metric, true},
      {"support_managed_svm", managed_svm, true},
      {"support_mem_prefetch_to_device", prefetch_to_device, true},
      {"support_mem_advise_effective", mem_advise, true},
      {"support_host_uva_flag", host_uva, true},
      {"support_vmm_reserve_map", vmm_reserve_map, false},
      {"support_page_fault_counter", page_fault_counter, true},
      {"support_device_stream_res_limit", stream_res_limit, false},
  };
  std::vector<Capability> all;
  auto device = open_card(context);
  for (const auto& trial : kTrials) {
    const auto tried = device ? run_one(context, **device, trial) : Status(forward_error(device));
    all.push_back(outcome(trial.key, tried));
  }
  TokenTrial token{device ? Status() : Status(forward_error(device)), {}, {}};
  if (device) token = try_token(context, **device);
  all.push_back(outcome("token_set_available", token.status));
  Capability latency =
      outcome("dynamic_update_latency_ms", token.status ? token.update : token.status);
  latency.is_time = true;
  if (token.status && token.latency) {
    latency.milliseconds = static_cast<double>(token.latency->count()) / 1e9;
  }
  all.push_back(latency);
  return all;
}

}  // namespace npu::workloads
