// SPDX-License-Identifier: Apache-2.0
// Requests per second through the HBM's TLM socket, on the source documents' card.
// An item is a request for one burst of 32 bytes. hbm/seq_rd asks for them 4 KiB at a time, as a
// copy engine does; hbm/seq_rd_single and hbm/rand_rd in a transaction each.
#include <benchmark/benchmark.h>

#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/performance/isolated.hpp"

namespace npu::bench {
namespace {

constexpr Bytes kSpan = Bytes{4} << 30;
constexpr unsigned kBurst = 32;
constexpr Bytes kOutstanding = Bytes{2048} * kBurst;  // the controllers' windows, filled

// splitmix64, as the reference patterns.
class RandomBursts {
 public:
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return (z ^ (z >> 31)) % (kSpan / kBurst) * kBurst;
  }

 private:
  std::uint64_t state_ = 12345;
};

class Sequence {
 public:
  explicit Sequence(unsigned length) : length_(length) {}
  std::uint64_t operator()() { return address_ = (address_ + length_) % kSpan; }

 private:
  unsigned length_;
  std::uint64_t address_ = 0;
};

// Reads of `length` bytes, `outstanding` at once.
template <class NextAddress>
Measurement read(unsigned count, unsigned length, unsigned outstanding, NextAddress next) {
  model::test::HbmSystem system(model::test::card_config());
  system.simulation.agenda.run_ahead(true);  // as every system does
  std::vector<unsigned char> buffer(length);
  auto issue = [port = &system.port(), data = buffer.data(), length, left = count, next]() mutable {
    if (left == 0) return;
    --left;
    port->issue(false, next(), data, length);
  };
  system.port().on_response = [&issue](auto&) { issue(); };
  const Stopwatch watch;
  for (unsigned i = 0; i < outstanding; ++i) issue();
  model::test::HbmSystem::run();
  Measurement measured;
  measured.seconds = watch.seconds();
  measured.items = std::uint64_t{count} * (length / kBurst);
  return measured;
}

Measurement read_sequence(unsigned count, unsigned length, Bytes outstanding) {
  return read(count, length, static_cast<unsigned>(outstanding / length), Sequence(length));
}

void seq_rd(benchmark::State& state) {
  measure_isolated(state, [] { return read_sequence(40'000, 4096, 8 * kOutstanding); });
}
void seq_rd_single(benchmark::State& state) {
  measure_isolated(state, [] { return read_sequence(1'000'000, kBurst, kOutstanding); });
}
void rand_rd(benchmark::State& state) {
  measure_isolated(state,
                   [] { return read(1'000'000, kBurst, kOutstanding / kBurst, RandomBursts()); });
}

BENCHMARK(seq_rd)->Name("hbm/seq_rd")->Apply(three_in_ms);
BENCHMARK(seq_rd_single)->Name("hbm/seq_rd_single")->Apply(three_in_ms);
BENCHMARK(rand_rd)->Name("hbm/rand_rd")->Apply(three_in_ms);

}  // namespace
}  // namespace npu::bench
