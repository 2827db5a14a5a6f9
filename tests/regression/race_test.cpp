// SPDX-License-Identifier: Apache-2.0
// Races between the host and its card, and between works of the card: each kind is found, and what
// orders accesses leaves none.
#include <array>
#include <random>
#include <string>
#include <vector>

#include "kernels/device/shipped/elementwise.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/program.hpp"
#include "npu/driver/queue_entries.hpp"
#include "tests/regression/opened_card.hpp"
#include "tests/support/folders.hpp"

namespace npu::regression {
namespace {

using driver::DeviceAddress;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testkit::IsRace;
using testkit::Race;
using testkit::RaceKind;
using testkit::RacePlace;
namespace entries = driver::entries;

auto reads_host() {
  return AllOf(Field("who", &RacePlace::who, "host"), Field("what", &RacePlace::what, "reads"));
}

class Races : public OpenedCard {
 protected:
  Races() : OpenedCard("910b") { watch_races(); }
  Status wait(const driver::Ticket& ticket, WaitPolicy policy = WaitPolicy::kPolling) {
    return device_->wait(ticket, policy, deadline());
  }
  ConstByteSpan bytes(Bytes from, Bytes size) const { return host_->cpu().subspan(from, size); }
};

TEST_F(Races, AHostReadUnderADmaWriteIsFoundWithBothPlaces) {
  const auto before = now();
  const auto ticket = submit(to_host(64_KiB));
  host_reads(bytes(256, 64));
  const auto read_at = now();
  EXPECT_THAT(wait(ticket), Succeeds());
  const auto found = races();
  ASSERT_THAT(found, ElementsAre(IsRace(RaceKind::kHostRead)));
  const auto& race = found.front();
  EXPECT_TRUE(race.host_memory);
  EXPECT_EQ(race.address, host_->bus().value + 256);
  EXPECT_EQ(race.bytes, 64U);
  EXPECT_THAT(race.earlier, reads_host());
  EXPECT_EQ(race.earlier.submitted, read_at);
  EXPECT_EQ(race.later.what, "D2H writes");
  EXPECT_EQ(race.later.who, "card0 stream " + std::to_string(stream_.value));
  EXPECT_GE(race.later.submitted, before);
  EXPECT_LT(race.later.submitted, read_at);
  EXPECT_GT(race.later.ended, read_at);
  for (const auto& place : {race.earlier, race.later}) {
    EXPECT_THAT(place.stack, HasSubstr("AHostReadUnderADmaWriteIsFoundWithBothPlaces"));
  }
}

TEST_F(Races, AHostWriteUnderADmaReadIsFound) {
  const auto ticket = submit(to_card(64_KiB));
  host_writes(bytes(0, 8));
  EXPECT_THAT(wait(ticket), Succeeds());
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kHostWrite)));
}

TEST_F(Races, ACopyOfThePlatformIsAnAccess) {
  std::array<std::byte, 64> own{};
  const auto ticket = submit(to_host(64_KiB));
  platform().copy({own.data(), own.size()}, bytes(0, 64));
  EXPECT_THAT(wait(ticket), Succeeds());
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kHostRead)));
}

TEST_F(Races, ABufferFreedUnderWorkIsFound) {
  submit(to_card(64_KiB));
  host_.reset();
  run_for(1_ms);
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kFree)));
}

TEST_F(Races, ABufferFreedBehindWorkThatNobodyHasWaitedForIsFound) {
  submit(to_card(64_KiB));
  run_for(1_ms);
  host_.reset();
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kFree)));
}

TEST_F(Races, TwoStreamsRaceUntilTheHostHasWaitedForOne) {
  const auto other = device_->create_stream();
  ASSERT_THAT(other, Succeeds());
  auto target = device_->allocate_host(kSize);
  ASSERT_THAT(target, Succeeds());
  const auto read = DmaCommand::device_to_host(memory_, (*target)->bus(), 64_KiB);
  EXPECT_THAT(wait(submit(to_card(64_KiB))), Succeeds());
  EXPECT_THAT(device_->copy(*other, read, WaitPolicy::kPolling, deadline()), Succeeds());
  EXPECT_THAT(races(), IsEmpty());
  const auto first = submit(to_card(64_KiB));
  EXPECT_THAT(device_->copy(*other, read, WaitPolicy::kPolling, deadline()), Succeeds());
  EXPECT_THAT(wait(first), Succeeds());
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kWork)));
}

// Time orders nothing: the copy is long over, and nobody has looked.
TEST_F(Races, WhatIsOverByLuckIsFound) {
  const auto ticket = submit(to_host(4_KiB));
  run_for(1_ms);
  host_reads(bytes(0, 64));
  EXPECT_THAT(wait(ticket), Succeeds());
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kHostRead)));
}

TEST_F(Races, EveryWayToWaitOrders) {
  for (const auto policy : {WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive}) {
    EXPECT_THAT(copy(to_host(64_KiB), policy), Succeeds());
    host_reads(bytes(0, 64_KiB));
    host_writes(bytes(0, 64_KiB));
    EXPECT_THAT(copy(to_card(64_KiB), policy), Succeeds());
    host_writes(bytes(0, 64_KiB));
  }
  const auto ticket = submit(to_host(64_KiB));
  for (;;) {
    const auto done = device_->is_done(ticket);
    ASSERT_THAT(done, Succeeds());
    if (*done) break;
    run_for(1_us);
  }
  host_reads(bytes(0, 64_KiB));
  host_.reset();
  EXPECT_THAT(races(), IsEmpty());
}

TEST_F(Races, AnInterruptThatIsLostOrdersOnceTheDriverHasLooked) {
  inject(testkit::lost_interrupt());
  EXPECT_THAT(copy(to_host(64_KiB), WaitPolicy::kInterrupt), Succeeds());
  host_reads(bytes(0, 64));
  EXPECT_THAT(races(), IsEmpty());
}

TEST_F(Races, AResetOfTheQueueBeginsAnew) {
  EXPECT_THAT(copy(to_host(64_KiB)), Succeeds());
  EXPECT_THAT(device_->reset_queue(), Succeeds());
  EXPECT_THAT(copy(to_card(64_KiB)), Succeeds());
  host_writes(bytes(0, 64));
  EXPECT_THAT(races(), IsEmpty());
  const auto ticket = submit(to_card(64_KiB));
  host_writes(bytes(0, 64));
  EXPECT_THAT(wait(ticket), Succeeds());
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kHostWrite)));
}

TEST_F(Races, ReadsOnBothSidesAreNone) {
  const auto ticket = submit(to_card(64_KiB));
  host_reads(bytes(0, 64_KiB));
  EXPECT_THAT(wait(ticket), Succeeds());
  EXPECT_THAT(races(), IsEmpty());
}

// Compute queues of a process.
class RacesOfQueues : public Races {
 protected:
  void SetUp() override {
    OpenedCard::SetUp();
    auto process = driver::ProcessContext::open(*device_);
    ASSERT_THAT(process, Succeeds());
    process_ = std::move(*process);
    const auto memory = process_->space().allocate(kSize);
    auto host = process_->allocate_host(256_KiB);
    ASSERT_THAT(memory, Succeeds());
    ASSERT_THAT(host, Succeeds());
    at_ = memory->address;
    shared_ = std::move(*host);
    for (auto* queue : {&first_, &second_}) {
      auto made = process_->create_queue();
      ASSERT_THAT(made, Succeeds());
      *queue = std::move(*made);
    }
  }
  void TearDown() override {
    first_.reset();
    second_.reset();
    shared_.reset();
    process_.reset();
    OpenedCard::TearDown();
  }
  driver::QueueTicket submit_to(driver::Queue& queue, const abi::QueueEntry& entry) {
    const auto ticket = queue.submit(entry, deadline());
    EXPECT_THAT(ticket, Succeeds());
    return ticket.value_or(driver::QueueTicket{});
  }
  void finish(driver::Queue& queue, const driver::QueueTicket& ticket) {
    EXPECT_THAT(queue.wait(ticket, WaitPolicy::kPolling, deadline()), Succeeds());
  }
  void run(driver::Queue& queue, const abi::QueueEntry& entry) {
    finish(queue, submit_to(queue, entry));
  }
  void upload(DeviceAddress at, const void* data, Bytes size) {
    platform().copy(shared_->cpu().subspan(0, size), {static_cast<const std::byte*>(data), size});
    run(first_queue(), entries::copy_to_device(shared_->bus(), at, size));
  }
  driver::Queue& first_queue() { return *first_; }
  // A kernel that adds the floats at `at_` + 64 KiB to those at `at_`.
  abi::QueueEntry kernel() {
    const auto file = file_text(binary_dir() + "/programs/elementwise.npu");
    const auto image = driver::make_image(
        abi::ImageKind::kAiCore, {reinterpret_cast<const std::byte*>(file.data()), file.size()});
    EXPECT_THAT(image, Succeeds());
    const auto code = at_ + 1_MiB, words_at = at_ + 2_MiB;
    upload(code, image->data(), image->size());
    const auto words =
        kernels::vector::to_words({at_.value, at_.value, at_.value + 64_KiB, Bytes{64_KiB} / 4});
    upload(words_at, words.data(), sizeof words);
    return entries::launch_image(abi::QueueOpcode::kLaunchAiCore, code, 4, words_at, sizeof words);
  }

  std::unique_ptr<driver::ProcessContext> process_;
  DeviceAddress at_;
  std::unique_ptr<platform::DmaMemory> shared_;
  std::unique_ptr<driver::Queue> first_, second_;
};

TEST_F(RacesOfQueues, AKernelThatReadsWhatAnotherQueueWritesIsFound) {
  const auto launch = kernel();
  const auto fill = submit_to(*second_, entries::fill(at_ + 64_KiB, 64_KiB, 1));
  run(*first_, launch);
  finish(*second_, fill);
  const auto found = races();
  ASSERT_THAT(found, ElementsAre(IsRace(RaceKind::kWork)));
  const std::vector<std::string> both{found.front().earlier.what, found.front().later.what};
  EXPECT_THAT(both, testing::UnorderedElementsAre("fill writes", "kernel reads"));
  EXPECT_EQ(found.front().address, at_.value + 64_KiB);
}

TEST_F(RacesOfQueues, AnEventBetweenThemOrders) {
  const auto launch = kernel();
  const auto event = process_->signals().create();
  ASSERT_THAT(event, Succeeds());
  submit_to(*second_, entries::fill(at_ + 64_KiB, 64_KiB, 1));
  const auto record = submit_to(*second_, entries::record_event(*event, 7));
  submit_to(*first_, entries::wait_event(*event, 7));
  run(*first_, launch);
  finish(*second_, record);
  EXPECT_THAT(races(), IsEmpty());
}

TEST_F(RacesOfQueues, AHostReadOfWhatAQueueCopiesIsFound) {
  const auto ticket = submit_to(*first_, entries::copy_to_host(at_, shared_->bus(), 64_KiB));
  host_reads(shared_->cpu().subspan(0, 64));
  finish(*first_, ticket);
  host_reads(shared_->cpu());
  EXPECT_THAT(races(), ElementsAre(IsRace(RaceKind::kHostRead)));
}

// Random copies on four streams, each waited for before anything else touches its bytes: nothing
// is found. With one wait left out, that one is.
class RandomCopies : public Races, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr Bytes kPiece = 64_KiB;
  struct Piece {
    driver::Ticket last;
    bool pending = false, from_host = false;
  };

  void SetUp() override {
    Races::SetUp();
    for (auto& stream : streams_) {
      const auto made = device_->create_stream();
      ASSERT_THAT(made, Succeeds());
      stream = *made;
    }
  }
  std::size_t any(std::size_t below) { return random_() % below; }
  void settle(Piece& piece, bool left_out) {
    if (piece.pending && !left_out) {
      const auto policy = any(2) == 0 ? WaitPolicy::kPolling : WaitPolicy::kInterrupt;
      EXPECT_THAT(wait(piece.last, policy), Succeeds());
    }
    piece.pending = false;
  }
  void submit_copy(std::size_t i) {
    const auto at = memory_ + i * kPiece;
    const auto bus = host_->bus() + i * kPiece;
    auto& piece = pieces_[i];
    piece.from_host = any(2) == 0;
    const auto command = piece.from_host ? DmaCommand::host_to_device(bus, at, kPiece)
                                         : DmaCommand::device_to_host(at, bus, kPiece);
    const auto ticket = device_->submit(streams_[any(streams_.size())], command);
    ASSERT_THAT(ticket, Succeeds());
    piece.last = *ticket;
    piece.pending = true;
  }
  void access(std::size_t i, bool write) {
    const auto at = any(kPiece / 64) * 64;
    write ? host_writes(bytes(i * kPiece + at, 64)) : host_reads(bytes(i * kPiece + at, 64));
  }
  void step() {
    const auto i = any(pieces_.size());
    settle(pieces_[i], false);
    any(2) == 0 ? submit_copy(i) : access(i, any(2) == 0);
  }

  std::mt19937 random_{GetParam()};
  std::array<driver::StreamId, 4> streams_;
  std::array<Piece, 16> pieces_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomCopies, testing::Range(0U, 12U));

TEST_P(RandomCopies, RaceOnlyIfAWaitIsLeftOut) {
  for (unsigned i = 0; i < 300; ++i) step();
  EXPECT_THAT(races(), IsEmpty());
  const auto last = any(pieces_.size());
  settle(pieces_[last], false);
  submit_copy(last);
  settle(pieces_[last], true);
  const bool write = pieces_[last].from_host || any(2) == 0;
  access(last, write);
  run_for(1_ms);
  EXPECT_THAT(races(), ElementsAre(IsRace(write ? RaceKind::kHostWrite : RaceKind::kHostRead)));
}

class Unwatched : public OpenedCard {
 protected:
  Unwatched() : OpenedCard("910b") {}
};

TEST_F(Unwatched, NothingIsFoundAndMarksDoNothing) {
  const auto ticket = submit(to_host(64_KiB));
  host_reads(host_->cpu());
  EXPECT_THAT(device_->wait(ticket, WaitPolicy::kPolling, deadline()), Succeeds());
  EXPECT_THAT(races(), IsEmpty());
}

}  // namespace
}  // namespace npu::regression
